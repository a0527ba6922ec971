// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A complete node as one struct: the protocol, the features, reconnecting and what people see.
///
/// An event goes in, actions come out as data. The struct reads no clock, draws no random numbers and never awaits.
/// `NodeLoop` runs it for the actor `Node` and for the simulator, which perform the actions.
///
/// The rule of the step is: decide, write, then send, acknowledge and show. Events above the links are decided in
/// steps. The features decide, and their changes leave as one `write`. Results are sent, acknowledged and shown only
/// when the disk has them (`written`). Events that arrive during the write are queued for the next step. The links
/// themselves (handshakes, pings, acknowledgements) continue. So everything that was acknowledged or shown is still
/// true after a power cut.
public struct NodeCore: Sendable {
    enum Phase: Comparable, Sendable {
        /// The radio has not worked yet. All steps wait for that.
        case starting
        case running
        /// The node is ending and decides nothing any more.
        case quitting
        /// The node has sent its goodbyes.
        case ended
    }

    private(set) var configuration: Configuration
    /// The protocol, the unwritten changes and the time.
    var context: NodeDecisions.Context
    /// The state that steps change. It returns to its value before the step if a write fails.
    var decisions: NodeDecisions
    /// The events that wait for a step, and the step that waits for its write.
    var steps: Steps
    var links = LinkTable()
    var relayRole: RelayRole
    /// The state that a guest behind relays expects.
    var relayedState = RelayedState()
    /// The feed of a host's state. Nil at a guest.
    var stateFeed: StateFeed?
    var covers = CoverExchange()
    var screen = NodeScreen()
    private(set) var phase = Phase.starting
    private var actions: [Action] = []

