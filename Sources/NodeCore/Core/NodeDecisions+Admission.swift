// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A request of the host's person about invitations.
public struct InvitationWish: Hashable, Sendable {
    /// The validity of a new invitation, or which invitations to revoke.
    public enum Span: Hashable, Sendable {
        /// Create one for a single guest, valid for `NodeLimits.onceSeconds`.
        case once
        /// Create one for any number of guests, valid for this many seconds.
        case seconds(UInt32)
        /// Revoke all invitations.
        case none
        /// Revoke the invitation with this name.
        case noMore([UInt8])
    }

    /// The requested validity or revocation.
    public var span: Span
    /// Random bytes for the invitation's name and secret, `entropyBytes` in number. The node that decides adds them.
    public var entropy: [UInt8] = []

    package static let entropyBytes = Limits.invitationBytes + Limits.invitationSecretBytes

    /// Creates a request without entropy.
    public init(_ span: Span) { self.span = span }

    /// Parses the text that a person types: nothing or `once`, a time such as `30m`, `2h` or `3d`, `none`, or `none`
    /// and an invitation.
    init?(parsing text: String) {
        if text.lowercased().hasPrefix("none "), let one = Invitation(text: String(text.dropFirst(5))) {
            self.init(.noMore(one.name))
            return
        }
        switch text.lowercased() {
        case "", "once": self.init(.once)
        case "none": self.init(.none)
        case let span:
            let units: [Character: UInt32] = ["m": 60, "h": 3_600, "d": 86_400]
            guard let unit = span.last.flatMap({ units[$0] }), let count = UInt32(span.dropLast()), count > 0,
                count <= Limits.invitationSeconds / unit
            else { return nil }
            self.init(.seconds(count * unit))
        }
    }
}

extension NodeDecisions {
    mutating func decide(_ wish: InvitationWish, _ context: inout Context) -> [StepAction] {
        guard app.isHosting else { return [] }
        guard wish.span != .none else {
            let count = context.mesh.admissionPolicy.takeBackInvitations()
            return [.tell(Notice(.invitationsTakenBack(count)))] + noteInvitations(&context)
        }
        if case .noMore(let name) = wish.span {
            let count = context.mesh.admissionPolicy.takeBack(invitation: name) ? 1 : 0
            return [.tell(Notice(.invitationsTakenBack(count)))] + noteInvitations(&context)
        }
        guard wish.entropy.count == InvitationWish.entropyBytes else { return [] }
        let (name, secret) = (
            Array(wish.entropy.prefix(Limits.invitationBytes)), Array(wish.entropy.dropFirst(Limits.invitationBytes))
        )
        var (seconds, isOnce) = (NodeLimits.onceSeconds, true)
        if case .seconds(let count) = wish.span { (seconds, isOnce) = (count, false) }
        let given = context.mesh.admissionPolicy.invite(
            name, secret, seconds: seconds, isOnce: isOnce, now: context.now)
        guard let given else { return [.tell(Notice(.tooManyInvitations))] }
        return noteInvitations(&context, making: given)
    }

    /// Stores and shows the changed invitations.
    func noteInvitations(_ context: inout Context, making given: GivenInvitation? = nil) -> [StepAction] {
        context.memory.note(context.mesh.admissionPolicy.invitations)
        return [.showInvitations(making: given)]
    }
}
