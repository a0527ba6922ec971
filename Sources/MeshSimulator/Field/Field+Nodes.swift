// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

// Nodes: their start and end. Performs the actions of their loops, as the actor `Node` does.

extension Field {
    // MARK: Lives

    mutating func starts(_ node: Int) {
        guard !nodes[node].isGone, nodes[node].core == nil else { return }
        let host = scenario.host(of: node)
        let part: NodeCore.Part =
            nodes[node].isHost
            ? .host(hosting)
            : .guest(wanted: scenario.party == nil ? nil : nodes[host].peer, relays: nodes[node].isRelay)
        let running = RunningNode(
            part, nodes[node].identity, name: nodes[node].name, disk: nodes[node].disk, seed: random.next())
        running.loop.core.share(checked, reading)
        nodes[node].core = running
        if nodes[node].isHost { startAdvertising(node) }
        feed(.started, node)
        pull()
    }

    /// Removes a node at once and permanently.
    mutating func kill(_ node: Int) {
        guard !nodes[node].isGone else { return }
        nodes[node].core = nil
        nodes[node].isGone = true
        tally.audience[scenario.host(of: node), default: 0] -= 1
        nodes[node].scan = nil
        nodes[node].isConnected = false
        for link in nodes[node].links { fade(link) }
    }

    /// Songs that play until the end of the run, so that votes count for queued songs.
    private var hosting: Hosting {
        let songs = (0..<FieldScenario.songs).map {
            Song(id: "s\($0)", title: "Song \($0)", artist: "Artist \($0 % 7)", duration: 86_000)
        }
        return Hosting(SongLibrary(songs), opens: songs.count, wallClockSeconds: 1_000_000)
    }

    // MARK: Events

    /// Feeds an event to a node and performs its actions.
    mutating func feed(_ event: NodeCore.Event, _ node: Int) {
        take(event, node)
        readAgain(node)
        touch(node)
    }

    /// Marks a node whose deadline may have changed.
    mutating func touch(_ node: Int) {
        if !touched.contains(node) { touched.append(node) }
    }

    /// Schedules the ticks of all nodes that took part in the last event, once for each.
    mutating func refreshTimers() {
        for node in touched { refreshTimer(node) }
        touched.removeAll(keepingCapacity: true)
    }

    /// A node handles an event while another event is being handled.
    mutating func take(_ event: NodeCore.Event, _ node: Int) {
        settle(node)
        nodes[node].core?.loop.take(event, now: instant)
        perform(node)
    }

    /// Performs all actions of a node.
    mutating func perform(_ node: Int) {
        while let action = nodes[node].core?.loop.next(now: instant, entropy: .drawn(&random)) { perform(action, node) }
    }

    private mutating func perform(_ action: NodeCore.Action, _ node: Int) {
        switch action {
        case .startRadio: if !nodes[node].isHost { startScanning(node) }
        case .stopScanning:
            nodes[node].scan = nil
            trace(node, "stops to scan")
        case .linksChanged, .retryRadio: nodes[node].changedAt = now
        case .dial(let number, let head, let expecting):
            trace(node, "dial \(number) to \(heads[head].map { nodes[$0].name } ?? head)")
            dial(node, number, head, expecting)
        case .cancelDial(let number):
            trace(node, "dial \(number) is given up")
            cancelDial(node, number)
        case .openCircuit(let place, _, _):
            trace(node, "circuit on link \(place.carrier)")
            if place.host != nil { reaches(.circuit, node) }
        case .relay(let notice):
            trace(
                node, "relays: \(notice.map { "\($0.hops) hops, \($0.hasRoom ? "room" : "no room")" } ?? "no longer")")
            nodes[node].advertisement.notice = notice
            if notice != nil { reaches(.relays, node) }
            notice == nil ? (nodes[node].isAdvertising = false) : startAdvertising(node)
        case .placesForRelays(let areKept):
            trace(node, "places are \(areKept ? "for relays" : "for all")")
            nodes[node].advertisement.placesForRelays = areKept
        case .wake(let id): if let (link, end) = place(of: id, node) { wants(link, end) }
        case .close(let id, let afterFinalFrame):
            guard let (link, end) = place(of: id, node) else { break }
            wants(link, end)
            let wait = afterFinalFrame ? Self.microseconds(Limits.goodbyeTimeout) : 0
            schedule(.shuts(link: link, end: end), at: now + wait)
        case .measure(let id): measure(id, node)
        case .write(let batch):
            nodes[node].writing = batch
            schedule(.written(node: node), at: now + 1_000 + random.below(9_000))
        case .show(let event): shows(event, node)
        case .misbehaved(let how, let who, _):
            tally.misbehaviours += 1
            broken(node, "\(who) is said to break the protocol: \(how)")
        // No person searches, and covers come without a request.
        case .search, .fetchCovers, .retryCovers, .makeCover, .keepCover, .answered, .notSent, .heed: break
        case .deliver, .acknowledge, .end, .storeFailed, .quit: broken(node, "\(action)")
        }
    }

    /// The link of a node with this identifier, and the node's end of it.
    private func place(of id: MeshCore.LinkID, _ node: Int) -> (link: Int, end: Int)? {
        for link in nodes[node].links {
            for end in 0...1 where links[link].ends[end].node == node && links[link].ends[end].id == id {
                return links[link].ends[end].isClosed ? nil : (link, end)
            }
        }
        return nil
    }

    private mutating func measure(_ id: MeshCore.LinkID, _ node: Int) {
        guard let (link, end) = place(of: id, node) else { return }
        let rssi = signal(node, links[link].ends[1 - end].node)
        nodes[node].core?.loop.take(.measured(id, rssi: rssi, nil), now: instant)
    }

    mutating func written(_ node: Int) {
        guard nodes[node].core != nil, let batch = nodes[node].writing.take() else { return }
        do {
            try nodes[node].disk.apply(batch)
        } catch {
            return broken(node, "no store takes its write: \(error)")
        }
        if !takesTurn(node) { feed(.written, node) }
        pull()
    }

    // MARK: Time

    mutating func ticks(_ node: Int) {
        // An earlier tick has replaced this one.
        guard nodes[node].timer == now else { return }
        nodes[node].timer = .max
        guard !takesTurn(node) else { return pull() }
        guard let due = deadline(of: node) else { return }
        guard due <= now else { return refreshTimer(node) }
        feed(.tick, node)
        pull()
    }

    private func deadline(of node: Int) -> Int? {
        nodes[node].core?({ $0.deadline }).map { Self.microseconds($0) }
    }

    /// Puts a node's next tick on the agenda. A tick that comes too early checks the deadline again.
    mutating func refreshTimer(_ node: Int) {
        guard let due = deadline(of: node).map({ max($0, now) }), due < nodes[node].timer else { return }
        nodes[node].spins = due == now ? nodes[node].spins + 1 : 0
        guard nodes[node].spins < 10_000 else { return broken(node, "10,000 ticks without end at one time") }
        nodes[node].timer = due
        schedule(.ticks(node: node), at: due)
    }

    /// Rounded up, so that no check runs before its time.
    static func microseconds(_ time: Duration) -> Int {
        let (seconds, attoseconds) = time.components
        return Int(seconds) * 1_000_000 + Int((attoseconds + 999_999_999_999) / 1_000_000_000_000)
    }
}
