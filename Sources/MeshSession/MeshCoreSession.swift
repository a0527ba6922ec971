// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// One conversation with one peer, over one transport.
///
/// A session is started once, and when it is stopped or lost it is over: a new one over a new transport goes on where it
/// broke, if it is given what this one `remembered`. It decides nothing: `MeshCore` does.
public actor MeshCoreSession {
    /// How a session is set up.
    public struct Configuration: Sendable {
        /// The node's identity. A new one is somebody whom nobody knows.
        public var identity: Identity
        /// What the person calls this node.
        public var name: String
        /// The application.
        public var service: ServiceType
        /// The side of the link: who has dialled, or who was dialled.
        public var role: LinkRole
        /// What an earlier session remembered, so that nothing is lost or counted twice.
        public var remembered: [ConversationKey: MeshCore.Remembered]
        /// Whether a message counts as safe as soon as a listener has taken it. Where it has to be stored first, the
        /// application calls `accept`.
        public var acceptsByItself: Bool

        /// A configuration; what is not named has a value that works.
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
        /// `start` is under way.
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
    /// What has happened while nobody listened.
    private var unheard: [MeshEvent] = []

    /// The peer, once connected.
    public private(set) var peer: Peer?

    /// A session over a transport that was not used yet.
    public init(transport: any MeshTransport, configuration: Configuration = Configuration()) {
        self.transport = transport
        self.configuration = configuration
        endpoint = MeshEndpoint(
            core: MeshCore(
                identity: configuration.identity, name: configuration.name, service: configuration.service,
                remembered: configuration.remembered))
    }

    // MARK: State and events

    /// The current state at once and every change after it, for any number of listeners. It ends when the session is over.
    public nonisolated var connectionState: AsyncStream<ConnectionState> {
        let (stream, listener) = AsyncStream<ConnectionState>.makeStream(
            bufferingPolicy: .bufferingNewest(SessionLimits.sessionStates))
        Task { await self.add(listener) }
        return stream
    }

    /// What happens, for any number of listeners. It ends when the session is lost or stopped.
    ///
    /// What comes before there is a listener waits for the first. A listener that falls behind by
    /// `SessionLimits.sessionEvents` is cut off, and where it was the last the session ends: a message is rather late,
    /// with the next session, than lost.
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

    /// What a later session needs to go on where this one ends (`Configuration.remembered`).
    public var remembered: [ConversationKey: MeshCore.Remembered] {
        get async { await endpoint.remembered }
    }

    // MARK: Starting and stopping

    /// Connects, introduces this node, waits for the other side's introduction, and begins to receive.
    ///
    /// Throws `MeshTransportError.connectionFailed` where the transport cannot connect or the link breaks,
    /// `MeshCoreError.timeout` where nobody answers on it, `.refused` where the host says no, and `.sessionOver` on a
    /// session that was started or stopped before. The session is over then.
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

    /// Says goodbye and closes the transport. Safe at any time, again, and from several tasks.
    public func stop() async {
        finish(showing: .disconnected, MeshCoreError.sessionOver)
        // Of a start that has failed as well: nobody waits for anything any more.
        show(.disconnected)
        // A link closes its transport when the goodbye is out; a dial is given up at once.
        if link == nil { await transport.close() }
        await endpoint.stop()
    }

    private func fail(_ error: any Error) async {
        finish(showing: .failed(Self.transportError(error)), error)
        await transport.close()
        await endpoint.stop()
    }

    /// Why the session is over, for a `start` that has not returned yet.
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

    /// Sends a message. A reliable one that is not acknowledged when the session ends is remembered for the next.
    ///
    /// Throws `MeshCoreError.notConnected` before there is a peer, `.sessionOver` when this session cannot carry it any more,
    /// and `.outboxFull`.
    public func send(_ body: [UInt8], as messageClass: MessageClass = .reliable) async throws {
        guard phase != .over else { throw MeshCoreError.sessionOver }
        guard let peer else { throw MeshCoreError.notConnected }
        switch await endpoint.send(body, as: messageClass, to: peer.id) {
        case .queued: return
        case .noLink: throw MeshCoreError.notConnected
        case .full: throw MeshCoreError.outboxFull
        }
    }

    /// Everything up to this message is safe: the other side need not send it again. Only where `acceptsByItself` is off.
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
        // A session is with the node at the other end of its transport: no relay, and nobody behind one.
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
