// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides when a step begins, what it decides on, and what follows when the disk takes or refuses its write.
///
/// A step decides on queued events. If something must be stored first, the step waits for its write, and further events
/// are queued. If the disk refuses, the decisions return to their value before the step. The music then continues
/// without the disk, messages of peers are held unacknowledged, and the disk is tried again later.
struct Steps: Sendable {
    /// The next thing that the node does.
    enum Turn: Sendable {
        /// Write this. `written` or `writeFailed` follows.
        case write(StoreBatch)
        /// Perform these results.
        case perform([StepAction])
        /// End this vouched link, because its held messages do not fit. Its peer sends them again on its next link.
        case end(MeshCore.LinkID)
    }

    /// A step with a pending write.
    private struct Pending: Sendable {
        /// The events on which the step has decided.
        var events: [PendingEvent]
        /// The results to perform once the write is durable.
        var acts: [StepAction]
        /// The decision state and the memory before the step, for a rollback.
        var before: (decisions: NodeDecisions, memory: NodeMemory)
    }

    /// A guest's steps are not delayed: its person and its host limit their rate.
    private let isHost: Bool
    /// Events that are queued for the next step.
    private var inbox = Inbox()
    private var pending: Pending?
    /// The state on view must be written when the results of the step have been performed.
    private var writesView = false
    /// Reliable messages that no disk has taken yet, the oldest first.
    private var held = HeldMessages()
    /// Vouched links to end.
    private var overflowing: [MeshCore.LinkID] = []
    /// The last write error and the time of the next retry; nil if the disk works.
    private var outage: (error: NodeStoreError, retryAt: MeshInstant)?
    /// Limits the rate of a host's writes.
    private var pace = RateLimit(perSecond: NodeLimits.writesPerSecond, burst: NodeLimits.writeBurst, now: .zero)

    init(isHost: Bool) { self.isHost = isHost }

    // MARK: Questions

    /// Whether the node accepts more inputs from people, players and the radio.
    var hasRoom: Bool { inbox.hasRoom }

    /// Whether the node reads more from a peer.
    func hasRoom(for peer: Peer.ID) -> Bool { inbox.hasRoom(for: peer) }

    /// The peers from which nothing is read at present.
    var full: Set<Peer.ID> { inbox.full }

    /// Whether a write is pending.
    var isWriting: Bool { pending != nil }

    /// Whether every event has been decided, and its step is written.
    var isSettled: Bool { pending == nil && inbox.isEmpty }

    /// Whether nothing waits, including messages that a rate or the disk delays.
    var isAtRest: Bool { isSettled && inbox.crowdDeadline == nil && held.isEmpty }

    /// The size of all held messages in bytes.
    var heldBytes: Int { held.allBytes }

    /// Whether the disk has refused the last write.
    var isDiskOut: Bool { outage != nil }

    /// When the next step is due, for queued events or because a timer of the features or of the route is due.
    func deadline(timers: MeshInstant?, now: MeshInstant) -> MeshInstant? {
        guard pending == nil else { return nil }
        let due = inbox.isEmpty ? earliest(timeIsUp(timers), inbox.crowdDeadline) : now
        return due.map { max($0, earliestStart(now)) }
    }

    /// Checks the conditions that hold after each event.
    func checkInvariants() {
        assert(!writesView || pending != nil, "the view of a gap waits only for an earlier write")
        assert(held.isEmpty || outage != nil, "messages are held back only while the disk refuses writes")
        assert(overflowing.isEmpty, "links without room for their messages have ended")
    }

    // MARK: Events

    /// The node is ready. Its first step precedes all events that have been queued before.
    mutating func begin() { inbox.prepend([.event(.started)]) }

    mutating func append(_ event: PendingEvent) { inbox.append(event) }

    /// Adds a message that a guest has sent in a circuit on `carrier`.
    mutating func append(_ event: PendingEvent, over carrier: MeshCore.LinkID?, now: MeshInstant) {
        inbox.append(event, over: carrier, now: now)
    }

