// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Nodes: they start, end and are killed. Performs the actions of their loops, as the actor `Node` does.
extension World {
    /// The time of a node's own clock.
    func localTime(of node: Int) -> MeshInstant { now + nodes[node].clockLead }

    // MARK: Lives

    mutating func starts(_ node: Int) {
        guard nodes[node].core == nil else { return }
        nodes[node].life += 1
        nodes[node].clockLead = .zero - now
        nodes[node].core = RunningNode(
            node == 0 ? .host(hosting) : .guest(wanted: nil, relays: scenario.reach?.relays.contains(node) == true),
            nodes[node].identity, name: nodes[node].name, disk: nodes[node].disk,
            // Half of the guests have a page, which shows covers.
            http: node % 2 == 1 ? "http://simulated" : nil, seed: random.next(), lastLink: nodes[node].lastLink)
        trace(node, "starts")
        let wishes = nodes[node].disk.guest?.wishes.map(\.songID) ?? []
        let epoch = nodes[node].core?({ $0.app.host?.state.epoch }) ?? 0
        node == 0 ? story.hostStarts(epoch: epoch) : story.guestStarts(nodes[node].peer, wishing: wishes)
        feed(.started, node)
        if !nodes[node].hasAdapter { loseRadio(node) }
    }

    /// Kills a node. The node's current write may or may not be on its disk.
    mutating func kill(_ node: Int, losingStore: Bool = false) {
        guard nodes[node].core != nil else { return }
        trace(node, losingStore ? "is killed, and its store is lost" : "is killed")
        if let torn = nodes[node].writing, random.chance(50) { commit(torn, node) }
        dies(node)
        guard losingStore else { return }
        ledger.lostStore(nodes[node].peer, nodes[node].disk)
        nodes[node].disk = StoredNode()
        story.lostStore(node)
    }

    private mutating func dies(_ node: Int) {
        for link in nodes[node].links.keys.sorted() {
            guard let place = nodes[node].links[link] else { continue }
            channels[place.channel].ends[place.end].isClosed = true
            guard !random.chance(20) else {
                channels[place.channel].isBroken = true
                continue
            }
            schedule(.closes(channel: place.channel, end: 1 - place.end), after: random.time(0...500))
        }
        nodes[node].die()
        if node == 0 { browsersLoseHost() }
    }

    /// A node says goodbye and writes its state, as `Node.end` does.
    mutating func ends(_ node: Int, _ life: Int) {
        guard nodes[node].life == life, !nodes[node].isEnding else { return }
        trace(node, "ends")
        nodes[node].core?.loop.take(.end, now: localTime(of: node))
        perform(node)
        schedule(.gone(node: node, life: life), after: random.time(300...1_500))
    }

    mutating func gone(_ node: Int, _ life: Int) {
        guard nodes[node].life == life else { return }
        trace(node, "is gone")
        if nodes[node].refusesUntil <= now, nodes[node].hangsUntil <= now {
            if let batch = nodes[node].writing { commit(batch, node) }
            story.beginWrite(node)
            if let batch = nodes[node].final { commit(batch, node) }
        }
        dies(node)
        schedule(.starts(node: node), after: random.time(scenario.downTime))
    }

    // MARK: Links

    /// A channel is open at a node's end.
    mutating func begin(_ node: Int, _ channel: Int, _ end: Int) {
        let dial = end == 0 ? channels[channel].ends[0].dial : nil
        if node == 0 { channels[channel].stateAtOpen = story.lastShown }
        let opening = NodeCore.Opening(
            end == 0 ? .initiator : .responder, sendMTU: sduLimit(channel, end), dial: dial,
            expected: dial.flatMap { nodes[node].dials.removeValue(forKey: $0) },
            advertised: channels[channel].dialled > 0 ? AdvertisedFlags(critical: .circuitsOnly) : nil,
            entropy: .drawn(&random))
        guard let link = nodes[node].core?.loop.open(opening, now: localTime(of: node)) else { return }
        channels[channel].ends[end].link = link
        nodes[node].links[link] = SimulatedLink(channel: channel, end: end)
        perform(node, on: link)
        goOn(node, link)
    }

    // MARK: Events

    /// Feeds an event to a node and performs its actions. `link` is the event's link.
    mutating func feed(_ event: NodeCore.Event, _ node: Int, on link: MeshCore.LinkID? = nil) {
        guard nodes[node].core?.loop.take(event, now: localTime(of: node)) == true else { return }
        perform(node, on: link)
        goOn(node, link)
        if case .written = event { checkWritten(node) }
    }

