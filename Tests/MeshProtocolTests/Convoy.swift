// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

/// Nodes with channels between any of them: a host, relays, and guests behind them. The clock stands still unless a
/// test moves it, and nothing is random. SDUs move only when a test moves them.
struct Convoy {
    struct Node {
        var core: MeshCore
        var events: [(MeshCore.LinkID, LinkEvent)] = []
        var lastLink = 0
        /// Circuits that were offered and are not answered yet.
        var offers: [CircuitPlace] = []
        var isRefusing = false
    }

    /// One end of a channel.
    struct End: Hashable {
        var node: String
        var link: MeshCore.LinkID
    }

    var nodes: [String: Node] = [:]
    /// The other end of each end.
    var channels: [End: End] = [:]
    var now: MeshInstant = .zero
    /// Largest SDU of a channel that opens next.
    var sendMTU = Limits.sduBytes
    /// SDUs on each channel, by the node that has sent them.
    var sent: [End: [[UInt8]]] = [:]
    /// Changes an SDU in transit: the SDUs that arrive instead.
    var onTheWay: (String, [UInt8]) -> [[UInt8]] = { _, sdu in [sdu] }
    /// No SDU moves automatically; `move` moves them.
    var isHeldUp = false
    private var lastEntropy: UInt8 = 0
    /// The host's shared updates, and the name of each resulting state.
    private var states: [String: StateName] = [:]

    init(host: String = "Car", relays: [String] = [], guests: [String] = []) {
        for (index, name) in ([host] + relays + guests).enumerated() {
            var core = MeshCore(
                identity: Road.identity(UInt8(index + 1)), name: name, service: .democracyDJ,
                relays: relays.contains(name))
            core.takesCircuits = name == host
            nodes[name] = Node(core: core)
        }
    }

    func id(_ name: String) -> Peer.ID { nodes[name]?.core.local.id ?? "" }

    /// Returns a node's link on its channel to another node.
    func link(_ name: String, to other: String) -> MeshCore.LinkID? {
        channels.first { $0.key.node == name && $0.value.node == other }?.key.link
    }

    private mutating func newLink(_ name: String) -> MeshCore.LinkID {
        nodes[name]?.lastLink += 1
        return nodes[name]?.lastLink ?? 0
    }

    private mutating func entropy() -> MeshCore.Entropy {
        lastEntropy &+= 1
        return MeshCore.Entropy([UInt8](repeating: lastEntropy, count: MeshCore.Entropy.byteCount))
    }

    // MARK: Links

    /// Opens a node's channel to another.
    mutating func dial(_ name: String, _ other: String) {
        let (near, far) = (End(node: name, link: newLink(name)), End(node: other, link: newLink(other)))
        (channels[near], channels[far]) = (far, near)
        let isRelay = nodes[other]?.core.relays == true
        let flags = AdvertisedFlags(critical: isRelay ? .circuitsOnly : [])
        let entropies = (entropy(), entropy())
        let expected = Identity.head(of: id(other))
        act(other) { [now, sendMTU] in
            $0.opened(
                far.link, as: .responder, sendMTU: sendMTU, advertised: flags, entropy: entropies.0, now: now)
        }
        act(name) { [now, sendMTU] in
            $0.opened(
                near.link, as: .initiator, sendMTU: sendMTU, expected: expected, advertised: flags,
                entropy: entropies.1, now: now)
        }
        settle()
    }

    /// Opens a circuit from a node to a host through a relay with which the node is linked.
    @discardableResult
    mutating func openCircuit(
        _ name: String, to host: String = "Car", through relay: String, hops: Int = 1
    ) -> MeshCore.LinkID {
        let id = newLink(name)
        guard let carrier = link(name, to: relay) else { return id }
        let place = CircuitPlace(to: self.id(host), over: carrier, hops: hops)
        let (entropy, expected) = (entropy(), self.id(host))
        // The states that its application keeps.
        let states = texts(at: name).compactMap { self.states[$0] }.reversed()
        act(name) { [now] in
            $0.opened(
                id, as: .initiator, sendMTU: Limits.innerSDUBytes, expected: expected, in: place,
                showing: Array(states), entropy: entropy, now: now)
        }
        settle()
        return id
    }

    /// Makes a node a relay with a route to the host, and joins a node to the host through it.
    mutating func join(_ name: String, through relay: String, hops: UInt8 = 1) {
        lead(relay, hops: hops)
        dial(name, relay)
        openCircuit(name, through: relay)
    }

    mutating func lead(_ relay: String, hops: UInt8) {
        let route = Route(host: id("Car"), hops: hops)
        act(relay) { $0.lead(route) }
        settle()
    }

    /// Cuts a channel; both ends notice.
    mutating func cut(_ name: String, from other: String) {
        guard let link = link(name, to: other), let far = channels.removeValue(forKey: End(node: name, link: link))
        else { return }
        channels[far] = nil
        act(name) { $0.channelClosed(link) }
        act(other) { $0.channelClosed(far.link) }
        settle()
    }

    // MARK: Moving

    /// Moves SDUs until none is left.
    mutating func settle() {
        while !isHeldUp, move() {}
    }

