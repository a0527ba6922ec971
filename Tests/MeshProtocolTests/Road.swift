// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

/// A host and its guests in one struct: every link is a pair of queues, the clock stands still unless a test moves it,
/// and nothing is random. SDUs move only when a test moves them.
struct Road {
    struct Node {
        var core: MeshCore
        var events: [LinkEvent] = []
        /// The end of each link.
        var ends: [MeshCore.LinkID: LinkEnd] = [:]
        var held: [MeshCore.LinkID: MeshInstant] = [:]
        var closing: Set<MeshCore.LinkID> = []
        var forgotten: [ConversationKey] = []
        /// Accepts each reliable message as soon as it arrives.
        var acceptsByItself = true
    }

    /// A link: its number at the guest and at the host, and its guest.
    struct Wire {
        var guest: String
        var host: String
        var id: MeshCore.LinkID
        var toHost: [[UInt8]] = []
        var toGuest: [[UInt8]] = []
        var isCut = false
    }

    var nodes: [String: Node] = [:]
    var wires: [MeshCore.LinkID: Wire] = [:]
    var now: MeshInstant = .zero
    var sendMTU = Limits.sduBytes
    /// The arrival time of each SDU.
    var arrivals: [MeshInstant] = []
    /// The node that admits the others.
    private let host: String
    private var lastLink = 0
    private var lastEntropy: UInt8 = 100

    static func identity(_ seed: UInt8) -> Identity {
        Identity(stored: [UInt8](repeating: seed, count: 32)) ?? .make()
    }

    init(guests: [String] = ["Ana"], host: String = "Car", holdsUntilStored: Bool = false) {
        self.host = host
        for (index, name) in ([host] + guests).enumerated() {
            add(name, seed: UInt8(index + 1), holdsUntilStored: holdsUntilStored)
        }
    }

    mutating func add(
        _ name: String, seed: UInt8, service: ServiceType = .democracyDJ,
        remembered: [ConversationKey: MeshCore.Remembered] = [:], holdsUntilStored: Bool = false
    ) {
        nodes[name] = Node(
            core: MeshCore(
                identity: Self.identity(seed), name: name, service: service, remembered: remembered,
                holdsUntilStored: holdsUntilStored))
    }

    func id(_ name: String) -> Peer.ID { nodes[name]?.core.local.id ?? "" }

    /// The key of a node's conversation with another.
    func key(_ name: String, with other: String) -> ConversationKey {
        ConversationKey(
            id(other), as: name == host ? .responder : .initiator, nodes[name]?.core.service ?? .democracyDJ)
    }

    func conversation(_ name: String, with other: String) -> Conversation? {
        nodes[name]?.core.conversation(key(name, with: other))
    }

    mutating func entropy() -> MeshCore.Entropy {
        lastEntropy &+= 1
        return MeshCore.Entropy([UInt8](repeating: lastEntropy, count: MeshCore.Entropy.byteCount))
    }

    // MARK: Links

    /// Opens a guest's channel to a host. Nothing moves yet.
    @discardableResult
    mutating func dial(
        _ guest: String = "Ana", _ host: String = "Car", expecting: Peer.ID? = nil, refusal: RefusalReason? = nil,
        over bearer: BearerKind? = nil, framesPerSecond: Int = Limits.framesPerSecond
    ) -> MeshCore.LinkID {
        let id = newLink(guest, host)
        let expected = expecting ?? Identity.head(of: self.id(host))
        let entropies = (entropy(), entropy())
        act(host, on: id) { [now, sendMTU] in
            $0.opened(
                id, as: .responder, sendMTU: sendMTU, refusal: refusal, over: bearer, framesPerSecond: framesPerSecond,
                entropy: entropies.0, now: now)
        }
        act(guest, on: id) { [now, sendMTU] in
            $0.opened(
                id, as: .initiator, sendMTU: sendMTU, expected: expected, over: bearer, entropy: entropies.1,
                now: now)
        }
        return id
    }

    mutating func newLink(_ guest: String, _ host: String) -> MeshCore.LinkID {
        lastLink += 1
        wires[lastLink] = Wire(guest: guest, host: host, id: lastLink)
        return lastLink
    }

    /// Moves SDUs until none is left.
    mutating func settle() {
        while wires.keys.sorted().contains(where: { step($0) }) {}
    }

    /// Moves the queued SDUs of one link. Returns whether there were any.
    @discardableResult
    mutating func step(_ id: MeshCore.LinkID) -> Bool {
        guard let wire = wires[id], !wire.isCut else { return false }
        pull(wire.guest, id)
        pull(wire.host, id)
        guard let wire = wires[id] else { return false }
        wires[id]?.toHost = []
        wires[id]?.toGuest = []
        for sdu in wire.toHost { give(sdu, to: wire.host, on: id) }
        for sdu in wire.toGuest { give(sdu, to: wire.guest, on: id) }
        return !wire.toHost.isEmpty || !wire.toGuest.isEmpty
    }