    /// Feeds waiting inputs to a node, and checks the results.
    mutating func goOn(_ node: Int, _ link: MeshCore.LinkID? = nil) {
        while !nodes[node].inputs.isEmpty, !nodes[node].isEnding, hasRoom(node) {
            let input = nodes[node].inputs.removeFirst()
            note(input, node)
            nodes[node].core?.loop.take(.input(input), now: localTime(of: node))
            perform(node)
        }
        readAgain(node)
        check(node, link)
        story.settle(isAtRest: nodes[node].core?({ $0.isAtRest }) == true)
        refreshTimer(node)
    }

    private func hasRoom(_ node: Int) -> Bool { nodes[node].core?({ $0.hasRoom }) == true }

    /// Whether a node reads the next SDU of a link; nil if it is down.
    func mayRead(_ node: Int, _ link: MeshCore.LinkID) -> Bool? {
        let time = localTime(of: node)
        return nodes[node].core?({ $0.mayRead(link, now: time) })
    }

    /// Reads SDUs that were not read because the node had no room.
    private mutating func readAgain(_ node: Int) {
        guard !nodes[node].unread.isEmpty, hasRoom(node) else { return }
        let ready = nodes[node].unread.filter { place in
            mayRead(node, channels[place.channel].ends[1 - place.from].link) != false
        }
        nodes[node].unread.removeAll { place in ready.contains { $0 == place } }
        for place in ready { schedule(.arrives(channel: place.channel, from: place.from), after: .zero) }
    }

    /// A person, a player or a page has an input for a node.
    mutating func say(_ input: NodeInput, _ node: Int) {
        guard nodes[node].core != nil, !nodes[node].isEnding else { return }
        trace(node, "is told \(input.words)")
        nodes[node].inputs.append(input)
        goOn(node)
    }

    /// Performs all actions of a node.
    mutating func perform(_ node: Int, on link: MeshCore.LinkID? = nil) {
        let time = localTime(of: node)
        while let action = nodes[node].core?.loop.next(now: time, entropy: .drawn(&random)) {
            perform(action, node, link)
        }
        checkAcknowledgements()
    }

    private mutating func perform(_ action: NodeCore.Action, _ node: Int, _ link: MeshCore.LinkID?) {
        let life = nodes[node].life
        switch action {
        case .startRadio: nodes[node].isScanning = node > 0
        case .stopScanning: nodes[node].isScanning = false
        // Covers need no request here.
        case .retryRadio, .linksChanged, .answered, .retryCovers: break
        case .deliver(let message, let id): tell(.message(message), on: id)
        case .acknowledge(let number, let id): tell(.acknowledged(number), on: id)
        case .end(let id, let end): tell(.ended(end), on: id)
        case .openCircuit:
            if node > 0, let id = nodes[node].core?.loop.lastLink { nodes[node].stateAtOpen[id] = story.lastShown }
        case .relay(let notice):
            trace(node, "relays: \(notice.map { "\($0.hops) hops" } ?? "no longer")")
            nodes[node].advertisement.notice = notice
        case .placesForRelays(let areKept): nodes[node].advertisement.placesForRelays = areKept
        case .dial(let number, _, let expecting): dial(node, number, expecting)
        case .cancelDial(let dial): nodes[node].dials[dial] = nil
        case .wake(let id):
            if let place = nodes[node].links[id] { wakes(place.channel, place.end) }
        case .close(let id, let afterFinalFrame): close(node, id, afterFinalFrame: afterFinalFrame)
        case .measure(let id):
            tell(.measured(id, rssi: random.pick(-90 ... -40), condition(node)), node, after: 0...50)
        // Intervals have no effect here.
        case .heed: break
        case .write(let batch):
            if nodes[node].isEnding { nodes[node].final = batch } else { write(batch, node) }
        case .search(let request, let peer):
            let found = hosting.library.find(request.query, atMost: DJLimits.searchResults)
            tell(.found(SearchResults(number: request.number, found: found), for: peer), node, after: 0...100)
        case .fetchCovers(let songs):
            guard let song = songs.first, random.chance(20) else { break }
            let isThere = isQuiet || random.chance(50)
            tell(isThere ? .cover(song.id, path: "cover") : .coverFailed(.rateLimited), node, after: 10...500)
        case .makeCover(let songID): tell(.coverMade(songID, cover(of: songID)), node, after: 10...2_000)
        case .keepCover(let songID, let bytes):
            checkCover(node, songID, bytes)
            tell(.cover(songID, path: "cover"), node, after: 1...50)
        case .show(let event): shows(event, node)
        case .misbehaved(let how, _, _):
            if let place = link.flatMap({ nodes[node].links[$0] }) { checkAccusation(node, how, place.channel) }
        case .storeFailed, .notSent: break
        case .quit:
            schedule(.ends(node: node, life: life), after: random.time(0...20))
        }
    }

    /// A host's radio advises new intervals to each link when other links open or close.
    private func condition(_ node: Int) -> LinkCondition? {
        let links = nodes[node].links.count
        let intervals = LinkIntervals(brisk: 6 + links, calm: 24 + links)
        return node == 0 ? LinkCondition(got: LinkParameters(), note: AirNote(intervals: intervals)) : nil
    }

