// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What a node keeps of each of its links in addition to the protocol: what passed through it, and whether it is read.
struct LinkTable: Sendable {
    private struct Traffic: Sendable {
        var received = 0
        var sent = 0
        var roundTrip: Duration?
    }

    private struct Entry: Sendable {
        let bearer: Bearer?
        /// After how much silence the link layer gives it up, where it has told.
        var supervision: Duration?
        /// The state that has left with the answer, until the link is up.
        var welcome: HostSnapshot?
        /// What the peer was told of the air.
        var noted: AirNote?
        /// Who is at the other end, where the link's bearer vouches for it and no handshake proves it.
        var vouched: Peer?
    }

    private var entries: [MeshCore.LinkID: Entry] = [:]
    /// What each SDU and each pong changes, apart from what is large and seldom changes.
    private var traffic: [MeshCore.LinkID: Traffic] = [:]
    /// The peers of these have sent too much: nothing is read before this time.
    private var heldUntil: [MeshCore.LinkID: MeshInstant] = [:]

    /// How many channels are open.
    var count: Int { entries.count }

    mutating func opened(_ id: MeshCore.LinkID, vouched: Peer? = nil, over bearer: Bearer? = nil) {
        entries[id] = Entry(bearer: bearer, vouched: vouched)
        traffic[id] = Traffic()
    }

    mutating func closed(_ id: MeshCore.LinkID) {
        entries[id] = nil
        traffic[id] = nil
        heldUntil[id] = nil
    }

    /// What a link goes over, where that is known.
    func bearer(of id: MeshCore.LinkID) -> Bearer? { entries[id]?.bearer }

    /// Whether it goes over a network or a broker: its loss says nothing about the radio.
    func isBesideRadio(_ id: MeshCore.LinkID) -> Bool { bearer(of: id)?.isBesideRadio == true }

    /// Who is at the other end of a link that a bearer vouches for.
    func vouched(on id: MeshCore.LinkID) -> Peer? { entries[id]?.vouched }

    /// The links that a bearer vouches for, in their order, and who is at their other ends.
    var vouched: [(id: MeshCore.LinkID, peer: Peer.ID)] {
        entries.compactMap { id, entry in entry.vouched.map { (id, $0.id) } }.sorted { $0.id < $1.id }
    }

    mutating func welcomed(_ id: MeshCore.LinkID, with state: HostSnapshot) { entries[id]?.welcome = state }

    /// The state that has left with a link's answer. Once: it is the link's own afterwards.
    mutating func takeWelcome(_ id: MeshCore.LinkID) -> HostSnapshot? {
        defer { entries[id]?.welcome = nil }
        return entries[id]?.welcome
    }

    mutating func received(_ bytes: Int, on id: MeshCore.LinkID) { traffic[id]?.received += bytes }

    mutating func sent(_ bytes: Int, on id: MeshCore.LinkID) { traffic[id]?.sent += bytes }

    mutating func hold(_ id: MeshCore.LinkID, until time: MeshInstant) {
        guard entries[id] != nil else { return }
        heldUntil[id] = max(time, heldUntil[id] ?? time)
    }

    func isHeld(_ id: MeshCore.LinkID, now: MeshInstant) -> Bool { heldUntil[id].map { $0 > now } == true }

    /// The links that were not to be read for a while, whether that is over or not.
    var held: some Collection<MeshCore.LinkID> { heldUntil.keys }

    mutating func answered(_ id: MeshCore.LinkID, after roundTrip: Duration) {
        traffic[id]?.roundTrip = roundTrip
    }

    /// After how much silence a link's link layer gives it up.
    func supervision(of id: MeshCore.LinkID) -> Duration { entries[id]?.supervision ?? Limits.supervisionTimeout }

    /// What a link is like, with what its radio and its conversation know. Nil where it is gone.
    mutating func report(
        on id: MeshCore.LinkID, rssi: Int?, _ condition: LinkCondition?, _ conversation: Conversation?
    ) -> LinkReport? {
        guard let traffic = traffic[id] else { return nil }
        var report = LinkReport(roundTrip: traffic.roundTrip, sentBytes: traffic.sent, receivedBytes: traffic.received)
        report.bearer = bearer(of: id)
        report.rssi = rssi
        report.condition = condition
        if let conversation {
            report.resent = conversation.resent
            report.duplicates = conversation.duplicates
            report.outbox = conversation.unacknowledged
        }
        if let timeout = condition?.got.supervisionTimeout { entries[id]?.supervision = .milliseconds(timeout) }
        return report
    }

    /// Whether a link's peer was told something else of the air before, or nothing. It is taken for told.
    mutating func isNew(_ note: AirNote, on id: MeshCore.LinkID) -> Bool {
        guard entries[id]?.noted != note else { return false }
        entries[id]?.noted = note
        return true
    }

    // MARK: Time

    /// When a link is due next: its own deadline, or the end of a pause in reading it.
    func deadline(_ mesh: MeshCore) -> MeshInstant? {
        guard let pause = heldUntil.values.min() else { return mesh.deadline }
        return min(pause, mesh.deadline ?? pause)
    }

    /// The links whose time has come, in their order. A pause in reading that is over is one no more.
    mutating func due(_ mesh: MeshCore, now: MeshInstant) -> [MeshCore.LinkID] {
        for (id, until) in heldUntil where until <= now { heldUntil[id] = nil }
        return mesh.due(by: now)
    }
}
