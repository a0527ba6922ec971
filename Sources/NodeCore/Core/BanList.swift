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

/// The bans that outlive a host's session, and when they end.
///
/// The wall clock may be set during a run. Bans of this run keep their length, and bans of earlier runs keep their end.
struct BanList: Sendable {
    enum Action: Sendable {
        /// Ask the host's feature.
        case command(HostFeature.Command)
        /// Store and show the bans.
        case changed(isAnswer: Bool)
        /// Admit this guest no more; nil if a ban was lifted.
        case keepOut(Peer.ID?)
        case tell(Notice)
    }

    /// The bans, oldest first.
    private(set) var records: [BanRecord]
    /// When the bans of this run end, in the node's own time.
    private var ends: [Peer.ID: MeshInstant] = [:]
    /// The bans that have expired by the wall clock, which may be set back.
    private var over: [BanRecord] = []

    /// The bans of earlier runs.
    init(_ records: [BanRecord] = []) { self.records = records }

    /// These bans and those of the session, as people see them.
    func shown(with session: [Peer]) -> [ShownBan] {
        let kicked = session.filter { peer in !records.contains { $0.peer.id == peer.id } }
        return records.map { ShownBan(peer: $0.peer, until: $0.until, session: false) }
            + kicked.map { ShownBan(peer: $0, until: nil, session: true) }
    }

    /// The person bans a guest, by identifier or name, for this many seconds or until the ban is lifted.
    mutating func ban(
        _ name: String, among guests: [Peer], seconds: UInt32?, _ clock: AdmissionPolicy, now: MeshInstant
    ) -> [Action] {
        let meant = guests.meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(.noSuchGuest(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        let until = seconds.map { clock.wallClock(now: now) &+ $0 }
        records.removeAll { $0.peer.id == peer.id }
        if records.count >= NodeLimits.bans { records.removeFirst() }
        records.append(BanRecord(peer: peer, until: until))
        ends[peer.id] = seconds.map { now + .seconds(Int64($0)) }
        over.removeAll { $0.peer.id == peer.id }
        return [.command(.noteBan(peer)), .changed(isAnswer: true), .keepOut(peer.id)]
    }

    /// The person lifts a ban, by identifier or name. `shown` are all bans.
    mutating func unban(_ name: String, _ shown: [ShownBan]) -> [Action] {
        let meant = shown.map(\.peer).meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(.notKeptOut(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        records.removeAll { $0.peer.id == peer.id }
        ends[peer.id] = nil
        return [.command(.unban(peer.id)), .changed(isAnswer: true), .keepOut(nil)]
    }

    /// The bans of these guests were undone. Returns whether there were any.
    mutating func undone(_ guests: [Peer.ID]) -> Bool {
        guard records.contains(where: { guests.contains($0.peer.id) }) else { return false }
        records.removeAll { guests.contains($0.peer.id) }
        for id in guests { ends[id] = nil }
        return true
    }

    /// Lifts expired bans.
    mutating func tick(_ clock: AdmissionPolicy, now: MeshInstant) -> [Action] {
        guard records.contains(where: { $0.until != nil }) else { return [] }
        let time = clock.wallClock(now: now)
        let left = records.filter { $0.until.map { time < $0 } != false }
        guard left.count < records.count else { return [] }
        let ended = records.filter { ban in !left.contains { $0.peer.id == ban.peer.id } }
        over = Array((over + ended).suffix(NodeLimits.bans))
        records = left
        return [.changed(isAnswer: false), .keepOut(nil)]
    }

    /// The wall clock was set to this time. Bans that seemed to have expired may apply again.
    mutating func clockSet(to seconds: UInt32, _ clock: AdmissionPolicy, now: MeshInstant) -> [Action] {
        for place in records.indices where records[place].until != nil {
            guard let end = ends[records[place].peer.id] else { continue }
            records[place].until = clock.wallClock(now: end)
        }
        let back = over.filter { over in
            over.until.map { $0 > seconds } == true && !records.contains { $0.peer.id == over.peer.id }
        }
        over.removeAll { over in back.contains { $0.peer.id == over.peer.id } }
        records = Array((back + records).suffix(NodeLimits.bans))
        return (records.isEmpty ? [] : [.changed(isAnswer: false)]) + back.map { .keepOut($0.peer.id) }
            + tick(clock, now: now)
    }
}