    /// A source other than the links has an event for a node, which arrives later.
    mutating func tell(_ event: NodeCore.Event, _ node: Int, after delay: ClosedRange<Int>) {
        schedule(.tells(node: node, life: nodes[node].life, event), after: random.time(delay))
    }

    mutating func tells(_ node: Int, _ life: Int, _ event: NodeCore.Event) {
        guard nodes[node].life == life, !nodes[node].isEnding else { return }
        feed(event, node)
    }

    private mutating func close(_ node: Int, _ link: MeshCore.LinkID, afterFinalFrame: Bool) {
        guard let place = nodes[node].links[link], !place.isClosing else { return }
        nodes[node].links[link]?.isClosing = true
        checkGivenUp(node, place)
        let delay = afterFinalFrame ? Limits.goodbyeTimeout : random.time(0...5)
        schedule(.shuts(channel: place.channel, end: place.end), after: delay)
    }

    /// The current link of a node to the host.
    func hostLink(of node: Int) -> MeshCore.LinkID? {
        nodes[node].core?({ $0.mesh.link(to: story.peers[0]) })
    }

    // MARK: The disk

    private mutating func write(_ batch: StoreBatch, _ node: Int) {
        nodes[node].writing = batch
        nodes[node].linkOfWrite = hostLink(of: node)
        story.beginWrite(node)
        let wait = max(.zero, nodes[node].hangsUntil - now)
        schedule(.written(node: node, life: nodes[node].life), after: wait + random.time(scenario.writeTime))
    }

    mutating func written(_ node: Int, _ life: Int) {
        guard nodes[node].life == life, let batch = nodes[node].writing else { return }
        guard nodes[node].hangsUntil <= now else {
            return schedule(.written(node: node, life: life), at: nodes[node].hangsUntil)
        }
        nodes[node].writing = nil
        defer { if nodes[node].writing == nil { nodes[node].linkOfWrite = nil } }
        if now < nodes[node].refusesUntil {
            trace(node, "its disk refuses a write")
            figures.refusedWrites += 1
            guard !nodes[node].isEnding else { return }
            feed(.writeFailed(NodeStoreError(.diskFull, cause: "no space is left")), node)
            return checkRefused(node)
        }
        commit(batch, node)
        if !nodes[node].isEnding {
            if node == 0 { story.expect(batch, ledger) }
            feed(.written, node)
        }
    }

    /// A write is on disk, whether its node still runs or not.
    mutating func commit(_ batch: StoreBatch, _ node: Int) {
        let before = nodes[node].disk.host
        // Remove the reference first, since a disk with another reference is copied on a write.
        let findings = ledger.commit(batch, of: nodes[node].peer, before: nodes[node].disk) {
            [nodes, peers = story.peers] peer in
            peers.firstIndex(of: peer).map { nodes[$0].disk }
        }
        do {
            try nodes[node].disk.apply(batch)
        } catch {
            return broken(.leftOut, nodes[node].name, "no store takes its write: \(error)")
        }
        for finding in findings { broken(finding.0, nodes[node].name, finding.1) }
        guard node == 0, let record = nodes[0].disk.host else { return }
        checkCommitted(before, record, batch)
    }

    // MARK: Time

    mutating func tick(_ node: Int, _ life: Int, _ due: Duration) {
        guard nodes[node].life == life, nodes[node].timer == due, !nodes[node].isEnding else { return }
        nodes[node].timer = nil
        feed(.tick, node)
    }

    /// Sets a node's timer again if its deadline has changed.
    mutating func refreshTimer(_ node: Int) {
        guard let core = nodes[node].core else { return }
        let due = core { $0.deadline }
        guard due != nodes[node].timer else { return }
        nodes[node].timer = due
        guard let due else { return }
        // If a node does not handle its deadline, this loop would spin forever, and a core in the car would run at full
        // load.
        let isSpinning = due <= localTime(of: node)
        spins = isSpinning ? spins + 1 : 0
        if spins > 10_000 { broken(.overLimit, nodes[node].name, "10,000 ticks without end at one time") }
        schedule(.tick(node: node, life: nodes[node].life, due: due), at: due - nodes[node].clockLead)
    }

    /// A node's clock jumps forward, so its deadlines come sooner.
    mutating func leap(_ node: Int, _ time: Duration) {
        guard nodes[node].core != nil else { return }
        trace(node, "its clock leaps by \(time)")
        nodes[node].clockLead += time
        for link in nodes[node].links.keys.sorted() {
            if let place = nodes[node].links[link] { channels[place.channel].isDisturbed = true }
        }
        nodes[node].timer = nil
        refreshTimer(node)
    }
}