    /// Creates a node that continues where an earlier run ended.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        let isHost = configuration.part.role == .responder
        (steps, relayRole) = (Steps(isHost: isHost), RelayRole(isHost: isHost))
        var mesh = MeshCore(
            identity: configuration.identity, name: configuration.description.peer.name,
            service: configuration.description.service, remembered: configuration.contents.remembered,
            holdsUntilStored: true, relays: configuration.part.relays)
        switch configuration.part {
        case .host(let hosting):
            mesh.takesCircuits = true
            mesh.admissionPolicy = AdmissionPolicy(
                pin: hosting.pin, invitations: configuration.contents.invitations,
                wallClockSeconds: hosting.wallClockSeconds)
        case .guest(_, _, _, let secret):
            mesh.secret = secret
            mesh.unanswered = UnansweredProofs(configuration.contents.unanswered)
        }
        var memory = NodeMemory(configuration.contents, configuration.description.service)
        decisions = NodeDecisions(configuration.part, configuration.description.peer, &memory)
        let route = Route(local: configuration.description.peer.id, configuration.part, seed: configuration.seed)
        context = NodeDecisions.Context(
            mesh: mesh, route: route, role: configuration.part.role, memory: memory, now: .zero)
        // This also holds while the first write is under way.
        keepOut()
    }

    // MARK: Events

    /// Handles an event. `now` is the owner's clock, which never goes back.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        context.now = max(now, context.now)
        switch event {
        case .started:
            phase = max(phase, .running)
            steps.begin()
        case .opened(let id, let opening): opened(id, opening)
        case .received(let sdu, let id):
            links.received(sdu.count, on: id)
            apply(context.mesh.received(sdu, on: id, now: context.now))
        case .channelClosed(let id):
            apply(context.mesh.channelClosed(id))
            links.closed(id)
        case .joined(let id, let peer): joined(id, peer)
        case .claimed(let id, let peer, let claim): joined(id, peer, claim)
        case .said(let message, let number, let id):
            guard let peer = links.vouched(on: id) else { break }
            steps.append(.said(message, number, on: id, by: peer.id))
        case .left(let id, let end): left(id, end)
        case .measured(let id, let rssi, let condition): measured(id, rssi, condition)
        case .dialFailed(let number, let refusal):
            follow { $0.dialFailed(number, refusal, $1) }
        case .written: perform(steps.written(decisions, &context))
        case .writeFailed(let error): perform(steps.writeFailed(error, &decisions, &context, links))
        case .adapterTimed(let timing):
            screen.adapterTimed(timing)
            if phase != .starting { showWhatChanged() }
        case .tick: tick()
        case .end: end()
        case .heard(let node): follow { $0.heard(node, $1) }
        case .better(let peer): follow { $0.heardOnBetterBearer(peer, $1) }
        case .unheard(let peer):
            context.route.unheard(peer.id)
            steps.append(.event(event))
        case .reached(let peer):
            // One dial at a time is pending. bluetoothd may have forgotten the device meanwhile.
            guard let invited = context.route.dialled else { break }
            let host = peer ?? Peer(id: invited, name: "")
            show(.contact(Encounter(.heard, host, at: configuration.origin + context.now, by: .link)))
        case .coverMade(let songID, let cover): perform(CoverServer.Event.made(songID, cover))
        case .cover(let songID, _):
            if isHost { perform(CoverServer.Event.changed(songID)) }
            steps.append(.event(event))
        case .radioFailed, .radioRecovered, .radioRepaired, .broker, .input, .found, .coverFailed, .coverRecovered,
            .asked:
            steps.append(.event(event))
        }
        takeSteps()
        lookAtCovers()
        holdCircuits()
        checkInvariants()
        defer { actions = [] }
        return actions
    }

    /// The next SDU to send on a link, of at most `limit` bytes; nil if nothing is queued.
    public mutating func nextSDU(for id: MeshCore.LinkID, limit: Int, now: MeshInstant) -> ([UInt8], [Action])? {
        context.now = max(now, context.now)
        guard let (sdu, meshActions) = context.mesh.nextSDU(for: id, limit: limit) else { return nil }
        links.sent(sdu.count, on: id)
        apply(meshActions)
        takeSteps()
        holdCircuits()
        checkInvariants()
        defer { actions = [] }
        return (sdu, actions)
    }

    /// When `tick` is due. Decisions of steps wait while the disk is busy, even if they are late.
    public var deadline: MeshInstant? {
        let links = earliest(links.deadline(context.mesh), earliest(relaysDeadline, coversDeadline))
        return earliest(earliest(links, screen.deadline), stepDeadline)
    }

    /// When the next step is due, for queued events or for a timer.
    private var stepDeadline: MeshInstant? {
        phase == .running ? steps.deadline(timers: timers, now: context.now) : nil
    }

    /// The next deadline of the features or of the route.
    private var timers: MeshInstant? { earliest(decisions.deadline, context.route.stepDeadline) }

    /// Whether the node decides nothing any more.
    var isQuitting: Bool { phase >= .quitting }

    /// Whether the node hosts.
    public var isHost: Bool { decisions.app.isHosting }

    /// Sets the addresses of the node's page before the node starts.
    public mutating func isShown(at http: String, door: String?, passengers: String? = nil) {
        configuration.description.http = http
        configuration.description.browserDoor = door
        configuration.description.passengers = passengers
    }

    /// Whether the node accepts more inputs of people and of the radio. Otherwise their sources must wait.
    public var hasRoom: Bool { steps.hasRoom || isQuitting }

    /// Whether the next SDU of a link may be read.
    public func mayRead(_ id: MeshCore.LinkID, now: MeshInstant) -> Bool {
        isQuitting
            || !links.isHeld(id, now: now)
                && (steps.full.isEmpty || context.mesh.peer(on: id).map { steps.hasRoom(for: $0.id) } != false)
    }

    /// The node decides nothing any more, and its owner ends it.
    mutating func quit(_ reason: ByeReason) {
        phase = max(phase, .quitting)
        emit(.quit(reason))
    }

    mutating func emit(_ action: Action) { actions.append(action) }

    mutating func show(_ event: NodeEvent) { actions.append(.show(event)) }

    private mutating func tick() {
        for id in links.due(context.mesh, now: context.now) {
            // While this side does not read, it cannot blame the peer for silence. A handshake always has a deadline.
            if !mayRead(id, now: context.now), context.mesh.peer(on: id) != nil {
                context.mesh.heardNothingByChoice(on: id, now: context.now)
            } else {
                apply(context.mesh.tick(id, now: context.now))
            }
        }
        for event in screen.tick(now: context.now) { show(event) }
        tickRelays()
        tickCovers()
        if phase == .running { steps.tick(timers: timers, now: context.now) }
    }

    // MARK: Steps

    /// Decides on queued events, unless a write is pending.
    private mutating func takeSteps() {
        while let turn = steps.next(&decisions, &context, links, decides: phase == .running) {
            switch turn {
            case .write(let batch): emit(.write(batch))
            case .perform(let acts): perform(acts)
            case .end(let id): endVouched(id, .linkLost)
            }
        }
    }

    /// Checks the conditions that hold after each event, in debug builds and in the simulator.
    private func checkInvariants() {
        steps.checkInvariants()
        assert(!steps.isWriting || phase != .starting, "a node that has not started writes nothing")
        assert(decisions.app.isHosting != decisions.app.isJoining, "a node is a host or a guest")
    }

    // MARK: From the start to the end

    /// The node is ready, and its initial state is on disk.
    mutating func begin() {
        show(.ready(configuration.description))
        if let path = configuration.setAside { tell(Notice(.storageDamaged(setAside: path))) }
        if context.memory.missingSongs > 0 { tell(Notice(.songsMissing(context.memory.missingSongs))) }
        if let host = decisions.app.host {
            stateFeed = StateFeed(host.snapshot, now: context.now)
            emit(.fetchCovers(host.snapshot.items.map(\.song)))
            show(.snapshot(host.snapshot, isStale: false))
            if !context.mesh.admissionPolicy.invitations.isEmpty { showInvitations() }
            if !decisions.shownBans.isEmpty { show(.bans(decisions.shownBans, isAnswer: false)) }
        }
        if let guest = decisions.app.guest {
            if let snapshot = guest.state.hostSnapshot { show(.snapshot(snapshot, isStale: true)) }
            if !decisions.known.hosts.isEmpty { show(.hosts(decisions.shownHosts, isAnswer: false)) }
            for wish in guest.state.elsewhere + guest.state.wishes { show(.wish(wish.songID, wish.kind, .queued)) }
            steer(.start)
        }
    }

    /// Sends goodbyes on all links and writes the full state.
    private mutating func end() {
        phase = .ended
        steps.removeAll()
        perform(context.route.end())
        leaveAll(saying: isHost ? .stopped : .unspecified)
        context.memory.noteAll(decisions.app, now: context.now)
        emit(.write(context.memory.pending))
    }
}
