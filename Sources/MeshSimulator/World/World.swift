// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// A host, its guests, the air between them and attackers. It checks every event.
typealias World = Simulator<Links>

/// The air of a world: channels with faults between nodes and attackers.
struct Links: Air {
    typealias Scenario = MeshSimulator.Scenario
    typealias Event = (inout World) -> Void

    static let keptViolations = 1

    var radios: [LinkRadio]
    var channels: [Channel] = []
    /// Guests that are out of the host's range.
    var outOfReach: Set<Int> = []
    /// An attacker answers instead of the host until this time.
    var impostorUntil = 0
    /// The identity of an intruder that joins.
    let mallory: Identity
    /// The scripts of the attackers.
    var scripts: [HostileScript] = []
    /// Recordings of parties that dial, and of parties that answer. The latest is last.
    var recordings: [[[[UInt8]]]] = [[], []]

    static func handle(_ event: Event, in world: inout World) { event(&world) }

    static func perform(_ action: NodeCore.Action, of node: Int, on link: MeshCore.LinkID?, in world: inout World) {
        world.perform(action, node, link)
    }

    static func goOn(_ node: Int, on link: MeshCore.LinkID?, in world: inout World) { world.goOn(node, link) }

    static func beginWrite(_ node: Int, in world: inout World) -> Int {
        world.air.radios[node].linkOfWrite = world.hostLink(of: node)
        world.people.story.beginWrite(node)
        return world.random.microseconds(world.scenario.writeTime)
    }

    static func commit(_ batch: StoreBatch, of node: Int, in world: inout World) { world.commit(batch, node) }

    static func wrote(_ node: Int, isRefused: Bool, in world: inout World) {
        if isRefused {
            world.people.figures.refusedWrites += 1
            world.checkRefused(node)
        } else {
            world.checkWritten(node)
        }
        if world.nodes[node].disk.writing == nil { world.air.radios[node].linkOfWrite = nil }
    }
}

/// A node's radio.
struct LinkRadio {
    /// A link of a node.
    struct Link {
        var channel: Int
        var end: Int
        /// The link was seen to be up.
        var isUp = false
        /// The core has closed the channel.
        var isClosing = false
    }

    var hasAdapter = true
    /// The radio's last report is that it does not work.
    var isOut = false
    var isScanning = false
    var links: [MeshCore.LinkID: Link] = [:]
    /// The peers that it dials, by an identifier or the head of one, and by the dial's number.
    var dials: [Int: Peer.ID] = [:]
    /// SDUs that the node does not read yet: their channels, and the ends that have sent them.
    var unread: [(channel: Int, from: Int)] = []
    /// The host's state when a link in a circuit was requested.
    var stateAtOpen: [MeshCore.LinkID: StateVersion] = [:]
    /// The link to the host at the time of the current write's decision. States shown after the write came over this
    /// link.
    var linkOfWrite: MeshCore.LinkID?
}

/// The people of a world: what they see, and what they were promised.
struct WorldPeople {
    var screens: [Screen]
    var browsers: [SimulatedBrowser] = []
    /// The host's links that end in its own process.
    var browserLinks: [MeshCore.LinkID: BrowserLink] = [:]
    var ledger = Ledger()
    var story: Story
    var wishes = WishLedger()
    var figures = Figures()
    /// Number of the road's votes so far.
    var roadVotes = 0
    /// Reported events that clear notices, and their nodes.
    var cleared: [(node: Int, clearer: Problem.Clearer)] = []
    /// The node that has just found a link silent.
    var silent: Int?
    /// The faults have stopped, and then everything has arrived.
    var isQuiet = false
    var isSettled = false
}

extension Links {
    typealias People = WorldPeople
}

extension World {
    init(_ scenario: Scenario, log: ((String) -> Void)?) {
        var timeline = Timeline<Event>(seed: scenario.seed, drawsOrder: true)
        let mallory = Identity.drawn(&timeline.random)
        let nodes = (0..<scenario.nodes).map { node in
            SimulatedNode(
                .drawn(&timeline.random), name: node == 0 ? "Car" : "Guest \(node)", isHost: node == 0,
                isRelay: scenario.reach?.relays.contains(node) == true)
        }
        var people = WorldPeople(screens: nodes.map { _ in Screen() }, story: Story(scenario))
        people.story.peers = nodes.map(\.peer)
        for index in 0..<scenario.browsers {
            let shared = index < scenario.sharedKeys ? nodes[index + 1] : nil
            let peer = shared.map { Peer(id: $0.peer, name: $0.name) }
            let name = "Browser \(index + 1)"
            people.browsers.append(
                SimulatedBrowser(peer ?? Peer(id: Identity.drawn(&timeline.random).peerID, name: name), name: name))
            if let shared { people.story.shared.insert(shared.peer) }
        }
        people.story.browsers = people.browsers.map(\.peer.id)
        people.ledger.mute = (mallory.peerID, Self.muteEpoch)
        self.init(
            scenario, timeline, nodes, Links(radios: nodes.map { _ in LinkRadio() }, mallory: mallory), people, log: log
        )
        prepare()
    }

    private mutating func prepare() {
        for node in nodes.indices {
            later(0...500) { $0.starts(node) }
            if node > 0 { later(0...500) { $0.hears(node) } }
        }
        for browser in people.browsers.indices { later(0...3_000) { $0.opens(browser) } }
        if let road = scenario.road { prepare(road) }
        let acting = Int(scenario.faultsEnd.components.seconds) * 1_000
        for _ in 0..<scenario.acts { later(500...acting) { $0.acts() } }
        if !scenario.faults.isEmpty { later(1_000...2_000) { $0.fault() } }
        at(scenario.faultsEnd.microseconds) { $0.quiet() }
    }

    // MARK: Time

    mutating func at(_ time: Int, _ event: @escaping (inout World) -> Void) { schedule(event, at: time) }

    /// Something happens after a random time in a range of milliseconds.
    mutating func later(_ time: ClosedRange<Int>, _ event: @escaping (inout World) -> Void) {
        at(now + random.microseconds(time), event)
    }

    /// The same, if the node has not ended its life by then.
    mutating func later(_ time: ClosedRange<Int>, in node: Int, _ event: @escaping (inout World) -> Void) {
        let life = nodes[node].life
        later(time) { if $0.nodes[node].life == life { event(&$0) } }
    }

    /// Runs until everything has arrived, an invariant is violated, or the time is over.
    mutating func run() {
        let end = (scenario.faultsEnd + scenario.patience).microseconds
        while violations.isEmpty, !people.isSettled {
            guard let first = timeline.first, first <= end else {
                broken(.notSettled, "world", whatIsMissing())
                break
            }
            step()
            refreshTimers()
            hash.add([now, Int(truncatingIfNeeded: entry)])
        }
        (people.figures.time, people.figures.steps) = (instant, steps)
    }
}
