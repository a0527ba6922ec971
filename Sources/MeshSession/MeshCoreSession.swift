// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// One conversation with one peer, over one transport.
///
/// A session is started once, and ends when it is stopped or lost. A new session over a new transport continues the
/// conversation if it gets this session's `remembered` state. `MeshCore` makes all decisions.
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

        /// Creates a configuration. All values have usable defaults.
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
        /// The state before `start`.
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
    private var lastListener = 0
    private var listeners = SessionListeners()
    /// The task that reads the endpoint, while it waits for a listener to catch up.
    private var waitingForRoom: CheckedContinuation<Void, Never>?

    /// The peer. Nil before the connection.
    public private(set) var peer: Peer?

    /// Creates a session over an unused transport.
    public init(transport: any MeshTransport, configuration: Configuration = Configuration()) {
        self.transport = transport
        self.configuration = configuration
        endpoint = MeshEndpoint(
            core: MeshCore(
                identity: configuration.identity, name: configuration.name, service: configuration.service,
                remembered: configuration.remembered))
    }

    // MARK: State and events

    /// A stream of the current state and every later change, for any number of listeners. The stream ends with the
    /// session.
    public nonisolated var connectionState: AsyncStream<ConnectionState> {
        let (stream, listener) = AsyncStream<ConnectionState>.makeStream(
            bufferingPolicy: .bufferingNewest(SessionLimits.sessionStates))
        Task { await self.add(listener) }
        return stream
    }

    /// The events, for any number of listeners. The stream ends when the session is lost or stopped.
    ///
    /// Events before the first listener wait for it. If the only listener is `SessionLimits.sessionEvents` messages
    /// behind, the link is not read until the listener catches up, and the peer waits. With several listeners, the link
    /// waits only for the fastest. A listener that falls this far behind the fastest one ends with `.listenerTooSlow`.
    public func events() -> AsyncStream<MeshEvent> {
        let listener = ReleasedStream(listeners.add()) { [weak self] number in
            Task { await self?.removeListener(number) }
        }
        return AsyncStream { [weak self] in await self?.nextEvent(for: listener.number) }
    }

    private func nextEvent(for number: Int) async -> MeshEvent? {
        if let event = listeners.next(number) { return read(event) }
        let event = await withTaskCancellationHandler {
            await waitForEvent(number)
        } onCancel: {
            Task { await self.stopWaiting(number) }
        }
        return read(event)
    }

    private func waitForEvent(_ number: Int) async -> MeshEvent? {
        await withCheckedContinuation { reader in
            if Task.isCancelled { reader.resume(returning: nil) } else { listeners.wait(number, reader) }
        }
    }

    private func read(_ event: MeshEvent?) -> MeshEvent? {
        makeRoom()
        if case .messageReceived(let message) = event, configuration.acceptsByItself {
            Task { await accept(message) }
        }
        return event
    }

    private func stopWaiting(_ number: Int) { listeners.stopWaiting(number) }

    private func removeListener(_ number: Int) {
        listeners.remove(number)
        makeRoom()
    }

    private func makeRoom() {
        guard listeners.hasRoom else { return }
        waitingForRoom?.resume()
        waitingForRoom = nil
    }

    private func waitForRoom() async {
        while !listeners.hasRoom { await withCheckedContinuation { waitingForRoom = $0 } }
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
    /// `CancellationError` if the task is cancelled. The session has then ended. Throws `MeshCoreError.alreadyStarted`
    /// if the session was started before, and `.sessionOver` if it has ended.
    public func start() async throws {
        guard phase != .over else { throw MeshCoreError.sessionOver }
        guard phase == .idle else { throw MeshCoreError.alreadyStarted }
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
            try Task.checkCancellation()
            throw error
        }
    }

    private func introduce() async throws {
        let events = try await endpoint.events
        pump = Task {
            for await event in events { await self.received(event) }
        }
        link = try await endpoint.open(transport, as: configuration.role)
        try await withCheckedThrowingContinuation { continuation in
            switch phase {
            case .starting: starting = continuation
            case .running: continuation.resume()
            case .idle, .over: continuation.resume(throwing: failure ?? MeshCoreError.sessionOver)
            }
        }
    }

    /// Says goodbye and closes the transport. You can call it at any time, repeatedly, and from several tasks.
    public func stop() async {
        finish(showing: .disconnected, MeshCoreError.sessionOver)
        // This is also correct after a failed start, because nothing is pending any more.
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
        stateListeners = [:]
        listeners.finish()
        makeRoom()
    }

    /// Starts, runs a closure with the session's events, and stops, also if the closure throws. If the closure returns,
    /// the session first waits up to `SessionLimits.flush` until the peer has acknowledged all messages.
    public nonisolated(nonsending) func executeThenClose<Result>(
        _ body: nonisolated(nonsending) (AsyncStream<MeshEvent>) async throws -> Result
    ) async throws -> Result {
        try await start()
        do {
            let result = try await body(await events())
            await endpoint.flush()
            await stop()
            return result
        } catch {
            await stop()
            throw error
        }
    }

    // MARK: Messages

    /// Sends a message, and waits while the outbox is full (`Limits.outboxMessages`, `Limits.outboxBytes`). A reliable
    /// message that is unacknowledged at the end of the session is remembered for the next.
    ///
    /// Throws `MeshCoreError.notConnected` before the connection, `.sessionOver` if this session has ended or ends
    /// while the message waits, `.tooLong`, and `CancellationError` if the task is cancelled while it waits. After an
    /// error the message is not sent.
    public func send(_ body: [UInt8], as messageClass: MessageClass = .reliable) async throws {
        try await endpoint.send(body, as: messageClass, to: receiver())
    }

    /// Sends a message without waiting for room. Throws the errors of `send`, and `MeshCoreError.outboxFull`.
    public func trySend(_ body: [UInt8], as messageClass: MessageClass = .reliable) async throws {
        let sending = await endpoint.trySend(body, as: messageClass, to: try receiver())
        if let error = MeshCoreError(sending, bytes: body.count) { throw error }
    }

    private func receiver() throws(MeshCoreError) -> Peer.ID {
        guard phase != .over else { throw .sessionOver }
        guard let peer else { throw .notConnected }
        return peer.id
    }

    /// Reports that the application has stored all messages up to this one, so that the peer does not send them again.
    /// Call this only if `acceptsByItself` is false.
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
        case .link(_, .received(let message)):
            await waitForRoom()
            listeners.deliver(.messageReceived(message))
        case .link(_, .acknowledged(let number, _)): listeners.deliver(.acknowledged(upTo: number))
        case .link(_, .ended(_, let end)), .link(_, .failed(_, _, let end)): await ended(end)
        // A session connects only the two ends of its transport. It uses no relays and no circuits.
        case .link(_, .carrier), .link(_, .route), .link(_, .carrierEnded), .link(_, .askedForRoom): break
        case .link(_, .admitted), .link(_, .guessedWrong), .link(_, .invitationUsed), .link(_, .unansweredProofs),
            .link(_, .latestHasLeft),
            .link(_, .roundTrip), .link(_, .probed), .link(_, .asked), .forgot:
            break
        case .report(_, _, let report): listeners.deliver(.linkReport(report))
        }
    }

    private func ended(_ end: LinkEnd) async {
        guard phase == .running else {
            await fail(MeshCoreError.ofStart(end))
            return
        }
        listeners.deliver(.connectionStateChanged(.disconnected))
        finish(showing: .disconnected, MeshCoreError.sessionOver)
        await transport.close()
        // Messages that wait for room are not sent.
        await endpoint.stop()
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

    private func show(_ state: ConnectionState) {
        guard state != self.state else { return }
        self.state = state
        for listener in stateListeners.values { listener.yield(state) }
    }

    private static func transportError(_ error: any Error) -> MeshTransportError {
        let isTimeout = error as? MeshCoreError == .timeout
        return error as? MeshTransportError ?? .failed(isTimeout ? .unreachable : .other, "\(error)")
    }
}
