// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Nodes: they start, end and are killed, and act.
extension World {
    // MARK: Lives

    mutating func starts(_ node: Int) {
        guard nodes[node].core == nil else { return }
        nodes[node].clockLead = .zero - instant
        // Half of the guests have a page, which shows covers.
        start(
            node, node == 0 ? .host(hosting) : .guest(wanted: nil, relays: nodes[node].isRelay),
            http: node % 2 == 1 ? "http://simulated" : nil)
        trace(node, "starts")
        let wishes = nodes[node].disk.content.guest?.wishes.map(\.songID) ?? []
        let epoch = nodes[node].core?({ $0.app.host?.state.epoch }) ?? 0
        node == 0 ? people.story.hostStarts(epoch: epoch) : people.story.guestStarts(nodes[node].peer, wishing: wishes)
        feed(.started, node)
        if !air.radios[node].hasAdapter { loseRadio(node) }
    }

    /// Kills a node. The node's current write may or may not be on its disk.
    mutating func kill(_ node: Int, losingStore: Bool = false) {
        guard nodes[node].core != nil else { return }
        trace(node, losingStore ? "is killed, and its store is lost" : "is killed")
        if let torn = nodes[node].disk.writing, random.chance(50) { commit(torn, node) }
        dies(node)
        guard losingStore else { return }
        people.ledger.lostStore(nodes[node].peer, nodes[node].disk.content)
        nodes[node].disk.content = StoredNode()
        people.story.lostStore(node)
    }

    private mutating func dies(_ node: Int) {
        for (_, place) in air.radios[node].links.sorted(by: { $0.key < $1.key }) {
            air.channels[place.channel].ends[place.end].isClosed = true
            guard !random.chance(20) else {
                air.channels[place.channel].isBroken = true
                continue
            }
            later(0...500) { $0.closes(place.channel, 1 - place.end) }
        }
        nodes[node].die()
        air.radios[node] = LinkRadio(hasAdapter: air.radios[node].hasAdapter)
        people.screens[node] = Screen()
        if node == 0 { browsersLoseHost() }
    }

    /// A node says goodbye and writes its state, as `Node.end` does.
    private mutating func ends(_ node: Int) {
        guard !nodes[node].isEnding else { return }
        trace(node, "ends")
        feed(.end, node)
        later(300...1_500, in: node) { $0.gone(node) }
    }

    private mutating func gone(_ node: Int) {
        trace(node, "is gone")
        if nodes[node].disk.isInOrder(now) {
            if let batch = nodes[node].disk.writing { commit(batch, node) }
            people.story.beginWrite(node)
            if let batch = nodes[node].disk.final { commit(batch, node) }
        }
        dies(node)
        later(scenario.downTime) { $0.starts(node) }
    }

    /// A node's clock jumps forward, so its deadlines come sooner.
    mutating func leap(_ node: Int, _ time: Duration) {
        guard nodes[node].core != nil else { return }
        trace(node, "its clock leaps by \(time)")
        nodes[node].clockLead += time
        for place in air.radios[node].links.values { air.channels[place.channel].isDisturbed = true }
        touch(node)
    }

    // MARK: Events

    /// Feeds waiting inputs to a node, and checks the results.
    mutating func goOn(_ node: Int, _ link: MeshCore.LinkID? = nil) {
        checkAcknowledgements()
        while !people.screens[node].inputs.isEmpty, !nodes[node].isEnding, hasRoom(node) {
            let input = people.screens[node].inputs.removeFirst()
            note(input, node)
            take(.input(input), node)
            checkAcknowledgements()
        }
        readAgain(node)
        check(node, link)
        people.story.settle(isAtRest: nodes[node].core?({ $0.isAtRest }) == true)
    }

    func hasRoom(_ node: Int) -> Bool { nodes[node].core?({ $0.hasRoom }) == true }

    /// A person, a player or a page has an input for a node.
    mutating func say(_ input: NodeInput, _ node: Int) {
        guard nodes[node].core != nil, !nodes[node].isEnding else { return }
        trace(node, "is told \(input.words)")
        people.screens[node].inputs.append(input)
        finish(node)
    }

    /// A source other than the links has an event for a node, which arrives later.
    mutating func tell(_ event: NodeCore.Event, _ node: Int, after delay: ClosedRange<Int>) {
        later(delay, in: node) { $0.feed(event, node) }
    }

