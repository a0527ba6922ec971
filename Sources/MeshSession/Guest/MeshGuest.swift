// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// A guest that finds its host, connects, and reconnects automatically after each gap.
///
/// Messages of both sides arrive once and in order, across all gaps. `GuestMachine` makes the decisions, and this actor
/// performs the actions.
public actor MeshGuest {
    /// The configuration of a guest.
    public struct Configuration: Sendable {
        /// The node's identity. A new one is unknown to all other nodes.
        public var identity: Identity
        /// The person's name for this node.
        public var name: String
        /// The application.
        public var service: ServiceType
        /// The identifier of the host, or the first digits of it. Nil for the first host that is found. After the first
        /// connection the guest returns to the same host only.
        public var host: Peer.ID?
        /// The state that an earlier guest with this identity remembered.
        public var remembered: [ConversationKey: MeshCore.Remembered]
        /// The name of the host, as a person types it. Set this if the identifier is not known. The guest takes the
        /// first host with this name.
        public var hostName: String?
        /// The secret that this guest can prove, such as a PIN.
        public var secret: JoiningSecret?
        /// Whether this guest may join its host through relays of the same service.
        public var usesRelays = false
        /// The time without a host after which the guest ends with `MeshCoreError.unreachable`. Nil for no limit.
        public var patience: Duration?

        /// Creates a configuration. All values except the service have usable defaults.
        public init(
            name: String = "RoadMesh", service: ServiceType, identity: Identity = .make(), host: Peer.ID? = nil,
            remembered: [ConversationKey: MeshCore.Remembered] = [:], patience: Duration? = nil
        ) {
            self.identity = identity
            self.name = NodeName(untrusted: name).text
            self.service = service
            self.host = host
            self.remembered = remembered
            self.patience = patience
        }
    }

    private let discovery: any MeshDiscovery
    let endpoint: MeshEndpoint
    private let patience: Duration?
    private let logger: Logger
    var machine: GuestMachine
    /// The hosts and relays in range, each by the head of its own identifier.
    private var hosts: [Peer.ID: FoundHost] = [:]
    private let hostName: NodeName?
    private let usesRelays: Bool
    /// Ends the wait for a shorter route.
    private var choosing: Task<Void, Never>?
    /// The links to the host and to the relay next to this node.
    var route = GuestPath()
    private var inbox = GuestInbox()
    private var states = ConnectionStates()
    /// Senders that wait for the first connection.
    private var waitingForHost: [Int: CheckedContinuation<Peer.ID, any Error>] = [:]
    private var lastWaiting = 0
    private var pumps: [Task<Void, Never>] = []
    private var dialling: (transport: any MeshTransport, alarm: Task<Void, Never>)?
    private var pausing: Task<Void, Never>?
    private var waitingForPatience: Task<Void, Never>?
    /// Requests to browse or to stop it, which must not overtake each other.
    private var browsing: Task<Void, Never>?

    /// The host. Nil until this node has been connected to it once.
    public private(set) var host: Peer?

    /// Creates a guest that finds its host with a discovery, such as a `BearerManager`. The guest must be the only user
    /// of the discovery, and closes it at the end.
    public init(
        on discovery: some MeshDiscovery, configuration: Configuration,
        logger: Logger = Logger(label: "roadmesh.guest")
    ) {
        self.discovery = discovery
        self.logger = logger
        patience = configuration.patience
        machine = GuestMachine(wanted: configuration.host)
        hostName = configuration.hostName.map { NodeName(untrusted: $0) }
        usesRelays = configuration.usesRelays
        var core = MeshCore(
            identity: configuration.identity, name: configuration.name, service: configuration.service,
            remembered: configuration.remembered)
        core.secret = configuration.secret
        endpoint = MeshEndpoint(core: core, logger: logger)
    }

    // MARK: State and messages

    /// A stream of the current state and every later change, for any number of listeners. The stream ends with the
    /// guest.
    public var connectionState: AsyncStream<ConnectionState> { states.stream() }

    /// The state that a later guest needs to continue (`Configuration.remembered`).
    public var remembered: [ConversationKey: MeshCore.Remembered] {
        get async { await endpoint.remembered }
    }

    /// The messages of the host, for one listener. Throws `MeshCoreError.alreadyListening` at a second request.
    ///
    /// A message is acknowledged when the listener asks for the next one. The stream ends when the host says goodbye or
    /// this guest stops. It throws `MeshCoreError.unreachable` if no host was reached within the patience, and
    /// `.refused` if the host rejects this node.
    public var messages: AsyncThrowingStream<ReceivedMessage, any Error> {
        get throws(MeshCoreError) {
            guard inbox.begin() else { throw .alreadyListening }
            return AsyncThrowingStream { [weak self] in try await self?.nextMessage() }
        }
    }

    private func nextMessage() async throws -> ReceivedMessage? {
        await acceptLast()
        while true {
            if let message = inbox.next() { return message }
            if let end = inbox.end { return try end.get() }
            try Task.checkCancellation()
            await withTaskCancellationHandler {
                await withCheckedContinuation { (reader: CheckedContinuation<Void, Never>) in
                    if Task.isCancelled { reader.resume() } else { inbox.wait(reader) }
                }
            } onCancel: {
                Task { await self.stopReading() }
            }
        }
    }

    private func stopReading() { inbox.wakeReader() }

    private func acceptLast() async {
        if let message = inbox.processed() { await endpoint.accept(upTo: message) }
    }

    // MARK: Starting and stopping

    /// Starts to look for the host, and returns at once. Throws if the radio cannot look for hosts, and
    /// `MeshCoreError.alreadyStarted`, or `.sessionOver` after `stop`.
    public func start() async throws {
        guard inbox.end == nil else { throw MeshCoreError.sessionOver }
        guard machine.isIdle else { throw MeshCoreError.alreadyStarted }
        let events = try await endpoint.events
        let discoveries = discovery.discoveries
        pumps = [
            Task { for await event in events { await self.received(event) } },
            Task { for await event in discoveries { self.received(event) } },
        ]
        let actions = machine.start()
        do {
            try await discovery.startBrowsing()
        } catch {
            perform(machine.finish(nil))
            await stop()
            throw error
        }
        perform(actions)
    }

    /// Says goodbye to the host, closes the discovery, and ends all streams. Messages that the host has not
    /// acknowledged are remembered. You can call it again.
    public func stop() async {
        perform(machine.finish(nil))
        await endpoint.stop()
        await discovery.close()
        for pump in pumps { await pump.value }
    }

    /// Starts, runs a closure with the host's messages, and stops, also if the closure throws.
    ///
    /// If the closure returns, the last message that it has read counts as processed, and the guest waits up to
    /// `SessionLimits.flush` until the host has acknowledged all messages.
    public nonisolated(nonsending) func executeThenClose<Result>(
        _ body: nonisolated(nonsending) (AsyncThrowingStream<ReceivedMessage, any Error>) async throws -> Result
    ) async throws -> Result {
        let messages = try await messages
        try await start()
        do {
            let result = try await body(messages)
            await acceptLast()
            await endpoint.flush()
            await stop()
            return result
        } catch {
            await stop()
            throw error
        }
    }

    // MARK: Sending

    /// Sends a message to the host. It waits for the first connection, and while the outbox is full. A reliable message
    /// then waits in the outbox for as long as a gap lasts.
    ///
    /// Throws `MeshCoreError.tooLong`, `.sessionOver` or the guest's error if it ends, `.notConnected` for a message of
    /// class `latest` during a gap, and `CancellationError`. After an error the message is not sent.
    public func send(_ body: [UInt8], as messageClass: MessageClass = .reliable) async throws {
        try await endpoint.send(body, as: messageClass, to: receiver())
    }

    /// Sends a message without waiting. Throws the errors of `send`, `MeshCoreError.notConnected` before the first
    /// connection, and `.outboxFull`.
    public func trySend(_ body: [UInt8], as messageClass: MessageClass = .reliable) async throws {
        if let reason = inbox.reason { throw reason }
        guard let host else { throw MeshCoreError.notConnected }
        let sending = await endpoint.trySend(body, as: messageClass, to: host.id)
        if let error = MeshCoreError(sending, bytes: body.count) { throw error }
    }

    private func receiver() async throws -> Peer.ID {
        if let reason = inbox.reason { throw reason }
        if let host { return host.id }
        lastWaiting += 1
        let number = lastWaiting
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiting: CheckedContinuation<Peer.ID, any Error>) in
                guard !Task.isCancelled else { return waiting.resume(throwing: CancellationError()) }
                waitingForHost[number] = waiting
            }
        } onCancel: {
            Task { await self.stopWaiting(number) }
        }
    }

    private func stopWaiting(_ number: Int) {
        waitingForHost.removeValue(forKey: number)?.resume(throwing: CancellationError())
    }

    // MARK: Events

    private func received(_ discovery: Discovery) {
        switch discovery {
        case .found(let host): found(host)
        case .lost(let peer): hosts[peer.id] = nil
        case .accepted(let transport, _): Task { await transport.close() }
        }
    }

    private func found(_ host: FoundHost) {
        guard isPerhapsMeant(host) else { return }
        hosts[host.relay ?? host.peer.id] = host
        guard host.relay != nil else { return perform(machine.found(host.peer.id)) }
        guard choosing == nil, machine.isBrowsing else { return }
        choosing = Task {
            try? await Task.sleep(for: SessionLimits.relayPause)
            self.chooseRelay()
        }
    }

    private func isPerhapsMeant(_ found: FoundHost) -> Bool {
        guard usesRelays || found.relay == nil else { return false }
        guard host == nil, let name = hostName else { return true }
        // An advertisement has room for the beginning of a name.
        return [name.text, name.advertised, name.advertisedByRelay].contains {
            TypedName.isMeant(found.peer.name, by: $0)
        }
    }

    /// Dials the relay with the fewest hops to the host, because the host itself was not found for some time.
    private func chooseRelay() {
        choosing = nil
        let relays = hosts.values.compactMap { host in host.relay.map { (relay: $0, host: host) } }
        guard let best = relays.min(by: { ($0.host.hops, $0.relay) < ($1.host.hops, $1.relay) }) else { return }
        perform(machine.found(best.host.peer.id, behind: best.relay))
    }

    private func received(_ event: EndpointEvent) async {
        guard case .link(let id, let event) = event else { return }
        switch event {
        case .carrier(let relay, let route):
            await openCircuit(on: id, of: relay, route)
        case .carrierEnded:
            guard route.carrier == id else { return }
            route.carrierEnded()
            endDial()
            perform(machine.failed(nil))
        case .connected(let peer):
            endDial()
            route.connected(id)
            host = peer
            perform(machine.connected(peer.id))
            for waiting in waitingForHost.values { waiting.resume(returning: peer.id) }
            waitingForHost = [:]
        case .received(let message):
            while !inbox.hasRoom { await withCheckedContinuation { inbox.waitForRoom($0) } }
            inbox.append(message)
        case .ended(_, let end):
            if end != .replaced { await leaveCarrier() }
            perform(machine.lost(end))
        case .failed(_, _, let end):
            endDial()
            await leaveCarrier()
            perform(machine.failed(end))
        default: break
        }
    }

    // MARK: Actions of the machine

    private func perform(_ actions: [GuestMachine.Action]) {
        for action in actions {
            switch action {
            case .browse: browse(true)
            case .stopBrowsing: browse(false)
            case .dial(let node, let expected): dial(node, expecting: expected, within: SessionLimits.guestDial)
            case .redial(let node, let expected): dial(node, expecting: expected, within: SessionLimits.guestRedial)
            case .pause(let time):
                pausing = Task {
                    try? await Task.sleep(for: time)
                    if !Task.isCancelled { self.perform(self.machine.resumed()) }
                }
            case .beginPatience: beginPatience()
            case .endPatience: waitingForPatience?.cancel()
            case .show(let state): states.show(state)
            case .end(let error): end(error)
            }
        }
    }

    private func browse(_ isWanted: Bool) {
        let before = browsing
        browsing = Task {
            await before?.value
            do {
                if isWanted { try await discovery.startBrowsing() } else { await discovery.stopBrowsing() }
            } catch {
                // When the radio works again, it reports the hosts again.
                logger.debug("hosts cannot be looked for: \(error)")
            }
        }
    }

    private func beginPatience() {
        waitingForPatience?.cancel()
        guard let patience else { return }
        waitingForPatience = Task {
            try? await Task.sleep(for: patience)
            if !Task.isCancelled { self.perform(self.machine.patienceIsOver()) }
        }
    }

    private func dial(_ head: Peer.ID, expecting expected: Peer.ID?, within limit: Duration) {
        guard let transport = hosts[head]?.transport(expecting: expected) else {
            return perform(machine.failed(nil))
        }
        // If a host has restarted with another address, only a new scan finds it.
        let alarm = Task {
            try? await Task.sleep(for: limit)
            if !Task.isCancelled { await transport.close() }
        }
        dialling = (transport, alarm)
        Task {
            do {
                try await transport.connect()
                try await endpoint.open(transport, as: .initiator)
            } catch {
                logger.debug("a dial has failed: \(error)")
                hosts[head] = nil
                endDial()
                perform(machine.failed(nil))
            }
        }
    }

    private func endDial() {
        dialling?.alarm.cancel()
        dialling = nil
    }

    private func end(_ error: MeshCoreError?) {
        pausing?.cancel()
        choosing?.cancel()
        if let transport = dialling?.transport { Task { await transport.close() } }
        endDial()
        inbox.finish(error)
        states.finish()
        for waiting in waitingForHost.values { waiting.resume(throwing: error ?? .sessionOver) }
        waitingForHost = [:]
        // Fails the senders that wait for room, and closes a dial that succeeds late.
        Task { await endpoint.stop() }
    }
}

/// Runs a closure with a guest that looks for its host with a discovery, and with the host's messages. Afterwards the
/// guest stops (`MeshGuest.executeThenClose`).
public nonisolated(nonsending) func withGuest<Result>(
    on discovery: some MeshDiscovery, configuration: MeshGuest.Configuration,
    _ body: nonisolated(nonsending) (MeshGuest, AsyncThrowingStream<ReceivedMessage, any Error>) async throws -> Result
) async throws -> Result {
    let guest = MeshGuest(on: discovery, configuration: configuration)
    return try await guest.executeThenClose { messages in try await body(guest, messages) }
}
