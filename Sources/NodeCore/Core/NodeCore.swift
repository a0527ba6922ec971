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

    private var configuration: Configuration
    /// The protocol, the route, the unwritten changes and the time.
    private var context: NodeDecisions.Context
    /// The state that steps change. It returns to its value before the step if a write fails.
    private var decisions: NodeDecisions
    /// The events that wait for a step, and the step that waits for its write.
    private var steps: Steps
    private var links: NodeLinks
    private var network = NodeNetwork()
    private var screen = NodeScreen()
    private var phase = Phase.starting
    private var actions: [Action] = []

    /// Creates a node that continues where an earlier run ended.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        steps = Steps(isHost: configuration.part.role == .responder)
        links = NodeLinks(configuration.part, origin: configuration.origin)
        var memory = NodeMemory(configuration.contents, configuration.description.service)
        decisions = NodeDecisions(configuration.part, configuration.description.peer, &memory)
        let route = Route(local: configuration.description.peer.id, configuration.part, seed: configuration.seed)
        context = NodeDecisions.Context(
            mesh: configuration.mesh, route: route, role: configuration.part.role, memory: memory, now: .zero)
        // The bans also hold while the first write is under way.
        context.mesh.banned = decisions.banned
    }

    // MARK: Events

    /// Handles an event. `now` is the owner's clock, which never goes back.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        context.now = max(now, context.now)
        switch event {
        case .started:
            phase = max(phase, .running)
            steps.begin()
        case .opened(let id, _) where phase == .ended: emit(.close(id, afterFinalFrame: false))
        case .opened(let id, let opening):
            perform(links.opened(id, opening, showing: decisions.shownStates(over: opening), &context))
        case .received(let sdu, let id): perform(links.received(sdu, on: id, &context))
        case .channelClosed(let id): perform(links.channelClosed(id, &context))
        case .measured(let id, let rssi, let condition): perform(links.measured(id, rssi, condition, &context))
        case .joined(let id, let peer): perform(network.joined(id, peer, isQuitting: isQuitting, &context))
        case .claimed(let id, let peer, let claim):
            perform(network.joined(id, peer, claim, isQuitting: isQuitting, &context))
        case .said(let message, let number, let id):
            if let peer = network.vouched(on: id) { steps.append(.said(message, number, on: id, by: peer.id)) }
        case .left(let id, let end): perform(network.left(id, end))
        case .dialFailed(let number, let refusal):
            perform(links.follow(&context) { $0.dialFailed(number, refusal, $1) })
        case .heard(let node): perform(links.follow(&context) { $0.heard(node, $1) })
        case .better(let peer): perform(links.follow(&context) { $0.heardOnBetterBearer(peer, $1) })
        case .unheard(let peer):
            context.route.unheard(peer.id)
            steps.append(.event(event))
        case .reached(let peer):
            // One dial at a time is pending. bluetoothd may have forgotten the device meanwhile.
            guard let invited = context.route.dialled else { break }
            let host = peer ?? Peer(id: invited, name: "")
            show(.contact(Encounter(.heard, host, at: configuration.origin + context.now, by: .link)))
        case .written: perform(steps.written(decisions, &context))
        case .writeFailed(let error): perform(steps.writeFailed(error, &decisions, &context, network.vouchedLinks))
        case .coverMade(let songID, let cover): perform(network.serve(.made(songID, cover), &links, &context))
        case .cover(let songID, _):
            if isHost { perform(network.serve(.changed(songID), &links, &context)) }
            steps.append(.event(event))
        case .radioFailed, .radioRecovered, .radioRepaired, .broker, .input, .found, .coverFailed, .coverRecovered,
            .asked:
            steps.append(.event(event))
        case .adapterTimed(let timing):
            screen.adapterTimed(timing)
            if phase != .starting { showWhatChanged() }
        case .tick: tick()
        case .end: end()
        }
        takeSteps()
        // The visible songs may have changed, or the link may have become idle.
        if showsCovers, let guest = decisions.app.guest { perform(network.lookAtCovers(guest, &links, &context)) }
        return takeActions()
    }

    /// The next SDU to send on a link, of at most `limit` bytes; nil if nothing is queued.
    public mutating func nextSDU(for id: MeshCore.LinkID, limit: Int, now: MeshInstant) -> ([UInt8], [Action])? {
        context.now = max(now, context.now)
        guard let (sdu, sent) = links.nextSDU(for: id, limit: limit, &context) else { return nil }
        perform(sent)
        takeSteps()
        return (sdu, takeActions())
    }

    /// Removes and returns the actions of an event. Checks the conditions that hold after each event, in debug builds
    /// and in the simulator.
    private mutating func takeActions() -> [Action] {
        perform(links.holdCircuits(full: steps.full, isQuitting: isQuitting, &context))
        steps.checkInvariants()
        assert(!steps.isWriting || phase != .starting, "a node that has not started writes nothing")
        assert(decisions.app.isHosting != decisions.app.isJoining, "a node is a host or a guest")
        defer { actions = [] }
        return actions
    }

    // MARK: Questions

    /// When `tick` is due. Decisions of steps wait while the disk is busy, even if they are late.
    public var deadline: MeshInstant? {
        let step = phase == .running ? steps.deadline(timers: timers, now: context.now) : nil
        return earliest(earliest(network.deadline(isQuitting: isQuitting, links, context), screen.deadline), step)
    }

    /// Whether the node hosts.
    public var isHost: Bool { decisions.app.isHosting }

    /// Whether the node accepts more inputs of people and of the radio. Otherwise their sources must wait.
    public var hasRoom: Bool { steps.hasRoom || isQuitting }

    /// Whether the next SDU of a link may be read.
    public func mayRead(_ id: MeshCore.LinkID, now: MeshInstant) -> Bool {
        isQuitting || links.mayRead(id, full: steps.full, context.mesh, now: now)
    }

    /// Sets the addresses of the node's page before the node starts.
    public mutating func isShown(at http: String, door: String?, passengers: String? = nil) {
        configuration.description.http = http
        configuration.description.browserDoor = door
        configuration.description.passengers = passengers
    }

    /// Whether the node decides nothing any more.
    private var isQuitting: Bool { phase >= .quitting }

    /// The next deadline of the features or of the route.
    private var timers: MeshInstant? { earliest(decisions.deadline, context.route.stepDeadline) }

    /// A guest requests covers only if it has a page that shows them.
    private var showsCovers: Bool { configuration.description.http != nil && decisions.app.isJoining }

    // MARK: Peers

    /// Performs what the links, or the node's services for its peers, have decided.
    private mutating func perform(_ decided: [NetworkAction]) {
        for action in decided {
            switch action {
            case .emit(let action): actions.append(action)
            case .queue(let event): steps.append(event)
            case .dropSaid(let id): steps.removeAll(saidOn: id)
            case .received(let message, let id): received(message, on: id)
            case .admitted(let id): perform(network.welcome(id, &links, &context))
            case .gone(let peer): perform(network.gone(peer, &links, &context))
            case .circuitUp(let id): network.circuitUp(id, now: context.now)
            case .circuitEnded(let id): network.circuitEnded(id)
            case .heard(let node): heard(node)
            case .report(let node):
                if !steps.isSettled || !decisions.wasReported(node.named) { steps.append(.reported(node.named)) }
            case .askedForRoom(let id):
                // The state comes over the present link. After a move the transfer would start again.
                guard decisions.app.isCurrent else { break }
                perform(links.makeRoom(on: id, &context))
            case .tell(let notice): tell(notice)
            case .gaveUp(let host):
                steps.append(.wish(.gaveUp))
                show(screen.clear(by: .gaveUp, now: context.now))
                tell(Notice(.hostNotFound(host: host)))
            }
        }
    }

    private mutating func received(_ message: ReceivedMessage, on id: MeshCore.LinkID) {
        let content = context.read(message.body)
        if message.messageClass == .latest, let content,
            let done = network.takeCovers(content, from: message.peer, decisions.app, &links, &context)
        {
            return perform(done)
        }
        let carrier = links.carrier(of: id)
        guard let readable = message.readable(content, byHost: isHost),
            carrier == nil || !network.holdsBack(readable, content, on: id, decisions.app, now: context.now)
        else { return }
        let event = PendingEvent.link(id, .received(readable))
        guard isHost, readable.messageClass == .reliable else { return steps.append(event) }
        steps.append(event, over: carrier, now: context.now)
    }

    private mutating func heard(_ node: HeardNode) {
        let node = node.relay == nil ? node : node.named
        // A linked node that scans hears all relays in range each second. A relay that was reported to people already
        // needs no step.
        let isNews =
            node.relay == nil || !steps.isSettled || context.mesh.host == nil || !decisions.wasReported(node)
        if isNews { steps.append(.event(.heard(node))) }
        let at = configuration.origin + context.now
        show(.contact(Encounter(.heard, node.host, at: at, by: .sighting, rssi: node.rssi)))
    }

    private mutating func steer(_ event: ReconnectPolicy.Event) {
        perform(links.follow(&context) { [known = decisions.knownHosts] in $0.handle(event, known: known, $1) })
    }

    // MARK: Steps

    /// Decides on queued events, unless a write is pending.
    private mutating func takeSteps() {
        while let turn = steps.next(&decisions, &context, network.vouchedLinks, decides: phase == .running) {
            switch turn {
            case .write(let batch): emit(.write(batch))
            case .perform(let acts): perform(acts)
            case .end(let id): perform(network.endVouched(id, .linkLost))
            }
        }
    }

    /// Performs what a step has decided. If a step produces several states, only the last one is sent, because the
    /// others were never visible. A guest that connects in the same step gets the last state as well.
    private mutating func perform(_ acts: [StepAction]) {
        assert(!steps.isWriting, "acts are performed when their step is written, and before the next one")
        defer { assert(!steps.isWriting, "performing acts never writes") }
        let states = acts.indices.filter { acts[$0].state != nil }
        for (place, act) in acts.enumerated() {
            if place == states.first, let state = acts[states[states.count - 1]].state {
                perform(network.share(.stateChanged(state), &links, &context))
            }
            if act.state == nil || place == states.last { perform(act) }
        }
        showWhatChanged()
    }

    private mutating func perform(_ act: StepAction) {
        switch act {
        // The monitor may know the radio's own reason.
        case .effect(.show(.networkUnavailable)): tell(Notice(decisions.radioProblem ?? .networkUnavailable))
        case .effect(.show(let error)): tell(Notice(error))
        case .effect(.host(let effect)): perform(network.perform(effect, decisions, &links, &context))
        case .effect(.guest(let effect)): perform(network.perform(effect, decisions, &links, &context))
        case .effect(.clear): show(screen.clear(by: .linked, now: context.now))
        case .begin: begin()
        case .show(let event): show(event)
        case .tell(let notice): tell(notice)
        case .clear(let code): show(screen.clear(code, now: context.now))
        case .cleared(let clearer): show(screen.clear(by: clearer, now: context.now))
        case .steer(let event): steer(event)
        case .showInvitations(let given):
            let node = configuration.description
            if let given { show(.invitation(OpenInvitation(given, of: node))) }
            show(.invitations(context.mesh.admissionPolicy.invitations.map { OpenInvitation($0, of: node) }))
        case .sessionEnded:
            context.mesh.banned = decisions.banned
            perform(network.leaveAll(saying: .ended, &links, &context))
            show(.bans(decisions.shownBans, isAnswer: false))
            beginSession()
            perform(network.serve(.stateChanged, &links, &context))
        case .waitForHost(let error): waitForHost(telling: error)
        case .accept(let message): perform(links.apply(context.mesh.accept(upTo: message), &context))
        case .release(let number, let key):
            perform(links.apply(context.mesh.stored(upTo: number, for: key), &context))
        case .askForDeclined: perform(links.apply(context.mesh.askForDeclined(), &context))
        case .share(let event): perform(network.share(event, &links, &context))
        case .guestConnected(let peer, let id): perform(network.connected(peer, on: id, decisions, &links, &context))
        case .acknowledge(let number, let id):
            if network.vouched(on: id) != nil { emit(.acknowledge(number, on: id)) }
        case .deliver(let message, let id): perform(network.deliver(message, on: id))
        case .keepOut(let peer):
            context.mesh.banned = decisions.banned
            if let peer { perform(network.disconnect(peer, refusing: .banned, &links, &context)) }
        case .disconnect(let peer): perform(network.disconnect(peer, &links, &context))
        case .forgetHost(let head): perform(network.forgetHost(head, &links, &context))
        case .retryRadio where isHost: emit(.retryRadio)
        case .retryRadio: perform(links.follow(&context) { route, _ in route.retryRadio() })
        case .retried(let isWell):
            let cleared = screen.clear(by: .retried, now: context.now)
            show(cleared)
            emit(.retryCovers)
            guard isWell, cleared.isEmpty else { return }
            // Lasting notices are shown again, because the person wants to know what to repair.
            show(screen.standing.map { .notice($0) })
            if screen.standing.isEmpty { tell(Notice(.nothingToRetry)) }
        case .notSent(let error): emit(.notSent(error, count: screen.count(error)))
        case .storeFailed(let error, let isFirst): emit(.storeFailed(error, isFirst: isFirst))
        case .answer(let number): emit(.answered(number))
        case .quit(let reason):
            // The node decides nothing any more, and its owner ends it.
            phase = max(phase, .quitting)
            emit(.quit(reason))
        }
    }

    /// The link to the host is gone, for this reason.
    private mutating func waitForHost(telling error: NetworkError) {
        if case .connectionLost(let host) = error, context.route.holdsLoss(of: host, now: context.now) {
        } else {
            tell(Notice(error))
        }
        steer(.linkLost)
        // The power may fail in the tunnel, so the state is written. It is not part of the step, because the dial would
        // then wait for the disk.
        steps.gapBegan()
    }

    // MARK: Time

    private mutating func tick() {
        perform(links.tick(full: steps.full, isQuitting: isQuitting, &context))
        show(screen.tick(now: context.now))
        if !isQuitting {
            let (isCurrent, isSettled) = (decisions.app.isCurrent, steps.isSettled)
            perform(links.tickRelays(&context))
            perform(network.tickRelays(isCurrent: isCurrent, isSettled: isSettled, &links, &context))
        }
        perform(network.tickCovers(&links, &context))
        if phase == .running { steps.tick(timers: timers, now: context.now) }
    }

    /// The node is ready, and its initial state is on disk.
    private mutating func begin() {
        show(.ready(configuration.description))
        if let path = configuration.setAside { tell(Notice(.storageDamaged(setAside: path))) }
        if context.memory.missingSongs > 0 { tell(Notice(.songsMissing(context.memory.missingSongs))) }
        beginSession()
        for act in decisions.shownAtStart(context) { perform(act) }
    }

    private mutating func beginSession() {
        guard let state = decisions.app.host?.snapshot else { return }
        perform(network.beginSession(state, now: context.now))
    }

    /// Sends goodbyes on all links and writes the full state.
    private mutating func end() {
        phase = .ended
        steps.removeAll()
        perform(links.follow(&context) { route, _ in route.end() })
        perform(network.leaveAll(saying: isHost ? .stopped : .unspecified, &links, &context))
        context.memory.noteAll(decisions.app, now: context.now)
        emit(.write(context.memory.pending))
    }

    // MARK: What people see

    private mutating func emit(_ action: Action) { actions.append(action) }

    private mutating func show(_ event: NodeEvent) { actions.append(.show(event)) }

    private mutating func show(_ events: [NodeEvent]) { for event in events { show(event) } }

    private mutating func tell(_ notice: Notice) {
        // The notice about the disk says enough.
        if steps.isDiskOut, notice.code == HeadUnitProblem.driveNotRecordedCode { return }
        show(screen.tell(notice, now: context.now))
    }

    /// Reports the playback, the driver's commands and the radio's activity if they have changed.
    private mutating func showWhatChanged() { show(screen.changes(decisions, context.route, now: context.now)) }

    // MARK: The simulator and tests

    /// The protocol's state, and the memory use that peers can influence.
    package var mesh: MeshCore { context.mesh }
    package var footprint: Footprint { context.mesh.footprint }

    /// The features' state.
    package var app: AppFeature { decisions.app }

    /// Whether nothing waits for a step or for the disk.
    package var isAtRest: Bool { steps.isAtRest }

    /// The machines, for tests.
    var inside: (decisions: NodeDecisions, steps: Steps, links: NodeLinks, network: NodeNetwork, route: Route) {
        (decisions, steps, links, network, context.route)
    }

    /// The time of the last event, for tests.
    var now: MeshInstant { context.now }

    /// Adds an event to the next step, for tests.
    mutating func append(_ event: PendingEvent) { steps.append(event) }

    /// Changes the protocol, for tests.
    mutating func change(_ change: (inout MeshCore) -> [MeshCore.Action]) {
        perform(links.apply(change(&context.mesh), &context))
    }

    /// Shares the results of signature checks and decoded messages among all nodes of a simulation.
    package mutating func share(_ checked: CheckedSignatures, _ reading: SharedReading) {
        context.mesh.share(checked)
        context.reading = reading
    }
}
