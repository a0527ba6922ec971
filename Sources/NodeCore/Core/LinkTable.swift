// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The data of each link that the protocol does not keep: traffic, bearer, circuit, and whether the link is read.
struct LinkTable: Sendable {
    private struct Traffic: Sendable {
        var received = 0
        var sent = 0
        var roundTrip: Duration?
    }

    private struct Entry: Sendable {
        let bearer: BearerKind?
        /// How long the link layer tolerates silence, if it has reported that.
        var supervision: Duration?
        /// The state that was sent with the answer, until the link is up.
        var welcome: HostSnapshot?
        /// The last note about the air that was sent to the peer.
        var noted: AirNote?
    }

    private var entries: [MeshCore.LinkID: Entry] = [:]
    /// Kept separate from `entries`, which are large and change rarely. Each SDU and each pong changes this.
    private var traffic: [MeshCore.LinkID: Traffic] = [:]
    /// Links that are not read until this time, because their peers have sent too much.
    private var heldUntil: [MeshCore.LinkID: MeshInstant] = [:]

    /// The circuits of links in circuits.
    private var places: [MeshCore.LinkID: CircuitPlace] = [:]
    /// Links in circuits that are not read at present.
    private var heldCircuits: Set<MeshCore.LinkID> = []
    mutating func opened(
        _ id: MeshCore.LinkID, over bearer: BearerKind? = nil, in place: CircuitPlace? = nil
    ) {
        entries[id] = Entry(bearer: bearer)
        traffic[id] = Traffic()
        places[id] = place
    }

    mutating func closed(_ id: MeshCore.LinkID) {
        entries[id] = nil
        traffic[id] = nil
        heldUntil[id] = nil
        places[id] = nil
        heldCircuits.remove(id)
    }

    func bearer(of id: MeshCore.LinkID) -> BearerKind? { entries[id]?.bearer }

    /// Whether a link goes over a network or a broker, so its loss says nothing about the radio.
    func isBesideRadio(_ id: MeshCore.LinkID) -> Bool { bearer(of: id)?.isBesideRadio == true }

    /// The links over a network or a broker.
    var besideRadio: Set<MeshCore.LinkID> { Set(entries.keys.filter { isBesideRadio($0) }) }

    mutating func welcomed(_ id: MeshCore.LinkID, with state: HostSnapshot) { entries[id]?.welcome = state }

    /// Removes and returns the state that was sent with a link's answer.
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

    /// Whether the next SDU of a link may be read: its peer has not sent too much, and is not in `full`, the peers with no
    /// room for another event in the next step.
    func mayRead(_ id: MeshCore.LinkID, full: Set<Peer.ID>, _ mesh: MeshCore, now: MeshInstant) -> Bool {
        heldUntil[id].map { $0 > now } != true
            && (full.isEmpty || mesh.peer(on: id).map { full.contains($0.id) } != true)
    }

    mutating func answered(_ id: MeshCore.LinkID, after roundTrip: Duration) {
        traffic[id]?.roundTrip = roundTrip
    }

    /// How long a link's link layer tolerates silence.
    func supervision(of id: MeshCore.LinkID) -> Duration { entries[id]?.supervision ?? Limits.supervisionTimeout }

    /// A report on a link with the data of its radio and its conversation; nil if the link is gone.
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

    /// Records a note about the air. Returns whether it differs from the last one that the peer got.
    mutating func isNew(_ note: AirNote, on id: MeshCore.LinkID) -> Bool {
        guard entries[id]?.noted != note else { return false }
        entries[id]?.noted = note
        return true
    }

    // MARK: Circuits

    /// The circuit of a link; nil for a link with a channel of its own.
    func place(of id: MeshCore.LinkID) -> CircuitPlace? { places[id] }

    /// The links in circuits, in order.
    var inCircuits: [MeshCore.LinkID] { places.keys.sorted() }

    /// The links in circuits that begin or stop to be read, in order. `full` are the peers with no room for another event
    /// in the next step. There may be a thousand links, so this checks only held links and links of peers in `full`.
    mutating func holdCircuits(
        full: Set<Peer.ID>, isQuitting: Bool, _ mesh: MeshCore, now: MeshInstant
    ) -> [(id: MeshCore.LinkID, isHeld: Bool)] {
        guard !places.isEmpty, !(heldCircuits.isEmpty && heldUntil.isEmpty && full.isEmpty) else { return [] }
        let busy = full.compactMap { mesh.link(to: $0) }
        let asked = heldCircuits.union(heldUntil.keys).union(busy).filter { places[$0] != nil }.sorted()
        var changes: [(id: MeshCore.LinkID, isHeld: Bool)] = []
        for id in asked {
            let isHeld = !isQuitting && !mayRead(id, full: full, mesh, now: now)
            guard isHeld != heldCircuits.contains(id) else { continue }
            if isHeld { heldCircuits.insert(id) } else { heldCircuits.remove(id) }
            changes.append((id, isHeld))
        }
        return changes
    }

    func isCircuitHeld(_ id: MeshCore.LinkID) -> Bool { heldCircuits.contains(id) }

    // MARK: Time

    /// When a link is due next: its own deadline, or the end of a pause in reading.
    func deadline(_ mesh: MeshCore) -> MeshInstant? {
        guard let pause = heldUntil.values.min() else { return mesh.deadline }
        return min(pause, mesh.deadline ?? pause)
    }

    /// The links that are due, in order. Expired pauses in reading are removed.
    mutating func due(_ mesh: MeshCore, now: MeshInstant) -> [MeshCore.LinkID] {
        for (id, until) in heldUntil where until <= now { heldUntil[id] = nil }
        return mesh.due(by: now)
    }
}
