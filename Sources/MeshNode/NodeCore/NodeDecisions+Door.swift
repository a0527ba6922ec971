// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What a host's person wants of its invitations.
public struct InvitationWish: Hashable, Sendable {
    /// For how long an invitation is to be good, or that none is to be any more.
    public enum Span: Hashable, Sendable {
        /// For one guest, within `NodeLimits.onceSeconds`.
        case once
        /// For everybody who has it, for so many seconds.
        case seconds(UInt32)
        /// Those that were given are good no longer.
        case none
        /// The one of this name is good no longer.
        case noMore([UInt8])
    }

    /// For how long.
    public var span: Span
    /// Random bytes for its name and its secret: `entropyBytes`. The node that is asked adds them.
    public var entropy: [UInt8] = []

    static let entropyBytes = Limits.invitationBytes + Limits.invitationSecretBytes

    /// A wish.
    public init(_ span: Span) { self.span = span }

    /// Reads what a person types: nothing or `once`, a time such as `30m`, `2h` or `3d`, `none`, or `none` and an invitation.
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
    mutating func decide(_ wish: InvitationWish, _ context: inout Context) -> [Act] {
        guard app.isHosting else { return [] }
        guard wish.span != .none else {
            let count = context.mesh.door.takeBackInvitations()
            return [.tell(Notice(.invitationsTakenBack(count)))] + noteInvitations(&context)
        }
        if case .noMore(let name) = wish.span {
            let count = context.mesh.door.takeBack(invitation: name) ? 1 : 0
            return [.tell(Notice(.invitationsTakenBack(count)))] + noteInvitations(&context)
        }
        guard wish.entropy.count == InvitationWish.entropyBytes else { return [] }
        let (name, secret) = (
            Array(wish.entropy.prefix(Limits.invitationBytes)), Array(wish.entropy.dropFirst(Limits.invitationBytes))
        )
        var (seconds, isOnce) = (NodeLimits.onceSeconds, true)
        if case .seconds(let count) = wish.span { (seconds, isOnce) = (count, false) }
        let given = context.mesh.door.invite(name, secret, seconds: seconds, isOnce: isOnce, now: context.now)
        guard let given else { return [.tell(Notice(.tooManyInvitations))] }
        return noteInvitations(&context, making: given)
    }

    /// The invitations are others than they were.
    func noteInvitations(_ context: inout Context, making given: GivenInvitation? = nil) -> [Act] {
        context.memory.note(context.mesh.door.invitations)
        return [.showInvitations(making: given)]
    }
}

extension NodeCore {
    /// Tells the person which invitations there are, and the one that was just made.
    mutating func showInvitations(making given: GivenInvitation? = nil) {
        let node = configuration.description
        if let given { show(.invitation(OpenInvitation(given, of: node))) }
        show(.invitations(context.mesh.door.invitations.map { OpenInvitation($0, of: node) }))
    }
}