    /// The current link of a node to the host.
    func hostLink(of node: Int) -> MeshCore.LinkID? {
        nodes[node].core?({ $0.mesh.link(to: people.story.peers[0]) })
    }

    /// A write is on disk, whether its node still runs or not.
    mutating func commit(_ batch: StoreBatch, _ node: Int) {
        let before = nodes[node].disk.content.host
        // Remove the reference first, since a disk with another reference is copied on a write.
        let findings = people.ledger.commit(batch, of: nodes[node].peer, before: nodes[node].disk.content) {
            [nodes, peers = people.story.peers] peer in
            peers.firstIndex(of: peer).map { nodes[$0].disk.content }
        }
        for finding in findings { report(finding, nodes[node].name) }
        store(batch, node)
        guard node == 0, let record = nodes[0].disk.content.host else { return }
        checkCommitted(before, record, batch)
        people.story.expect(batch, people.ledger)
    }

    // MARK: Actions

    mutating func perform(_ action: NodeCore.Action, _ node: Int, _ link: MeshCore.LinkID?) {
        switch action {
        case .startRadio: air.radios[node].isScanning = node > 0
        case .stopScanning: air.radios[node].isScanning = false
        // Covers need no request here, and intervals have no effect.
        case .retryRadio, .linksChanged, .answered, .retryCovers, .heed, .storeFailed, .notSent: break
        case .deliver(let message, let id): tell(.message(message), on: id)
        case .acknowledge(let number, let id): tell(.acknowledged(number), on: id)
        case .end(let id, let end): tell(.ended(end), on: id)
        case .openCircuit:
            if node > 0, let id = nodes[node].core?.lastLink {
                air.radios[node].stateAtOpen[id] = people.story.lastShown
            }
        case .relay(let notice):
            trace(node, "relays: \(notice.map { "\($0.hops) hops" } ?? "no longer")")
            nodes[node].advertisement.notice = notice
        case .dial(let number, _, let expecting): dial(node, number, expecting)
        case .cancelDial(let dial): air.radios[node].dials[dial] = nil
        case .wake(let id):
            if let place = air.radios[node].links[id] { wakes(place.channel, place.end) }
        case .close(let id, let afterFinalFrame): close(node, id, afterFinalFrame: afterFinalFrame)
        case .measure(let id):
            tell(.measured(id, rssi: random.pick(-90 ... -40), condition(node)), node, after: 0...50)
        case .search(let request, let peer):
            let found = hosting.library.find(request.query, atMost: DJLimits.searchResults)
            tell(.found(SearchResults(number: request.number, found: found), for: peer), node, after: 0...100)
        case .fetchCovers(let songs):
            guard let song = songs.first, random.chance(20) else { break }
            let isThere = people.isQuiet || random.chance(50)
            tell(isThere ? .cover(song.id, path: "cover") : .coverFailed(.rateLimited), node, after: 10...500)
        case .makeCover(let songID): tell(.coverMade(songID, cover(of: songID)), node, after: 10...2_000)
        case .keepCover(let songID, let bytes):
            checkCover(node, songID, bytes)
            tell(.cover(songID, path: "cover"), node, after: 1...50)
        case .show(let event): shows(event, node)
        case .misbehaved(let how, _, _):
            if let place = link.flatMap({ air.radios[node].links[$0] }) { checkAccusation(node, how, place.channel) }
        case .quit: later(0...20, in: node) { $0.ends(node) }
        case .write, .placesForRelays: preconditionFailure("the simulator performs it")
        }
    }

    /// A host's radio advises new intervals to each link when other links open or close.
    private func condition(_ node: Int) -> LinkCondition? {
        let links = air.radios[node].links.count
        let intervals = LinkIntervals(brisk: 6 + links, calm: 24 + links)
        return node == 0 ? LinkCondition(got: LinkParameters(), note: AirNote(intervals: intervals)) : nil
    }

    private mutating func close(_ node: Int, _ link: MeshCore.LinkID, afterFinalFrame: Bool) {
        guard let place = air.radios[node].links[link], !place.isClosing else { return }
        air.radios[node].links[link]?.isClosing = true
        checkGivenUp(node, place)
        let delay = afterFinalFrame ? Limits.goodbyeTimeout.microseconds : random.microseconds(0...5)
        at(now + delay) { $0.closes(place.channel, place.end) }
    }
}
