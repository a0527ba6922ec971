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

extension InvitationWish {
    /// Performs the request of a host's person.
    func decide(_ context: inout NodeDecisions.Context) -> [StepAction] {
        switch span {
        case .none:
            let count = context.mesh.admissionPolicy.takeBackInvitations()
            return [.tell(Notice(.invitationsTakenBack(count)))] + context.noteInvitations()
        case .noMore(let name):
            let count = context.mesh.admissionPolicy.takeBack(invitation: name) ? 1 : 0
            return [.tell(Notice(.invitationsTakenBack(count)))] + context.noteInvitations()
        case .once: return invite(for: NodeLimits.onceSeconds, isOnce: true, &context)
        case .seconds(let count): return invite(for: count, isOnce: false, &context)
        }
    }

    private func invite(for seconds: UInt32, isOnce: Bool, _ context: inout NodeDecisions.Context) -> [StepAction] {
        guard entropy.count == Self.entropyBytes else { return [] }
        let given = context.mesh.admissionPolicy.invite(
            Array(entropy.prefix(Limits.invitationBytes)), Array(entropy.dropFirst(Limits.invitationBytes)),
            seconds: seconds, isOnce: isOnce, now: context.now)
        guard let given else { return [.tell(Notice(.tooManyInvitations))] }
        return context.noteInvitations(making: given)
    }
}