    /// Drops all queued events.
    mutating func removeAll() { inbox.removeAll() }

    /// Drops the messages of a vouched link. The peer sends them again on the next link.
    mutating func removeAll(saidOn id: MeshCore.LinkID) {
        inbox.removeAll(saidOn: id)
        held.removeAll(saidOn: id)
    }

    /// A gap has begun. The state on view is written, and nothing waits for that.
    mutating func gapBegan() { writesView = true }

    /// Queues a tick if one is due.
    mutating func tick(timers: MeshInstant?, now: MeshInstant) {
        guard let deadline = deadline(timers: timers, now: now), deadline <= now, let due = timeIsUp(timers), due <= now
        else { return }
        inbox.append(.event(.tick))
    }

    /// The next thing to do; nil if the node must wait for an event. The node decides on queued events only if
    /// `decides` is true. `vouched` are the present links of that kind.
    mutating func next(
        _ decisions: inout NodeDecisions, _ context: inout NodeDecisions.Context, _ vouched: VouchedLinks, decides: Bool
    ) -> Turn? {
        if !overflowing.isEmpty { return .end(overflowing.removeFirst()) }
        inbox.releaseCrowds(now: context.now)
        if let write = writeView(decisions, &context) { return write }
        guard decides, pending == nil, !inbox.isEmpty, earliestStart(context.now) <= context.now else { return nil }
        // A guest has only one host, so no fair turns among peers are needed.
        return step(inbox.takeTurn(isHost ? NodeLimits.turn : .max), &decisions, &context, vouched)
    }

    /// The write is durable. Returns the results to perform.
    mutating func written(_ decisions: NodeDecisions, _ context: inout NodeDecisions.Context) -> [StepAction] {
        guard let step = pending else { return [] }
        pending = nil
        context.memory.wrote()
        guard outage != nil else { return step.acts }
        outage = nil
        // Wishes that could not be written while a link was up are decided again.
        inbox.prepend(decisions.waitingWishes.map { .wish($0) } + held.takeAll())
        return [.cleared(by: .written)] + step.acts + [.askForDeclined]
    }

    /// The write has failed. The music continues. Messages of peers are held unacknowledged. Wishes of the person at
    /// this device are refused, because they could be forgotten. Returns the results to perform.
    mutating func writeFailed(
        _ error: NodeStoreError, _ decisions: inout NodeDecisions, _ context: inout NodeDecisions.Context,
        _ vouched: VouchedLinks
    ) -> [StepAction] {
        guard let step = pending else { return [] }
        pending = nil
        for key in context.memory.heldConversations { context.mesh.withdrawHeld(for: key) }
        (decisions, context.memory) = step.before
        context.memory.drop()
        let former = outage?.error
        let isPausing = outage.map { $0.retryAt > context.now } ?? false
        if !isPausing { outage = (error, retryAt: context.now + NodeLimits.storeRetry) }
        var acts: [StepAction] = [.storeFailed(error, isFirst: former == nil)]
        // Only one notice about the disk is shown: the latest.
        if let former, NetworkError(former) != NetworkError(error) { acts.append(.cleared(by: .written)) }
        acts += [.clear(HeadUnitProblem.driveNotRecordedCode), .tell(Notice(NetworkError(error)))]
        context.isWithoutStore = true
        defer { context.isWithoutStore = false }
        for event in step.events {
            if case .wish = event { continue }
            if !holdsBack(event, &context, vouched) { acts += decisions.decide(event, &context) }
        }
        return acts
    }

    // MARK: A step

    /// When the next step may start.
    private func earliestStart(_ now: MeshInstant) -> MeshInstant { isHost ? pace.opens(now: now) : now }

    /// The next deadline without an event.
    private func timeIsUp(_ timers: MeshInstant?) -> MeshInstant? { earliest(timers, outage?.retryAt) }

