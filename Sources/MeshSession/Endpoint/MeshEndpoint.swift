// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// One node's end of all its links: it performs what `MeshCore` decides, over transports.
///
/// Each link has a reader, a writer and a timer. What they learn goes to the core, and what it decides comes out in one
/// order, for one listener: one that does not read holds up the peers, not the memory.
public actor MeshEndpoint {
    var core: MeshCore
    package let logger: Logger
    let origin = ContinuousClock.now
    package var carriers: [MeshCore.LinkID: LinkCarrier] = [:]
    var links: [MeshCore.LinkID: EndpointLink] = [:]
    private var lastLink: MeshCore.LinkID = 0

    /// Unbounded by itself: the readers wait where its listener has not taken `SessionLimits.endpointEvents`.
    private let sink: AsyncStream<EndpointEvent>.Continuation
    private let pulled: PulledEvents<AsyncStream<EndpointEvent>.AsyncIterator>
    /// Events that the listener has not taken yet.
    private var outstanding = 0
    private var waitingForRoom: [CheckedContinuation<Void, Never>] = []
    private var isStopped = false

    /// An endpoint for one node, which sends at once: its core does not hold messages until they are stored.
    public init(core: MeshCore, logger: Logger = Logger(label: "roadmesh.endpoint")) {
        self.core = core
        self.logger = logger
        let (stream, sink) = AsyncStream<EndpointEvent>.makeStream()
        self.sink = sink
        pulled = PulledEvents(stream)
    }

    /// Everything that happens on the links, in the order in which it was decided, for one listener.
    public nonisolated var events: AsyncStream<EndpointEvent> {
        AsyncStream { [pulled, weak self] in
            let event = await pulled.next()
            await self?.taken()
            return event
        }
    }

    /// What has to outlive the process (`MeshCore.remembered`).
    public var remembered: [ConversationKey: MeshCore.Remembered] { core.remembered }

    /// The time of this endpoint's clock.
    var now: MeshInstant { ContinuousClock.now - origin }

    // MARK: Links

    /// Takes over a transport that is connected, and runs its link until it ends. A guest that is not to be let in,
    /// who it is, is told the `refusal`.
    @discardableResult
    public func open(
        _ transport: any MeshTransport, as role: LinkRole, refusing refusal: RefusalReason? = nil
    ) async -> MeshCore.LinkID {
        lastLink += 1
        let id = lastLink
        let sendMTU = min(await transport.sendMTU, Limits.sduBytes)
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
                    entropy: .random(),
                    now: now))
        }
        watchDeadline(of: id)
        return id
    }

    /// Gives a message to the conversation with a peer that was used last.
    public func send(_ body: [UInt8], as messageClass: MessageClass, to peer: Peer.ID) -> Conversation.Sending {
        guard let key = core.lastConversation(with: peer) else { return .noLink }
        let (sending, actions) = core.send(body, as: messageClass, to: key)
        perform(actions)
        return sending
    }

    /// The application has made a peer's reliable messages up to this one safe.
    public func accept(upTo message: ReceivedMessage) {
        perform(core.accept(upTo: message))
    }

    /// Ends the link with a peer with a goodbye, or with a refusal.
    public func disconnect(_ peer: Peer.ID, refusing reason: RefusalReason? = nil) {
        if let reason {
            // One person's thumb bounds this set, but a limit is a limit.
            if reason == .banned, core.banned.count < Limits.conversations { core.banned.insert(peer) }
            perform(core.sendAway(peer, reason))
        } else if let id = core.link(to: peer) {
            perform(core.leave(id))
        }
    }

    /// Ends a link, whether it is up or not, with a goodbye where there is somebody to hear it.
    public func leave(_ id: MeshCore.LinkID) {
        perform(core.leave(id))
    }

    /// Says goodbye to everybody, closes every link, and ends `events`. Safe to call again and from several tasks; each
    /// call returns when everything has ended.
    public func stop() async {
        isStopped = true
        // First, so that nothing below waits for a listener that has gone.
        sink.finish()
        makeRoom()
        for id in core.allLinks { perform(core.leave(id)) }
        await untilAllAreClosed()
    }

    // MARK: What the core decides

    /// Performs what the core has decided, in order and without a pause, so that nothing comes in between.
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
            case .forgot(let key): emit(.forgot(key))
            // An endpoint takes no circuits.
            case .circuitOffered, .circuitEnded: break
            }
        }
    }

    private func tell(_ event: LinkEvent, of id: MeshCore.LinkID) {
        switch event {
        case .connected: watchDeadline(of: id)
        case .roundTrip(let time):
            links[id]?.report.roundTrip = time
            // In a task of its own: asking the controller for the signal strength takes time, and reading goes on.
            Task { await self.report(id) }
            return
        case .ended(let peer, .misbehaved(let how)): log(how, "\(peer)")
        case .failed(let expected, _, .misbehaved(let how)):
            log(how, expected ?? "a peer that has not proved who it is")
        default: break
        }
        emit(.link(id, event))
    }

    /// Each kind once as a warning: who misbehaves does it often.
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

    /// The listener has taken an event.
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

/// What happens at an endpoint.
public enum EndpointEvent: Hashable, Sendable {
    /// Something has happened on a link.
    case link(MeshCore.LinkID, LinkEvent)
    /// What a link is like, about once a second.
    case report(MeshCore.LinkID, Peer, LinkReport)
    /// A conversation is not remembered any more, to make room for another: what is stored of it can go.
    case forgot(ConversationKey)
}

extension MeshCore.Entropy {
    /// Entropy of the system's. The core itself draws none.
    public static func random() -> MeshCore.Entropy {
        var generator = SystemRandomNumberGenerator()
        return MeshCore.Entropy((0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
