// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import MeshNode
@testable import NodeCore

/// A host, relays and guests as structs, with radio ranges that a test sets. Data in transit arrive at once. Time
/// passes only when a test advances it.
struct ConvoyOfCores {
    /// A class, since a copy of a core at each look at a node takes longer than all decisions.
    final class Node {
        var core: NodeCore
        var configuration: NodeCore.Configuration
        var stored = StoredNode()
        var shown: [NodeEvent] = []
        var isScanning = false
        /// How often it has started to scan.
        var looks = 0
        var lastLink = 0
        /// A relay's advertisement.
        var notice: NodeCore.RelayNotice?
        /// Whether a host reserves its last slots for relays.
        var placesForRelays = false
        var isOn = true

        init(_ configuration: NodeCore.Configuration) {
            core = NodeCore(configuration)
            self.configuration = configuration
        }
    }

    struct End: Hashable {
        var node: String
        var link: MeshCore.LinkID
    }

    private(set) var nodes: [String: Node] = [:]
    private let hosts: [String]
    private(set) var now: MeshInstant = .zero
    /// Nodes in range of each other.
    private(set) var reach: Set<Set<String>> = []
    /// Nodes without room for another link. They are not heard, and a dial to them stays pending.
    var full: Set<String> = []
    /// Nodes with slow disks.
    var slow: Set<String> = []
    /// Called with each node after an event of the node.
    var check: ((String, NodeCore) -> Void)?
    private(set) var channels: [End: End] = [:]
    /// Signal strength between two nodes in dBm, if it is weak.
    var signals: [Set<String>: Int] = [:]
    /// Nodes that are heard, but answer no dial.
    var deaf: Set<String> = []
    /// Time that data between two nodes are in transit.
    var delays: [Set<String>: Duration] = [:]
    private var late: [(at: MeshInstant, sdu: [UInt8], end: End)] = []
    /// Cancelled dials.
    private(set) var cancelled: [String: Int] = [:]
    /// SDUs that each node has sent to each.
    private(set) var sent: [String: [String: Int]] = [:]
    /// The same in bytes.
    private(set) var sentBytes: [String: [String: Int]] = [:]
    private var coming: [(NodeCore.Event, String)] = []
    private var isFeeding = false
    /// The node that is about to be heard for the last time.
    private var announced: String?
    private var randoms = SeededGenerator(seed: 1)

    /// `others` are hosts next to the car.
    init(
        relays: [String] = [], guests: [String] = [], others: [String] = [], songs count: Int = 5,
        pin: JoiningSecret? = nil, requiresBond: Bool = false
    ) {
        hosts = ["Car"] + others
        let songs = (1...count).map { Song(id: "s\($0)", title: "Song \($0)", artist: "A", duration: 3_600) }
        var hosting = Hosting(SongLibrary(songs), pin: pin, wallClockSeconds: 1_000)
        hosting.requiresBond = requiresBond
        let parts: [(String, NodeCore.Part)] =
            [("Car", .host(hosting))]
            + relays.map { ($0, .guest(wanted: nil, relays: true)) } + guests.map { ($0, .guest(wanted: nil)) }
            + others.map { ($0, .host(Hosting(SongLibrary(songs), wallClockSeconds: 1_000))) }
        for (index, (name, part)) in parts.enumerated() {
            let key = [UInt8](repeating: UInt8(index + 1), count: Identity.storedBytes)
            guard let identity = Identity(stored: key) else { continue }
            let configuration = NodeCore.Configuration(
                part,
                NodeDescription(
                    role: hosts.contains(name) ? .host : .guest, peer: Peer(id: identity.peerID, name: name),
                    radio: "none",
                    service: .democracyDJ),
                identity: identity, contents: StoredNode(), origin: ContinuousClock().now, seed: UInt64(index))
            nodes[name] = Node(configuration)
        }
        for name in nodes.keys.sorted() { feed(.started, to: name) }
    }

    func id(_ name: String) -> Peer.ID { nodes[name]?.configuration.identity.peerID ?? "" }

    // MARK: Actions of a test

    /// Puts each node in range of the next.
    mutating func line(_ names: String...) { for (one, other) in zip(names, names.dropFirst()) { meet(one, other) } }

    /// Puts two nodes in range of each other. Without `answering`, the first is heard once more before it has no room.
    mutating func meet(_ one: String, _ other: String, answering: Bool = true) {
        reach.insert([one, other])
        if !answering { announced = one }
        announce(one, to: other)
        announce(other, to: one)
        announced = nil
        if !answering { full.insert(one) }
    }

    /// A node hears the last advertisement of a relay.
    mutating func overhear(_ relay: String, _ name: String, hasRoom: Bool) {
        reach.insert([relay, name])
        nodes[relay]?.notice?.hasRoom = hasRoom
        announce(relay, to: name)
    }

    /// A relay claims that its host asks for a PIN, which it does not.
    mutating func lie(_ relay: String) { nodes[relay]?.notice?.asksForPIN = true }

