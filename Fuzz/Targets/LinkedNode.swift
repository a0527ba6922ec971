// SPDX-License-Identifier: Apache-2.0

@testable import MeshProtocol

/// A node with one link, and the events that it has reported. Checks each action of the node against the invariants
/// that hold on any link, with any peer.
struct LinkedNode {
    static let link: MeshCore.LinkID = 1

    var core: MeshCore
    let publicKey: [UInt8]
    let role: LinkRole
    /// The peer, once the link is up.
    private(set) var peer: Peer?
    /// The conversation with the peer.
    var key: ConversationKey? { peer.map { core.key($0.id, as: role) } }
    private(set) var end: LinkEnd?
    private(set) var heldUntil: MeshInstant?
    /// The numbers of the last messages that the application received.
    private(set) var lastReliable: ReceivedMessage?
    private var lastLatest: UInt64 = 0
    private var lastAcknowledged: UInt64 = 0
    private(set) var now: MeshInstant = .zero
    /// The application's received bytes, by class.
    private(set) var bodies: [MessageClass: [[UInt8]]] = [:]

    init(_ role: LinkRole, seed: UInt8, remembered: [ConversationKey: MeshCore.Remembered] = [:]) throws {
        self.role = role
        let identity = try Self.identity(seed)
        publicKey = identity.publicKey
        core = MeshCore(
            identity: identity, name: role == .responder ? "Car" : "Ana", service: .democracyDJ,
            remembered: remembered)
    }

    static func identity(_ seed: UInt8) throws -> Identity {
        guard let identity = Identity(stored: [UInt8](repeating: seed, count: Identity.storedBytes)) else {
            throw BrokenPromise(description: "any 32 bytes are a private key")
        }
        return identity
    }

    // MARK: Events

    mutating func open(expecting expected: Peer.ID? = nil, entropy: UInt8) throws {
        let entropy = MeshCore.Entropy([UInt8](repeating: entropy, count: MeshCore.Entropy.byteCount))
        try act { [role, now] in
            $0.opened(
                Self.link, as: role, sendMTU: Limits.sduBytes, expected: expected, entropy: entropy, now: now)
        }
    }

    /// An SDU arrives. Nothing is read from a paused link, so the pause passes first.
    mutating func receive(_ sdu: [UInt8]) throws {
        if let until = heldUntil {
            now = max(now, until)
            heldUntil = nil
            core.heardNothingByChoice(on: Self.link, now: now)
        }
        try act { [now] in $0.received(sdu, on: Self.link, now: now) }
    }

    mutating func pass(_ time: Duration) throws {
        now += time
        for _ in 0..<8 {
            guard let due = core.deadline(of: Self.link), due <= now else { return }
            try act { [now] in $0.tick(Self.link, now: now) }
        }
        try invariant(false, "a timer fires eight times at one time")
    }

    mutating func send(_ body: [UInt8], as messageClass: MessageClass) throws {
        guard let key else { return }
        try act { $0.send(body, as: messageClass, to: key).1 }
    }

    /// Reports all received messages as stored.
    mutating func accept() throws {
        guard let message = lastReliable else { return }
        try act { $0.accept(upTo: message) }
    }

    mutating func act(_ body: (inout MeshCore) -> [MeshCore.Action]) throws {
        for action in body(&core) { try carryOut(action) }
        try isBounded()
    }

    /// The SDUs that the node sends now.
    mutating func drain() throws -> [[UInt8]] {
        var sdus: [[UInt8]] = []
        while let (sdu, actions) = core.nextSDU(for: Self.link, limit: Limits.sduBytes) {
            try invariant(!sdu.isEmpty && sdu.count <= Limits.sduBytes, "an SDU has 1 to 2,221 bytes")
            sdus.append(sdu)
            try invariant(sdus.count < 2_048, "a link sends fewer than 2,048 SDUs at once")
            for action in actions { try carryOut(action) }
        }
        return sdus
    }

    // MARK: What must hold

    private mutating func carryOut(_ action: MeshCore.Action) throws {
        switch action {
        case .wake(let id): try invariant(id == Self.link, "there is one link")
        case .tell(let id, let event):
            try invariant(id == Self.link, "there is one link")
            try invariant(end == nil, "\(event) after the link has ended with \(String(describing: end))")
            try take(event)
        case .heed(let id, let note):
            try invariant(id == Self.link && end == nil, "a note concerns the link, which is up")
            try invariant(
                [note.intervals?.brisk, note.intervals?.calm].compactMap(\.self).allSatisfy(
                    Limits.intervalUnits.contains), "intervals are within their bounds")
        case .holdReading(_, let until):
            // A record full of frames, after earlier ones at the highest rate.
            try invariant(until > now && until < now + .seconds(4), "\(until) is a pause at \(now)")
            heldUntil = until
        case .close: try invariant(end != nil, "a channel is closed without a reason")
        case .circuitOffered, .circuitEnded: try invariant(false, "this node accepts no circuits")
        case .forgot(let peer): try invariant(false, "\(peer) is forgotten while there is room for many")
        }
    }

    private mutating func take(_ event: LinkEvent) throws {
        switch event {
        case .asked: try invariant(false, "this node is neither a carrier nor in a circuit")
        case .admitted: try invariant(self.peer == nil, "a link is admitted only before it is up")
        case .connected(let peer):
            try invariant(self.peer == nil, "a link connects once")
            self.peer = peer
        case .received(let message): try take(message)
        case .acknowledged(let number, let key):
            try invariant(key == self.key, "a peer acknowledges only its own messages")
            try invariant(number > lastAcknowledged, "\(number) was acknowledged before")
            lastAcknowledged = number
        case .ended(let peer, let end):
            try invariant(peer == self.peer, "only a connected peer can disconnect")
            self.end = end
        case .failed(_, _, let end): self.end = end
        case .guessedWrong, .invitationUsed, .unansweredProofs: try invariant(false, "this node has no PIN")
        case .carrier, .route, .carrierEnded: try invariant(false, "this node is no relay and behind none")
        case .probed: try invariant(false, "this node probes no relay")
        case .latestHasLeft, .roundTrip, .askedForRoom: try invariant(peer != nil, "\(event) before the link is up")
        }
    }

    private mutating func take(_ message: ReceivedMessage) throws {
        try invariant(message.peer == peer?.id, "only a connected peer sends messages")
        try invariant(message.body.count <= Limits.messageBytes, "a message has \(message.body.count) bytes")
        bodies[message.messageClass, default: []].append(message.body)
        switch message.messageClass {
        case .reliable:
            let isNext = lastReliable.map { message.number == $0.number + 1 } ?? true
            try invariant(isNext, "\(message.number) comes after \(String(describing: lastReliable?.number))")
            lastReliable = message
        case .latest:
            try invariant(message.number > lastLatest, "an old state update is delivered")
            lastLatest = message.number
        }
    }

    private func isBounded() throws {
        let misbehaved = core.misbehaviours.values.reduce(0, +)
        if case .misbehaved = end {
            try invariant(misbehaved == 1, "misbehaviour is counted once")
        } else {
            try invariant(misbehaved == 0, "misbehaviour ends a link, but \(core.misbehaviours) was counted")
        }
        try invariant((end != nil) == (core.deadline(of: Self.link) == nil), "a link has a deadline until it ends")
        try invariant(core.footprint.halfOpenLinks <= 1, "there is one link")
        if let key, let conversation = core.conversation(key) {
            try invariant(conversation.unacknowledged <= Limits.outboxMessages, "an outbox is full at 512")
        }
    }
}
