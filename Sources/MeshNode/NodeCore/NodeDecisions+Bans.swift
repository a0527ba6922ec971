// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeStore

/// Who is kept out of a host, as its person is told.
public struct ShownBan: Hashable, Sendable, Encodable {
    /// Who; the name is empty where the host has it no more.
    public var peer: Peer
    /// Until when, in seconds since 1970; nil until said otherwise, or until the session ends.
    public var until: UInt32?
    /// Whether the end of the session ends it.
    public var session: Bool

    private enum Key: String, CodingKey { case peer, until, session }

    /// Writes the object; what is not there is a null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(peer, forKey: .peer)
        try container.encode(until, forKey: .until)
        try container.encode(session, forKey: .session)
    }
}

/// For how long somebody is kept out, behind a name.
enum BanSpan {
    /// Reads `Eve`, `Eve 30m`, `0f4a51e3 3d`: the name, and how many seconds; nil until said otherwise.
    static func split(_ text: String) -> (name: String, seconds: UInt32?) {
        guard let space = text.lastIndex(of: " "),
            case .seconds(let seconds)? = InvitationWish(parsing: String(text[text.index(after: space)...]))?.span
        else { return (text, nil) }
        return (String(text[..<space]), seconds)
    }
}

/// Times of timed bans that do not depend on the wall clock.
struct BanTimes: Sendable {
    /// When those end that this run has made, in the node's own time.
    var ends: [Peer.ID: MeshInstant] = [:]
    /// Those that were over by the clock.
    var over: [BanRecord] = []
}

extension NodeDecisions {
    /// All who are kept out.
    var shownBans: [ShownBan] {
        let kicked = (app.host?.state.banned ?? []).filter { id in !bans.contains { $0.peer.id == id } }
        let names = app.host?.state.bannedNames ?? [:]
        return bans.map { ShownBan(peer: $0.peer, until: $0.until, session: false) }
            + kicked.map { ShownBan(peer: Peer(id: $0, name: names[$0] ?? ""), until: nil, session: true) }
    }

    mutating func ban(_ name: String, _ seconds: UInt32?, _ context: inout Context) -> [Act] {
        guard let host = app.host else { return [] }
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let meant = host.state.connectedPeers.meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(.noSuchGuest(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        let until = seconds.map { context.mesh.door.wallClock(now: context.now) &+ $0 }
        bans.removeAll { $0.peer.id == peer.id }
        if bans.count >= NodeLimits.bans { bans.removeFirst() }
        bans.append(BanRecord(peer: peer, until: until))
        banTimes.ends[peer.id] = seconds.map { context.now + .seconds(Int64($0)) }
        banTimes.over.removeAll { $0.peer.id == peer.id }
        return ask(.host(.command(.noteBan(peer))), &context) + noteBans(&context) + [.keepOut(peer.id)]
    }

    /// The driver undoes what was done last: it may be a ban.
    mutating func undo(_ context: inout Context) -> [Act] {
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

    mutating func unban(_ name: String, _ context: inout Context) -> [Act] {
        guard app.isHosting else { return [] }
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let meant = shownBans.map(\.peer).meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(.notKeptOut(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        bans.removeAll { $0.peer.id == peer.id }
        banTimes.ends[peer.id] = nil
        return ask(.host(.command(.unban(peer.id))), &context) + noteBans(&context) + [.keepOut(nil)]
    }

    /// Those whose time is over may come in again.
    mutating func endBans(_ context: inout Context) -> [Act] {
        guard bans.contains(where: { $0.until != nil }) else { return [] }
        let time = context.mesh.door.wallClock(now: context.now)
        let left = bans.filter { $0.until.map { time < $0 } != false }
        guard left.count < bans.count else { return [] }
        let over = bans.filter { ban in !left.contains { $0.peer.id == ban.peer.id } }
        banTimes.over = Array((banTimes.over + over).suffix(NodeLimits.bans))
        bans = left
        return noteBans(&context, isAnswer: false) + [.keepOut(nil)]
    }

    /// The wall clock was set. Bans of this run keep their length, and bans of earlier runs keep their end, also those that seemed
    /// to be over.
    mutating func clockSays(_ seconds: UInt32, _ context: inout Context) -> [Act] {
        guard app.isHosting, context.mesh.door.clockSays(seconds, now: context.now) else { return [] }
        for place in bans.indices where bans[place].until != nil {
            guard let end = banTimes.ends[bans[place].peer.id] else { continue }
            bans[place].until = context.mesh.door.wallClock(now: end)
        }
        let back = banTimes.over.filter { over in
            over.until.map { $0 > seconds } == true && !bans.contains { $0.peer.id == over.peer.id }
        }
        banTimes.over.removeAll { over in back.contains { $0.peer.id == over.peer.id } }
        bans = Array((back + bans).suffix(NodeLimits.bans))
        let invitations = context.mesh.door.invitations.isEmpty ? [] : noteInvitations(&context)
        return invitations + (bans.isEmpty ? [] : noteBans(&context, isAnswer: false))
            + back.map { .keepOut($0.peer.id) } + endBans(&context)
    }

    private func noteBans(_ context: inout Context, isAnswer: Bool = true) -> [Act] {
        context.memory.note(bans)
        return [.show(.bans(shownBans, isAnswer: isAnswer))]
    }
}
