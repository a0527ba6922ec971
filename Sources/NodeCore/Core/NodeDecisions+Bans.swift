// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A ban as the host's person sees it.
public struct ShownBan: Hashable, Sendable, Encodable {
    /// The banned guest. Its name is empty if the host no longer has it.
    public var peer: Peer
    /// The end of the ban in seconds since 1970; nil if it lasts until the end of the session or until it is lifted.
    public var until: UInt32?
    /// Whether the ban ends with the session.
    public var session: Bool

    /// A ban.
    public init(peer: Peer, until: UInt32?, session: Bool) {
        (self.peer, self.until, self.session) = (peer, until, session)
    }

    private enum Key: String, CodingKey { case peer, until, session }

    /// Writes the object. Missing values become null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(peer, forKey: .peer)
        try container.encode(until, forKey: .until)
        try container.encode(session, forKey: .session)
    }
}

/// Parses the length of a ban after a name.
enum BanSpan {
    /// Reads `Eve`, `Eve 30m` or `0f4a51e3 3d` as a name and a number of seconds; nil means no time limit.
    static func split(_ text: String) -> (name: String, seconds: UInt32?) {
        guard let space = text.lastIndex(of: " "),
            case .seconds(let seconds)? = InvitationWish(parsing: String(text[text.index(after: space)...]))?.span
        else { return (text, nil) }
        return (String(text[..<space]), seconds)
    }
}

/// The times of timed bans, independent of the wall clock.
struct BanTimes: Sendable {
    /// When the bans of this run end, in the node's own time.
    var ends: [Peer.ID: MeshInstant] = [:]
    /// The bans that have expired by the wall clock.
    var over: [BanRecord] = []
}

extension NodeDecisions {
    /// All bans.
    var shownBans: [ShownBan] {
        let kicked = (app.host?.state.banned ?? []).filter { id in !bans.contains { $0.peer.id == id } }
        let names = app.host?.state.bannedNames ?? [:]
        return bans.map { ShownBan(peer: $0.peer, until: $0.until, session: false) }
            + kicked.map { ShownBan(peer: Peer(id: $0, name: names[$0] ?? ""), until: nil, session: true) }
    }

    mutating func ban(_ name: String, _ seconds: UInt32?, _ context: inout Context) -> [StepAction] {
        guard let host = app.host else { return [] }
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let meant = host.state.connectedPeers.meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(.noSuchGuest(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        let until = seconds.map { context.mesh.admissionPolicy.wallClock(now: context.now) &+ $0 }
        bans.removeAll { $0.peer.id == peer.id }
        if bans.count >= NodeLimits.bans { bans.removeFirst() }
        bans.append(BanRecord(peer: peer, until: until))
        banTimes.ends[peer.id] = seconds.map { context.now + .seconds(Int64($0)) }
        banTimes.over.removeAll { $0.peer.id == peer.id }
        return ask(.host(.command(.noteBan(peer))), &context) + noteBans(&context) + [.keepOut(peer.id)]
    }

    /// Undoes the driver's last action, which may be a ban.
    mutating func undo(_ context: inout Context) -> [StepAction] {
        let isBan = if case .ban = app.host?.steering.undo { true } else { false }
        guard !isBan || !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let acts = ask(.host(.command(.undo)), &context)
        let admitted = acts.compactMap { if case .effect(.host(.admit(let id))) = $0 { id } else { nil } }
        guard bans.contains(where: { admitted.contains($0.peer.id) }) else { return acts }
        bans.removeAll { admitted.contains($0.peer.id) }
        for id in admitted { banTimes.ends[id] = nil }
        context.memory.note(bans)
        return acts
    }

    mutating func unban(_ name: String, _ context: inout Context) -> [StepAction] {
        guard app.isHosting else { return [] }
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let meant = shownBans.map(\.peer).meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(.notKeptOut(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        bans.removeAll { $0.peer.id == peer.id }
        banTimes.ends[peer.id] = nil
        return ask(.host(.command(.unban(peer.id))), &context) + noteBans(&context) + [.keepOut(nil)]
    }

    /// Lifts expired bans.
    mutating func endBans(_ context: inout Context) -> [StepAction] {
        guard bans.contains(where: { $0.until != nil }) else { return [] }
        let time = context.mesh.admissionPolicy.wallClock(now: context.now)
        let left = bans.filter { $0.until.map { time < $0 } != false }
        guard left.count < bans.count else { return [] }
        let over = bans.filter { ban in !left.contains { $0.peer.id == ban.peer.id } }
        banTimes.over = Array((banTimes.over + over).suffix(NodeLimits.bans))
        bans = left
        return noteBans(&context, isAnswer: false) + [.keepOut(nil)]
    }

    /// Handles a change of the wall clock. Bans of this run keep their length. Bans of earlier runs keep their end,
    /// including those that seemed to have expired.
    mutating func clockSays(_ seconds: UInt32, _ context: inout Context) -> [StepAction] {
        guard app.isHosting, context.mesh.admissionPolicy.clockSays(seconds, now: context.now) else { return [] }
        for place in bans.indices where bans[place].until != nil {
            guard let end = banTimes.ends[bans[place].peer.id] else { continue }
            bans[place].until = context.mesh.admissionPolicy.wallClock(now: end)
        }
        let back = banTimes.over.filter { over in
            over.until.map { $0 > seconds } == true && !bans.contains { $0.peer.id == over.peer.id }
        }
        banTimes.over.removeAll { over in back.contains { $0.peer.id == over.peer.id } }
        bans = Array((back + bans).suffix(NodeLimits.bans))
        let invitations = context.mesh.admissionPolicy.invitations.isEmpty ? [] : noteInvitations(&context)
        return invitations + (bans.isEmpty ? [] : noteBans(&context, isAnswer: false))
            + back.map { .keepOut($0.peer.id) } + endBans(&context)
    }

    private func noteBans(_ context: inout Context, isAnswer: Bool = true) -> [StepAction] {
        context.memory.note(bans)
        return [.show(.bans(shownBans, isAnswer: isAnswer))]
    }
}