    /// A relay advertises another host than its own.
    mutating func lie(_ relay: String, leadingTo host: Peer.ID) {
        nodes[relay]?.notice?.host.id = host
        for other in nodes.keys.sorted() where other != relay { announce(relay, to: other) }
    }

    /// The channel between two nodes breaks, and they stay where they are.
    mutating func lose(_ one: String, _ other: String) {
        part(one, other)
        reach.insert([one, other])
    }

    /// Puts two nodes out of range of each other, which breaks their channel.
    mutating func part(_ one: String, _ other: String) {
        reach.remove([one, other])
        for (near, far) in channels where near.node == one && far.node == other {
            (channels[near], channels[far]) = (nil, nil)
            feed(.channelClosed(near.link), to: near.node)
            feed(.channelClosed(far.link), to: far.node)
        }
    }

    /// Switches a node off, and all others notice it.
    mutating func kill(_ name: String) {
        nodes[name]?.isOn = false
        for (near, far) in channels where near.node == name {
            (channels[near], channels[far]) = (nil, nil)
            feed(.channelClosed(far.link), to: far.node)
        }
    }

    /// Switches a node off and on. It knows the content of its disk, and hears no node until `meet`.
    mutating func restart(_ name: String) {
        for other in nodes.keys.sorted() { part(name, other) }
        guard let node = nodes[name] else { return }
        node.configuration.contents = node.stored
        (node.core, node.isScanning) = (NodeCore(node.configuration), false)
        feed(.started, to: name)
    }

    mutating func pass(_ time: Duration) {
        let end = now + time
        while let next = (nodes.values.filter(\.isOn).compactMap(\.core.deadline) + late.map(\.at)).min(), next <= end {
            now = max(now, next)
            while let first = late.firstIndex(where: { $0.at <= now }) {
                let (_, sdu, far) = late.remove(at: first)
                if channels[far] != nil { feed(.received(sdu, on: far.link), to: far.node) }
            }
            for name in nodes.keys.sorted() where nodes[name]?.core.deadline.map({ $0 <= now }) == true {
                feed(.tick, to: name)
            }
        }
        now = end
    }

    /// Changes a node without an event.
    mutating func change(_ name: String, _ body: (inout NodeCore) -> Void) {
        guard let node = nodes[name] else { return }
        body(&node.core)
    }

    /// A disk finishes its writes, and is fast from then on.
    mutating func finishWrite(_ name: String) {
        guard slow.remove(name) != nil, nodes[name]?.core.inside.steps.isWriting == true else { return }
        feed(.written, to: name)
    }

    mutating func type(_ input: NodeInput, at name: String) { feed(.input(input), to: name) }

    // MARK: Results

    /// The state that a node shows.
    func state(at name: String) -> HostSnapshot? {
        for case .snapshot(let state, isStale: false) in (nodes[name]?.shown ?? []).reversed() { return state }
        return nil
    }

    func votes(for songID: Song.ID, at name: String) -> Int? { state(at: name)?.item(songID)?.votes }

    func present() -> [String] { (state(at: "Car")?.connectedPeers ?? []).map(\.name).sorted() }

    func wishes(at name: String) -> [WishState] {
        (nodes[name]?.shown ?? []).compactMap { if case .wish(_, _, let state) = $0 { state } else { nil } }
    }

    /// The hosts that a node has joined, in order.
    func joined(by name: String) -> [String] {
        (nodes[name]?.shown ?? []).compactMap { if case .peerConnected(let host) = $0 { host.name } else { nil } }
    }

    func notices(at name: String) -> [String] {
        (nodes[name]?.shown ?? []).compactMap { if case .notice(let notice) = $0 { notice.code } else { nil } }
    }

    func isLinked(_ name: String) -> Bool { nodes[name]?.core.mesh.host != nil }

    /// A node's last report on its link to another node.
    func link(_ name: String, to other: String) -> LinkReport? {
        for case .link(let peer, let report) in (nodes[name]?.shown ?? []).reversed() where peer.id == id(other) {
            return report
        }
        return nil
    }

    /// The names of the relays on a node's route, the next one first.
    func way(of name: String) -> [String] {
        var names: [String] = []
        var at = name
        while names.count < 20, let parent = nodes[at]?.core.mesh.parent?.peer.name {
            names.append(parent)
            at = parent
        }
        return names
    }

    // MARK: Transport

    mutating func feed(_ event: NodeCore.Event, to name: String) {
        coming.append((event, name))
        guard !isFeeding else { return }
        isFeeding = true
        while !coming.isEmpty {
            let (event, name) = coming.removeFirst()
            guard nodes[name]?.isOn == true else { continue }
            let actions = nodes[name]?.core.handle(event, now: now) ?? []
            for action in actions { perform(action, of: name) }
            if let check, let core = nodes[name]?.core { check(name, core) }
        }
        isFeeding = false
    }