    private mutating func step(
        _ events: [PendingEvent], _ decisions: inout NodeDecisions, _ context: inout NodeDecisions.Context,
        _ vouched: VouchedLinks
    ) -> Turn {
        // While the disk fails, messages are held behind those that wait already, since nothing may be acknowledged
        // before them.
        let events = outage == nil ? events : events.filter { !holdsBack($0, &context, vouched) }
        let before = (decisions, context.memory)
        // A failed disk is retried even if there is nothing new to write.
        if let outage, outage.retryAt <= context.now { context.memory.noteAll(decisions.app, now: context.now) }
        var acts: [StepAction] = []
        for event in events { acts += decisions.decide(event, &context) }
        context.memory.note(decisions.app, now: context.now)
        // Each heartbeat writes the position in the song, so a power cut costs at most the time between two of them.
        if outage == nil, acts.contains(where: \.isHeartbeat) {
            context.memory.noteAll(decisions.app, now: context.now)
        }
        guard context.memory.isUrgent else { return .perform(acts) }
        pending = Pending(events: events, acts: acts, before: before)
        // A disk that has just failed is not retried yet. Events that need it wait, and the music continues.
        if let outage, outage.retryAt > context.now {
            return .perform(writeFailed(outage.error, &decisions, &context, vouched))
        }
        if isHost { _ = pace.allows(now: context.now) }
        return .write(context.memory.takePending())
    }

    /// Writes the state on view when a gap has begun. All results of the step are performed before, so that a refused
    /// write takes none of them back.
    private mutating func writeView(_ decisions: NodeDecisions, _ context: inout NodeDecisions.Context) -> Turn? {
        guard writesView, pending == nil else { return nil }
        writesView = false
        let before = (decisions, context.memory)
        context.memory.noteAll(decisions.app, now: context.now)
        guard outage == nil else { return nil }
        pending = Pending(events: [], acts: [], before: before)
        return .write(context.memory.takePending())
    }

    // MARK: While the disk refuses

    /// Whether this event waits unacknowledged until the disk works again.
    private mutating func holdsBack(
        _ event: PendingEvent, _ context: inout NodeDecisions.Context, _ vouched: VouchedLinks
    ) -> Bool {
        switch event {
        case .link(_, .received(let message)) where message.messageClass == .reliable: hold(event, message, &context)
        case .said(_, _, on: let id, by: _): hold(event, on: id, vouched)
        default: return false
        }
        return true
    }

    /// Holds a message of a vouched link. If it does not fit, the link ends.
    private mutating func hold(_ event: PendingEvent, on id: MeshCore.LinkID, _ vouched: VouchedLinks) {
        guard vouched[id] != nil, !overflowing.contains(id) else { return }
        if held.hasRoom(for: event), held.hasRoomInAll(for: event) { return held.append(event) }
        held.removeAll(saidOn: id)
        overflowing.append(id)
    }

    /// Holds a message, unacknowledged. A message without room is declined, and its sender repeats it later. Linked
    /// peers keep their room. Among peers that have left, the one with the most bytes loses its messages.
    private mutating func hold(
        _ event: PendingEvent, _ message: ReceivedMessage, _ context: inout NodeDecisions.Context
    ) {
        guard !context.mesh.hasDeclined(message) else { return }
        guard held.hasRoom(for: event) else { return context.mesh.decline(message) }
        while !held.hasRoomInAll(for: event) {
            let first = held.removeMost { [mesh = context.mesh] in $0 != message.peer && mesh.link(to: $0) == nil }
            guard let first else { return context.mesh.decline(message) }
            context.mesh.decline(first)
        }
        held.append(event)
    }
}

extension NodeDecisions {
    /// The guest's wishes that have not left yet.
    fileprivate var waitingWishes: [GuestFeature.Event] {
        (app.guest?.state.wishes ?? []).filter { $0.progress == .waiting }.map { wish in
            switch wish.kind {
            case .vote: .vote(wish.songID)
            case .takeBack: .takeBackVote(wish.songID)
            case .suggest: .suggest(wish.songID)
            }
        }
    }
}