    /// Lets every node send its queued SDUs once. Returns whether there were any.
    @discardableResult
    mutating func move() -> Bool {
        var hasMoved = false
        for end in channels.keys.sorted(by: { ($0.node, $0.link) < ($1.node, $1.link) }) {
            for sdu in pull(end) {
                hasMoved = true
                give(sdu, from: end)
            }
        }
        return hasMoved
    }

    /// Returns the SDUs that a node has to send on a link.
    mutating func pull(_ end: End) -> [[UInt8]] {
        var sdus: [[UInt8]] = []
        while let (sdu, actions) = nodes[end.node]?.core.nextSDU(for: end.link, limit: Limits.sduBytes) {
            sdus.append(sdu)
            sent[end, default: []].append(sdu)
            perform(actions, end.node)
        }
        return sdus
    }

    mutating func give(_ sdu: [UInt8], from end: End) {
        for sdu in onTheWay(end.node, sdu) {
            guard let far = channels[end] else { return }
            act(far.node) { [now] in $0.received(sdu, on: far.link, now: now) }
        }
    }

    /// Moves the clock, deadline by deadline.
    mutating func advance(by time: Duration) {
        let end = now + time
        while let next = MeshCore.nextDue(nodes.mapValues(\.core), until: end) {
            now = max(now, next.at)
            act(next.name) { [now] in $0.tick(next.id, now: now) }
            settle()
        }
        now = end
    }

    // MARK: Messages

    mutating func say(_ text: String, from name: String, to other: String) {
        guard let key = key(name, with: other),
            let actions = nodes[name]?.core.send(Array(text.utf8), as: .reliable, to: key).1
        else { return }
        perform(actions, name)
    }

    /// The host sends a linked node a shared update. It results in the state `leadingTo`, or in a state named after the
    /// text.
    mutating func share(
        _ text: String, with name: String, as sharing: MessageUnit.Sharing, leadingTo state: String? = nil
    ) {
        let shared = SharedState(sharing, to: Self.name(of: state ?? text))
        states[text] = shared.name
        guard let key = key("Car", with: name),
            let actions = nodes["Car"]?.core.send(Array(text.utf8), as: .latest, to: key, sharing: shared).1
        else { return }
        perform(actions, "Car")
    }

    /// The test's name of a state as a protocol name.
    static func name(of state: String) -> StateName {
        StateName(value: state.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
    }

    func key(_ name: String, with other: String) -> ConversationKey? {
        nodes[name]?.core.lastConversation(with: id(other))
    }

    /// Returns the texts that have arrived at a node, in order.
    func texts(at name: String) -> [String] {
        nodes[name]?.events.compactMap { _, event in
            if case .received(let message) = event { String(decoding: message.body, as: UTF8.self) } else { nil }
        } ?? []
    }

    func isConnected(_ name: String, to other: String = "Car") -> Bool { nodes[name]?.core.link(to: id(other)) != nil }

    /// Returns the ends of a node's links and circuits.
    func ends(at name: String) -> [LinkEnd] {
        nodes[name]?.events.compactMap { _, event in
            switch event {
            case .ended(_, let end), .failed(_, _, let end), .carrierEnded(_, let end): end
            default: nil
            }
        } ?? []
    }

    // MARK: Actions

    mutating func act(_ name: String, _ body: (inout MeshCore) -> [MeshCore.Action]) {
        guard var node = nodes.removeValue(forKey: name) else { return }
        let actions = body(&node.core)
        nodes[name] = node
        perform(actions, name)
    }

    mutating func perform(_ actions: [MeshCore.Action], _ name: String) {
        for action in actions {
            switch action {
            case .wake, .heed, .holdReading, .forgot, .circuitEnded: break
            case .tell(let id, let event):
                nodes[name]?.events.append((id, event))
                guard case .received(let message) = event, message.messageClass == .reliable else { continue }
                act(name) { $0.accept(upTo: message) }
            case .close(let id, _):
                guard let far = channels.removeValue(forKey: End(node: name, link: id)) else { continue }
                // Its queued frames have been sent before.
                for sdu in pull(End(node: name, link: id)) {
                    act(far.node) { [now] in $0.received(sdu, on: far.link, now: now) }
                }
                channels[far] = nil
                act(name) { $0.channelClosed(id) }
                act(far.node) { $0.channelClosed(far.link) }
            case .circuitOffered(let place):
                guard nodes[name]?.isRefusing == false else { continue }
                let (id, entropy) = (newLink(name), entropy())
                act(name) { [now] in
                    $0.opened(
                        id, as: .responder, sendMTU: Limits.innerSDUBytes, in: place, entropy: entropy, now: now)
                }
            }
        }
    }
}

extension MeshCore {
    /// Returns the link of several nodes with the earliest deadline, if that is not after this time.
    static func nextDue(
        _ cores: [String: MeshCore], until end: MeshInstant
    ) -> (at: MeshInstant, name: String, id: LinkID)? {
        let due = cores.flatMap { name, core in
            core.allLinks.compactMap { id in core.deadline(of: id).map { (at: $0, name: name, id: id) } }
        }
        return due.filter { $0.at <= end }.min { ($0.at, $0.name, $0.id) < ($1.at, $1.name, $1.id) }
    }
}