    /// Takes a node's SDUs and puts them in transit.
    mutating func pull(_ name: String, _ id: MeshCore.LinkID) {
        while let (sdu, actions) = nodes[name]?.core.nextSDU(for: id, limit: sendMTU) {
            if name == wires[id]?.guest { wires[id]?.toHost.append(sdu) } else { wires[id]?.toGuest.append(sdu) }
            carryOut(actions, name)
        }
    }

    mutating func give(_ sdu: [UInt8], to name: String, on id: MeshCore.LinkID) {
        arrivals.append(now)
        act(name, on: id) { [now] in $0.received(sdu, on: id, now: now) }
    }

    /// Cuts the air: SDUs in transit are lost, and both ends notice.
    mutating func cut(_ id: MeshCore.LinkID) {
        guard let wire = wires.removeValue(forKey: id) else { return }
        for name in [wire.guest, wire.host] { act(name, on: id) { $0.channelClosed(id) } }
    }

    /// Moves the clock, deadline by deadline.
    mutating func advance(by time: Duration) {
        let end = now + time
        while let next = MeshCore.nextDue(nodes.mapValues(\.core), until: end) {
            now = max(now, next.at)
            act(next.name, on: next.id) { [now] in $0.tick(next.id, now: now) }
            settle()
        }
        now = end
    }

    // MARK: Messages

    @discardableResult
    mutating func send(
        _ text: String, from name: String, to receiver: String, as messageClass: MessageClass = .reliable
    ) -> Conversation.Sending? {
        send(Array(text.utf8), from: name, to: receiver, as: messageClass)
    }

    @discardableResult
    mutating func send(
        _ body: [UInt8], from name: String, to receiver: String, as messageClass: MessageClass = .reliable
    ) -> Conversation.Sending? {
        let key = key(name, with: receiver)
        guard let (sending, actions) = nodes[name]?.core.send(body, as: messageClass, to: key) else { return nil }
        carryOut(actions, name)
        return sending
    }

    func messages(at name: String) -> [ReceivedMessage] {
        nodes[name]?.events.compactMap { event in
            if case .received(let message) = event { message } else { nil }
        } ?? []
    }

    func texts(at name: String) -> [String] {
        messages(at: name).map { String(decoding: $0.body, as: UTF8.self) }
    }

    func isConnected(_ name: String, to other: String) -> Bool {
        nodes[name]?.core.link(to: id(other)) != nil
    }

    // MARK: Actions

    mutating func act(_ name: String, on id: MeshCore.LinkID, _ body: (inout MeshCore) -> [MeshCore.Action]) {
        guard var node = nodes.removeValue(forKey: name) else { return }
        let actions = body(&node.core)
        nodes[name] = node
        carryOut(actions, name)
    }

    mutating func carryOut(_ actions: [MeshCore.Action], _ name: String) {
        for action in actions {
            switch action {
            case .wake, .heed: break
            case .tell(let id, let event):
                nodes[name]?.events.append(event)
                switch event {
                case .ended(_, let end), .failed(_, _, let end): nodes[name]?.ends[id] = end
                case .received(let message) where message.messageClass == .reliable:
                    guard nodes[name]?.acceptsByItself == true else { continue }
                    act(name, on: id) { $0.accept(upTo: message) }
                default: break
                }
            case .holdReading(let id, let until): nodes[name]?.held[id] = until
            case .close(let id, _): nodes[name]?.closing.insert(id)
            case .forgot(let key): nodes[name]?.forgotten.append(key)
            // There are no relays on this road.
            case .circuitOffered, .circuitEnded: break
            }
        }
    }
}

extension Road {
    mutating func joined() -> MeshCore.LinkID {
        let id = dial()
        settle()
        return id
    }

    /// A channel to the host. A test controls its other end.
    @discardableResult
    mutating func strangerLink(over bearer: BearerKind? = nil) -> MeshCore.LinkID {
        let id = newLink("nobody", "Car")
        let entropy = entropy()
        act("Car", on: id) { [now, sendMTU] in
            $0.opened(id, as: .responder, sendMTU: sendMTU, over: bearer, entropy: entropy, now: now)
        }
        return id
    }

    /// A guest with valid keys sends the host frames that our guests never send.
    mutating func say(_ frames: [Frame], as name: String, on id: MeshCore.LinkID) {
        say(frames.flatMap { Self.bytes($0) }, as: name, on: id)
    }

    mutating func say(_ plaintext: [UInt8], as name: String, on id: MeshCore.LinkID) {
        guard let record = nodes[name]?.core[link: id]?.machine.sealed?.seal(plaintext) else { return }
        give(record, to: "Car", on: id)
    }

    static func bytes(_ frame: Frame) -> [UInt8] {
        var writer = WireWriter()
        frame.write(into: &writer)
        return writer.bytes
    }
}