    /// A scanning node hears another one that advertises.
    private mutating func announce(_ name: String, to other: String) {
        guard reach.contains([name, other]), let node = nodes[name], node.isOn, !full.contains(name),
            nodes[other]?.isScanning == true
        else { return }
        let head = Identity.head(of: id(name))
        let rssi = signals[[name, other]] ?? -60
        if hosts.contains(name) {
            let asksForPIN = node.core.mesh.admissionPolicy.isLocked
            feed(
                .heard(
                    HeardNode(
                        Peer(id: head, name: name), rssi: rssi, asksForPIN: asksForPIN,
                        placesForRelays: node.placesForRelays)),
                to: other)
        } else if let notice = node.notice {
            feed(
                .heard(
                    HeardNode(
                        Peer(id: String(notice.host.id.prefix(10)), name: notice.host.name), relay: head,
                        hops: notice.hops, rssi: rssi, hasRoom: notice.hasRoom, placesForRelays: notice.placesForRelays,
                        asksForPIN: notice.asksForPIN)),
                to: other)
        }
    }

    private mutating func perform(_ action: NodeCore.Action, of name: String) {
        switch action {
        case .write(let batch):
            do {
                try nodes[name]?.stored.apply(batch)
            } catch {
                Issue.record(error)
            }
            if !slow.contains(name) { feed(.written, to: name) }
        case .startRadio:
            guard !hosts.contains(name) else { break }
            nodes[name]?.isScanning = true
            nodes[name]?.looks += 1
            for other in nodes.keys.sorted() where other != name { announce(other, to: name) }
        case .stopScanning: nodes[name]?.isScanning = false
        case .relay(let notice):
            nodes[name]?.notice = notice
            for other in nodes.keys.sorted() where other != name { announce(name, to: other) }
        case .placesForRelays(let areKept):
            nodes[name]?.placesForRelays = areKept
            for other in nodes.keys.sorted() where other != name { announce(name, to: other) }
        case .dial(let number, let head, let expecting): dial(number, head, expecting, from: name)
        case .openCircuit(let place, let dial, let expected):
            let id = newLink(name)
            let opening = NodeCore.Opening(in: place, dial: dial, expected: expected, entropy: entropy())
            feed(.opened(id, opening), to: name)
        case .cancelDial:
            cancelled[name, default: 0] += 1
        case .wake(let id): send(End(node: name, link: id))
        case .close(let id, _):
            send(End(node: name, link: id))
            guard let far = channels.removeValue(forKey: End(node: name, link: id)) else { break }
            channels[far] = nil
            feed(.channelClosed(id), to: name)
            feed(.channelClosed(far.link), to: far.node)
        case .show(let event): nodes[name]?.shown.append(event)
        case .measure(let id):
            let far = channels[End(node: name, link: id)]?.node
            feed(.measured(id, rssi: far.map { signals[[name, $0]] ?? -60 }, nil), to: name)
        default: break
        }
    }

    private mutating func send(_ end: End) {
        while let (sdu, more) = nodes[end.node]?.core.nextSDU(for: end.link, limit: Limits.sduBytes, now: now) {
            if let far = channels[end] {
                sent[end.node, default: [:]][far.node, default: 0] += 1
                sentBytes[end.node, default: [:]][far.node, default: 0] += sdu.count
                if let delay = delays[[end.node, far.node]] {
                    late.append((now + delay, sdu, far))
                } else {
                    feed(.received(sdu, on: far.link), to: far.node)
                }
            }
            for action in more { perform(action, of: end.node) }
        }
    }

    private mutating func dial(_ number: Int, _ head: Peer.ID, _ expecting: Peer.ID, from name: String) {
        let other = nodes.first { Identity.head(of: $0.value.configuration.identity.peerID) == head }?.key
        if let other, deaf.contains(other) { return }
        guard let other, reach.contains([name, other]), nodes[other]?.isOn == true else {
            return feed(.dialFailed(number, refusal: nil), to: name)
        }
        guard !full.contains(other), announced != other else { return }
        let (near, far) = (End(node: name, link: newLink(name)), End(node: other, link: newLink(other)))
        (channels[near], channels[far]) = (far, near)
        let isLocked = nodes[other]?.core.mesh.admissionPolicy.isLocked == true
        let flags = AdvertisedFlags(critical: hosts.contains(other) ? isLocked ? .proof : [] : .circuitsOnly)
        feed(
            .opened(
                far.link,
                NodeCore.Opening(.responder, sendMTU: Limits.sduBytes, advertised: flags, entropy: entropy())),
            to: other)
        feed(
            .opened(
                near.link,
                NodeCore.Opening(
                    .initiator, sendMTU: Limits.sduBytes, dial: number, expected: expecting, advertised: flags,
                    entropy: entropy())),
            to: name)
    }

    private mutating func newLink(_ name: String) -> MeshCore.LinkID {
        nodes[name]?.lastLink += 1
        return nodes[name]?.lastLink ?? 0
    }

    private mutating func entropy() -> MeshCore.Entropy {
        MeshCore.Entropy((0..<MeshCore.Entropy.byteCount).map { _ in UInt8.random(in: 0...255, using: &randoms) })
    }
}
