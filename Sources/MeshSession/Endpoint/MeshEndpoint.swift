// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// One node's end of all its links. It performs the actions of `MeshCore` over transports.
///
/// Each link has a reader, a writer and a timer. Their events go to the core. One listener receives the results in
/// order. A slow listener delays the peers, but does not use more memory.
public actor MeshEndpoint {
    var core: MeshCore
    package let logger: Logger
    let origin = ContinuousClock.now
    package var carriers: [MeshCore.LinkID: LinkCarrier] = [:]
    var links: [MeshCore.LinkID: EndpointLink] = [:]
    private var lastLink: MeshCore.LinkID = 0

    /// The stream has no limit of its own. The links' readers pause when `SessionLimits.endpointEvents` events are
    /// unread.
    private let sink: AsyncStream<EndpointEvent>.Continuation
    private let pulled: PulledEvents<AsyncStream<EndpointEvent>.AsyncIterator>
    /// Events that the listener has not read yet.
    private var outstanding = 0
    private var waitingForRoom: [CheckedContinuation<Void, Never>] = []
    private(set) var isStopped = false
    var hasListener = false
    /// Messages that wait for room in an outbox.
    var waitingSends = WaitingSends()
    /// Callers that wait until everything is acknowledged.
    var flushing: [Int: CheckedContinuation<Void, Never>] = [:]
    /// Pings and probes that wait for their answers.
    var measurements = Measurements()
    /// The state that `peerEvents` has reported.
    var reported = ReportedPeers()
    /// The discoveries on which this endpoint hosts, each with the task that accepts its guests.
    var hosting: [(discovery: any MeshDiscovery, task: Task<Void, Never>)] = []

    /// Creates the endpoint of one node. It sends messages immediately; it does not wait until they are stored.
    public init(core: MeshCore, logger: Logger = Logger(label: "roadmesh.endpoint")) {
        self.core = core
        self.logger = logger
        let (stream, sink) = AsyncStream<EndpointEvent>.makeStream()
        self.sink = sink
        pulled = PulledEvents(stream)
    }

    /// All events of the links, in order, for one listener. Most applications need only `peerEvents`. Throws
    /// `MeshCoreError.alreadyListening` if `events` or `peerEvents` was requested before.
    public var events: AsyncStream<EndpointEvent> {
        get throws(MeshCoreError) {
            guard !hasListener else { throw .alreadyListening }
            hasListener = true
            return AsyncStream { [pulled, weak self] in
                let event = await pulled.next()
                await self?.taken()
                return event
            }
        }
    }

    /// This node.
    public var local: Peer { core.local }

    /// The state that must survive the process (`MeshCore.remembered`).
    public var remembered: [ConversationKey: MeshCore.Remembered] { core.remembered }

    /// The time of this endpoint's clock.
    var now: MeshInstant { ContinuousClock.now - origin }

    // MARK: Links

    /// Takes over a connected transport, and runs its link until it ends. A guest that must not be admitted gets the
    /// `refusal` after it has proved its identity. Throws `MeshCoreError.transportNotConnected`.
    @discardableResult
    public func open(
        _ transport: any MeshTransport, as role: LinkRole, refusing refusal: RefusalReason? = nil
    ) async throws(MeshCoreError) -> MeshCore.LinkID {
        let sendMTU = min(await transport.sendMTU, Limits.sduBytes)
        guard sendMTU > 0 else { throw .transportNotConnected }
        let id = nextLink()
        let framesPerSecond = await transport.framesPerSecond
        let expected = await transport.expectedPeer
        let advertised = await transport.advertisedFlags
        guard !isStopped else {
            await transport.close()
            return id
        }
        links[id] = EndpointLink()
        carry(id, over: transport, sendMTU: sendMTU) {
            perform(
                core.opened(
                    id, as: role, sendMTU: sendMTU, expected: expected, refusal: refusal, advertised: advertised,
                    framesPerSecond: framesPerSecond, entropy: .random(), now: now))
        }
        watchDeadline(of: id)
        return id
    }

    /// Returns a new link number.
    func nextLink() -> MeshCore.LinkID {
        lastLink += 1
        return lastLink
    }

    /// Reports that the application has stored a peer's reliable messages up to this one.
    public func accept(upTo message: ReceivedMessage) {
        perform(core.accept(upTo: message))
    }

    /// Ends the link with a peer with a goodbye, or with a refusal.
    public func disconnect(_ peer: Peer.ID, refusing reason: RefusalReason? = nil) {
        if let reason {
            // A person adds these entries one by one, but the set still needs a limit.
            if reason == .banned, core.banned.count < Limits.conversations { core.banned.insert(peer) }
            perform(core.sendAway(peer, reason))
        } else if let id = core.link(to: peer) {
            perform(core.leave(id))
        }
    }

    /// Ends a link in any state, with a goodbye if the peer can get one.
    public func leave(_ id: MeshCore.LinkID) {
        perform(core.leave(id))
    }

    /// Says goodbye to all peers, closes all links, and ends `events`. You can call it again and from several tasks.
    /// Each call returns when everything has ended. Guests look for a host that says `.stopped` until it is back.
    public func stop(saying reason: GoodbyeReason = .unspecified) async {
        isStopped = true
        // This comes first, so that nothing below waits for a listener that is gone.
        sink.finish()
        makeRoom()
        endWaiting()
        measurements.endAll()
        for id in core.allLinks { perform(core.leave(id, saying: reason)) }
        await untilAllAreClosed()
        for (discovery, task) in hosting {
            await discovery.close()
            await task.value
        }
        hosting = []
    }

    // MARK: Actions of the core

    /// Performs the core's actions, in order and without suspending, so that no event comes in between.
    func perform(_ actions: [MeshCore.Action]) {
        for action in actions {
            switch action {
            case .wake(let id): wake(id)
            case .tell(let id, let event): tell(event, of: id)
            case .heed(let id, let note): heed(note, on: id)
            case .holdReading(let id, let until): links[id]?.heldUntil = until
            case .close(let id, let afterFinalFrame):
                links[id]?.timer?.cancel()
                close(id, afterFinalFrame: afterFinalFrame)
                links[id]?.pausing?.cancel()
            case .forgot(let key):
                emit(.forgot(key))
                sendWaiting()
            case .circuitEnded(let id): links.removeValue(forKey: id)?.timer?.cancel()
            // An endpoint accepts no circuits.
            case .circuitOffered: break
            }
        }
    }

    private func tell(_ event: LinkEvent, of id: MeshCore.LinkID) {
        noteAnswer(event, on: id)
        switch event {
        case .connected:
            watchDeadline(of: id)
            linksChanged()
        case .acknowledged:
            sendWaiting()
            checkFlush()
        case .probed: return
        case .carrier: watchDeadline(of: id)
        case .roundTrip(let time, _):
            links[id]?.report.roundTrip = time
            // In a separate task: the controller needs time for the signal strength, and reading must continue.
            Task { await self.report(id) }
            return
        case .ended(let peer, let end):
            if case .misbehaved(let how) = end { log(how, "\(peer)") }
            if end != .replaced { skipWaiting(for: peer.id) }
            checkFlush()
            linksChanged()
        case .failed(let expected, _, let end):
            if case .misbehaved(let how) = end { log(how, expected ?? "a peer that has not proved who it is") }
            linksChanged()
        default: break
        }
        emit(.link(id, event))
    }

    /// Logs each kind of misbehaviour once as a warning, because a misbehaving peer repeats it.
    private func log(_ how: Misbehaviour, _ who: String) {
        let count = core.misbehaviours[how] ?? 0
        logger.log(level: count == 1 ? .warning : .debug, "\(who) broke the protocol: \(how) (\(count) so far)")
    }

    // MARK: Events and their listener

    func emit(_ event: EndpointEvent) {
        guard !isStopped else { return }
        outstanding += 1
        sink.yield(event)
    }

    /// The listener has read an event.
    func taken() {
        outstanding -= 1
        if outstanding < SessionLimits.endpointEvents { makeRoom() }
    }

    private func makeRoom() {
        for waiting in waitingForRoom { waiting.resume() }
        waitingForRoom = []
    }

    /// Returns when the listener has caught up.
    func waitForRoom() async {
        while outstanding >= SessionLimits.endpointEvents, !isStopped {
            await withCheckedContinuation { waitingForRoom.append($0) }
        }
    }
}

/// An event of an endpoint.
public enum EndpointEvent: Hashable, Sendable {
    /// An event on a link.
    case link(MeshCore.LinkID, LinkEvent)
    /// The condition of a link, about once a second.
    case report(MeshCore.LinkID, Peer, LinkReport)
    /// A conversation was forgotten to make room for another. Its stored data can be deleted.
    case forgot(ConversationKey)
}

extension MeshCore.Entropy {
    /// Returns entropy from the system. The core has no source of its own.
    public static func random() -> MeshCore.Entropy {
        var generator = SystemRandomNumberGenerator()
        return MeshCore.Entropy((0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
