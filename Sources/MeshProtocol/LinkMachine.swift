// SPDX-License-Identifier: Apache-2.0

/// A point in a node's time: what has passed since an origin that only its clock knows. It never goes back.
public typealias MeshInstant = Duration

/// Decides everything about one link between two nodes: introduction, admission, liveness, goodbye.
///
/// Events go in, actions come out; an actor owns the channel and carries them out, in order. Time is an argument.
///
///     guest                                   host
///     opened ──► appStart ───────────────────► introduced ──► (admission)
///     connected ◄─────────────── selfInfo ◄── admit()
///     closed ◄────────────────── refusal  ◄── refuse()
public struct LinkMachine: Sendable {
    /// Which side of the link this is.
    public enum Role: Hashable, Sendable {
        /// We dialled: the other side is a host.
        case guest
        /// We accepted: the other side is a guest.
        case host
    }

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// Send this frame, after those before it.
        case send(Frame)
        /// The guest has said who it is: answer with `admit` or `refuse`. Hosts only.
        case introduced(Peer)
        /// The link is up, with this peer.
        case connected(Peer)
        /// Give the application's message to whoever waits for it.
        case deliver([UInt8])
        /// A ping was answered after this time.
        case roundTrip(Duration)
        /// Close the channel once what was sent before is out. Nothing follows.
        case close(LinkEnd)
    }

    private enum State: Hashable, Sendable {
        /// A guest that waits for `selfInfo`, or a host that waits for `appStart`. Goes to any of the others.
        case introducing(until: MeshInstant)
        /// A host that has not answered its guest yet. To `connected` or `ended`.
        case admitting(Peer)
        /// Messages flow. To `ended`.
        case connected(Peer)
        /// Final.
        case ended
    }

    private struct Ping: Sendable {
        var number: UInt32
        var sentAt: MeshInstant
    }

    private let role: Role
    private let introduction: Introduction
    private var state: State
    private var decoder = FrameDecoder()
    /// When the first ping left since something was heard.
    private var askedAt: MeshInstant?
    private var nextPing: MeshInstant
    private var pingNumber: UInt32 = 0
    private var openPings: [Ping] = []

    /// A link whose channel has just opened.
    public init(role: Role, local: Peer, now: MeshInstant) {
        self.role = role
        self.introduction = Introduction(peer: local)
        self.state = .introducing(until: now + Limits.handshakeTimeout)
        self.nextPing = now + Limits.pingInterval
    }

    /// The peer, once messages flow.
    public var connectedPeer: Peer? {
        if case .connected(let peer) = state { peer } else { nil }
    }

    /// When `tick` is due.
    public var deadline: MeshInstant? {
        switch state {
        case .introducing(let until): until
        case .connected: askedAt.map { min(nextPing, $0 + Limits.pongTimeout) } ?? nextPing
        case .admitting, .ended: nil
        }
    }

    /// The channel has opened.
    public mutating func opened() -> [Action] {
        switch role {
        case .guest: [.send(.appStart(introduction))]
        case .host: []
        }
    }

    /// An SDU has arrived.
    public mutating func received(_ sdu: [UInt8], now: MeshInstant) -> [Action] {
        guard state != .ended else { return [] }
        askedAt = nil
        decoder.append(sdu)
        var actions: [Action] = []
        while state != .ended {
            switch decoder.next() {
            case .frame(let frame): actions += received(frame, now: now)
            case .skipped: continue
            case .malformed(let type): actions += end(.misbehaved(.malformedFrame(type: type)))
            case .incomplete: return actions
            }
        }
        return actions
    }

    /// The host takes the guest in.
    public mutating func admit() -> [Action] {
        guard case .admitting(let peer) = state else { return [] }
        state = .connected(peer)
        return [.send(.selfInfo(introduction)), .connected(peer)]
    }

    /// The host does not take the guest in.
    public mutating func refuse(_ reason: RefusalReason) -> [Action] {
        guard case .admitting = state else { return [] }
        return [.send(.refusal(reason))] + end(.refused(reason))
    }

    /// Time has passed: see `deadline`.
    public mutating func tick(now: MeshInstant) -> [Action] {
        switch state {
        case .introducing(let until): return now >= until ? end(.handshakeTimeout) : []
        case .connected: return keepAlive(now: now)
        case .admitting, .ended: return []
        }
    }

    /// Pings go on while earlier ones wait: on a crowded link an answer may take seconds, and each ping is a sign of life
    /// for the other side. Only an unanswered ping makes silence mean something: who was not asked need not answer.
    private mutating func keepAlive(now: MeshInstant) -> [Action] {
        if let askedAt, now >= askedAt + Limits.pongTimeout { return end(.silent) }
        guard now >= nextPing else { return [] }
        nextPing = now + Limits.pingInterval
        askedAt = askedAt ?? now
        pingNumber &+= 1
        openPings.append(Ping(number: pingNumber, sentAt: now))
        if openPings.count > Limits.openPings { openPings.removeFirst() }
        return [.send(.ping(pingNumber))]
    }

    /// This side leaves.
    public mutating func leave() -> [Action] {
        switch state {
        case .ended: []
        case .introducing, .admitting, .connected: [.send(.goodbye)] + end(.left)
        }
    }

    /// The host sends a guest away that it had taken in.
    public mutating func sendAway(_ reason: RefusalReason) -> [Action] {
        guard case .connected = state else { return [] }
        return [.send(.refusal(reason))] + end(.refused(reason))
    }

    /// Nothing was read from the channel up to now because this side did not read: the other side was not silent.
    public mutating func heardNothingByChoice(now: MeshInstant) {
        askedAt = nil
        nextPing = now + Limits.pingInterval
    }

    /// The channel has failed or was closed under us.
    public mutating func channelClosed() -> [Action] {
        state == .ended ? [] : end(.linkLost)
    }

    private mutating func received(_ frame: Frame, now: MeshInstant) -> [Action] {
        switch (state, frame) {
        case (.introducing, .appStart(let theirs)) where role == .host:
            state = .admitting(theirs.peer)
            guard theirs.version == ProtocolVersion.current else { return refuse(.version) }
            return [.introduced(theirs.peer)]
        case (.introducing, .selfInfo(let theirs)) where role == .guest:
            guard theirs.version == ProtocolVersion.current else { return end(.refused(.version)) }
            state = .connected(theirs.peer)
            return [.connected(theirs.peer)]
        case (.introducing, .refusal(let reason)) where role == .guest,
            (.connected, .refusal(let reason)) where role == .guest:
            return end(.refused(reason))
        case (.connected, .message(let body)): return [.deliver(body)]
        case (.connected, .ping(let number)): return [.send(.pong(number))]
        case (.connected, .pong(let number)):
            guard let index = openPings.firstIndex(where: { $0.number == number }) else { return [] }
            let ping = openPings[index]
            openPings.removeFirst(index + 1)
            return [.roundTrip(now - ping.sentAt)]
        case (_, .goodbye): return end(.goodbye)
        default: return end(.misbehaved(.unexpectedFrame))
        }
    }

    private mutating func end(_ reason: LinkEnd) -> [Action] {
        state = .ended
        return [.close(reason)]
    }
}

/// Why a link has ended.
public enum LinkEnd: Hashable, Sendable {
    /// We left, and said so.
    case left
    /// The other side left, and said so.
    case goodbye
    /// The host did not take the guest in.
    case refused(RefusalReason)
    /// The same peer came in by a newer link.
    case replaced
    /// The channel broke: out of reach, or the other program died.
    case linkLost
    /// The channel stands, but nobody answers on it.
    case silent
    /// The channel opened, but nobody introduced itself.
    case handshakeTimeout
    /// The other side broke the protocol.
    case misbehaved(Misbehaviour)

    /// How a peer breaks the protocol.
    public enum Misbehaviour: Hashable, Sendable {
        /// A frame that lacks what its type needs.
        case malformedFrame(type: UInt8)
        /// A good frame at the wrong time or from the wrong side.
        case unexpectedFrame
    }
}
