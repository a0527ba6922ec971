// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// One conversation with one peer, over one transport.
///
/// A session is started once. When it is stopped or lost it has ended. A new session over a new transport continues
/// where this one broke, if it gets what this one `remembered`. It decides nothing: `MeshCore` does.
public actor MeshCoreSession {
    /// The configuration of a session.
    public struct Configuration: Sendable {
        /// The node's identity. A new one is unknown to all other nodes.
        public var identity: Identity
        /// The person's name for this node.
        public var name: String
        /// The application.
        public var service: ServiceType
        /// The side of the link: initiator or responder.
        public var role: LinkRole
        /// The state that an earlier session remembered, so that no message is lost or counted twice.
        public var remembered: [ConversationKey: MeshCore.Remembered]
        /// Whether a message counts as stored as soon as a listener has read it. If it must be stored first, set this
        /// to false and call `accept`.
        public var acceptsByItself: Bool

        /// A configuration. All values have usable defaults.
        public init(
            identity: Identity = .make(), name: String = "RoadMesh", service: ServiceType = .democracyDJ,
            role: LinkRole = .initiator, remembered: [ConversationKey: MeshCore.Remembered] = [:],
            acceptsByItself: Bool = true
        ) {
            self.identity = identity
            self.name = NodeName(untrusted: name).text
            self.service = service
            self.role = role
            self.remembered = remembered
            self.acceptsByItself = acceptsByItself
        }
    }

    private enum Phase {
        /// Before `start`.
        case idle
        /// `start` is in progress.
        case starting
        /// Messages flow.
        case running
        /// Stopped, lost, or failed to start. Final.
        case over
    }

    private let transport: any MeshTransport
    private let configuration: Configuration
    private let endpoint: MeshEndpoint
    private var phase = Phase.idle
    private var state = ConnectionState.disconnected
    private var link: MeshCore.LinkID?
    private var pump: Task<Void, Never>?
    private var starting: CheckedContinuation<Void, any Error>?
    private var stateListeners: [Int: AsyncStream<ConnectionState>.Continuation] = [:]
    private var eventListeners: [Int: AsyncStream<MeshEvent>.Continuation] = [:]
    private var lastListener = 0
    /// Events that arrived without a listener.
    private var unheard: [MeshEvent] = []

    /// The peer, once connected.
    public private(set) var peer: Peer?

    /// A session over an unused transport.
    public init(transport: any MeshTransport, configuration: Configuration = Configuration()) {
        self.transport = transport
        self.configuration = configuration
        endpoint = MeshEndpoint(
            core: MeshCore(
                identity: configuration.identity, name: configuration.name, service: configuration.service,
                remembered: configuration.remembered))
    }

    // MARK: State and events

    /// The current state at once and every later change, for any number of listeners. The stream ends with the session.
    public nonisolated var connectionState: AsyncStream<ConnectionState> {
        let (stream, listener) = AsyncStream<ConnectionState>.makeStream(
            bufferingPolicy: .bufferingNewest(SessionLimits.sessionStates))
        Task { await self.add(listener) }
        return stream
    }

    /// The events, for any number of listeners. The stream ends when the session is lost or stopped.
    ///
    /// Events before the first listener wait for it. A listener that is `SessionLimits.sessionEvents` behind is cut
    /// off. If it was the last one, the session ends: a message then arrives late, with the next session, instead of
    /// being lost.
    public func events() -> AsyncStream<MeshEvent> {
        let (stream, listener) = AsyncStream<MeshEvent>.makeStream(
            bufferingPolicy: .bufferingOldest(SessionLimits.sessionEvents))
        guard phase != .over else {
            listener.finish()
            return stream
        }
        lastListener += 1
        let number = lastListener
        eventListeners[number] = listener
        listener.onTermination = { _ in Task { await self.removeEventListener(number) } }
        let waiting = unheard
        unheard = []
        for event in waiting {
            listener.yield(event)
            if case .messageReceived(let message) = event { acceptByItself(message) }
        }
        return stream
    }

    /// Whether messages can be sent and received.
    public var isRunning: Bool { phase == .running }

    /// The state that a later session needs to continue (`Configuration.remembered`).
    public var remembered: [ConversationKey: MeshCore.Remembered] {
        get async { await endpoint.remembered }
    }

    // MARK: Starting and stopping

    /// Connects, sends this node's hello, waits for the other side's hello, and begins to receive.
    ///
    /// Throws `MeshTransportError.connectionFailed` if the transport cannot connect or the link breaks,
    /// `MeshCoreError.timeout` if the peer does not answer, `.refused` if the host refuses this node, and
    /// `.sessionOver` if the session was started or stopped before. The session has then ended.
    public func start() async throws {
        guard phase == .idle else { throw MeshCoreError.sessionOver }
        phase = .starting
        show(.connecting)
        do {
            try await withTaskCancellationHandler {
                try await transport.connect()
                guard phase == .starting else { throw MeshCoreError.sessionOver }
                try await introduce()
            } onCancel: {
                Task { await self.stop() }
            }
        } catch {
            if phase == .starting { await fail(error) }
            throw error
        }
    }

    private func introduce() async throws {
        let events = endpoint.events
        pump = Task {
            for await event in events { await self.received(event) }
        }
        link = await endpoint.open(transport, as: configuration.role)
        try await withCheckedThrowingContinuation { continuation in
            switch phase {
            case .starting: starting = continuation
            case .running: continuation.resume()
            case .idle, .over: continuation.resume(throwing: failure ?? MeshCoreError.sessionOver)
            }
        }
    }

    /// Says goodbye and closes the transport. You can call it at any time, again, and from several tasks.
    public func stop() async {
        finish(showing: .disconnected, MeshCoreError.sessionOver)
        // This also applies after a failed start: nothing is pending any more.
        show(.disconnected)
        // A link closes its transport after the goodbye is sent. A dial is cancelled at once.
        if link == nil { await transport.close() }
        await endpoint.stop()
    }

    private func fail(_ error: any Error) async {
        finish(showing: .failed(Self.transportError(error)), error)
        await transport.close()
        await endpoint.stop()
    }

    /// Why the session has ended, for a `start` that has not returned yet.
    private var failure: (any Error)?

    private func finish(showing state: ConnectionState, _ error: any Error) {
        guard phase != .over else { return }
        phase = .over
        failure = error
        starting?.resume(throwing: error)
        starting = nil
        show(state)
        for listener in stateListeners.values { listener.finish() }
        for listener in eventListeners.values { listener.finish() }
        stateListeners = [:]
        eventListeners = [:]
    }

    // MARK: Messages

    /// Sends a message. A reliable one that is unacknowledged at the end of the session is remembered for the next.
    ///
    /// Throws `MeshCoreError.notConnected` before there is a peer, `.sessionOver` if this session has ended, and
    /// `.outboxFull`.
    public func send(_ body: [UInt8], as messageClass: MessageClass = .reliable) async throws {
        guard phase != .over else { throw MeshCoreError.sessionOver }
        guard let peer else { throw MeshCoreError.notConnected }
        switch await endpoint.send(body, as: messageClass, to: peer.id) {
        case .queued: return
        case .noLink: throw MeshCoreError.notConnected
        case .full: throw MeshCoreError.outboxFull
        }
    }

    /// Everything up to this message is stored, so the other side need not send it again. Only if `acceptsByItself` is
    /// false.
    public func accept(_ message: ReceivedMessage) async {
        await endpoint.accept(upTo: message)
    }

    // MARK: The endpoint

    private func received(_ event: EndpointEvent) async {
        switch event {
        case .link(_, .connected(let peer)):
            self.peer = peer
            phase = .running
            show(.connected)
            starting?.resume()
            starting = nil
        case .link(_, .received(let message)): await deliver(message)
        case .link(_, .acknowledged(let number, _)): tell(.acknowledged(upTo: number))
        case .link(_, .ended(_, let end)), .link(_, .failed(_, _, let end)): await ended(end)
        // A session is with the node at the other end of its transport, not with a relay or a node behind it.
        case .link(_, .carrier), .link(_, .route), .link(_, .carrierEnded), .link(_, .askedForRoom): break
        case .link(_, .admitted), .link(_, .guessedWrong), .link(_, .invitationUsed), .link(_, .unansweredProofs),
            .link(_, .latestHasLeft),
            .link(_, .roundTrip), .link(_, .asked), .forgot:
            break
        case .report(_, _, let report): tell(.linkReport(report))
        }
    }

    private func deliver(_ message: ReceivedMessage) async {
        switch tell(.messageReceived(message)) {
        case .taken: acceptByItself(message)
        case .waiting: break
        case .lost: await ended(.linkLost)
        }
    }

    private func acceptByItself(_ message: ReceivedMessage) {
        guard configuration.acceptsByItself else { return }
        Task { await accept(message) }
    }

    private func ended(_ end: LinkEnd) async {
        guard phase == .running else {
            await fail(MeshCoreError.ofStart(end))
            return
        }
        tell(.connectionStateChanged(.disconnected))
        finish(showing: .disconnected, MeshCoreError.sessionOver)
        await transport.close()
    }

    // MARK: Listeners

    private func add(_ listener: AsyncStream<ConnectionState>.Continuation) {
        listener.yield(state)
        guard phase != .over else {
            listener.finish()
            return
        }
        lastListener += 1
        let number = lastListener
        stateListeners[number] = listener
        listener.onTermination = { _ in Task { await self.removeStateListener(number) } }
    }

    private func removeStateListener(_ number: Int) { stateListeners[number] = nil }

    private func removeEventListener(_ number: Int) { eventListeners[number] = nil }

    private func show(_ state: ConnectionState) {
        guard state != self.state else { return }
        self.state = state
        for listener in stateListeners.values { listener.yield(state) }
    }

    private enum Telling {
        case taken, waiting, lost
    }

    @discardableResult
    private func tell(_ event: MeshEvent) -> Telling {
        guard !eventListeners.isEmpty else {
            guard unheard.count < SessionLimits.sessionEvents else { return .lost }
            unheard.append(event)
            return .waiting
        }
        var telling = Telling.lost
        for (number, listener) in eventListeners {
            switch listener.yield(event) {
            case .enqueued: telling = .taken
            default:
                listener.finish()
                eventListeners[number] = nil
            }
        }
        return telling
    }

    private static func transportError(_ error: any Error) -> MeshTransportError {
        error as? MeshTransportError ?? .connectionFailed(reason: "\(error)")
    }
}
