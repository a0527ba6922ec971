// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// The step: decide on the queued events, write, then perform the results.

extension NodeCore {
    /// A step with a pending write.
    struct Step: Sendable {
        /// The events on which the step has decided.
        var happenings: [PendingEvent]
        /// The acts to perform once the write is durable.
        var acts: [StepAction]
        /// The decision state and the memory before the step, for a rollback.
        var before: (decisions: NodeDecisions, memory: NodeMemory)
    }

    /// When the next step may start. A guest's steps are not delayed: its person and its host limit their rate.
    var nextStep: MeshInstant { isHost ? pace.opens(now: context.now) : context.now }

    /// Decides on queued events, unless a write is pending.
    mutating func step() {
        waiting.releaseCrowds(now: context.now)
        writeView()
        while writing == nil, !waiting.isEmpty, hasStarted, !isQuitting, nextStep <= context.now {
            // A guest has only one host, so no fair turns among peers are needed.
            step(waiting.takeTurn(isHost ? NodeLimits.turn : .max))
            writeView()
        }
    }

    /// What is true after each event, in debug builds and in the simulator.
    func checkInvariants() {
        assert(!writesView || writing != nil, "the view of a gap waits only for an earlier write")
        assert(held.isEmpty || storeOutage != nil, "messages are held back only while the disk refuses writes")
        assert(writing == nil || hasStarted, "a node that has not started writes nothing")
        assert(decisions.app.isHosting != decisions.app.isJoining, "a node is a host or a guest")
        assert(circuits.held.allSatisfy { circuits.place(of: $0) != nil }, "only circuits that exist are held")
    }

    mutating func step(_ happenings: [PendingEvent]) {
        assert(writing == nil, "one write at a time")
        // Behind what waits already: nothing may be acknowledged before that.
        let happenings = storeOutage == nil ? happenings : happenings.filter { !holdsBack($0) }
        let before = (decisions, context.memory)
        // A failed disk is retried even if there is nothing new to write.
        if let storeOutage, storeOutage.retryAt <= context.now {
            context.memory.noteAll(decisions.app, now: context.now)
        }
        var acts: [StepAction] = []
        for happening in happenings { acts += decisions.decide(happening, &context) }
        context.memory.note(decisions.app, now: context.now)
        // Each heartbeat writes the position in the song, so a power cut costs at most the time between two of them.
        if storeOutage == nil, acts.contains(where: \.isHeartbeat) {
            context.memory.noteAll(decisions.app, now: context.now)
        }
        guard context.memory.isUrgent else { return perform(acts) }
        writing = Step(happenings: happenings, acts: acts, before: before)
        // A disk that has just failed is not retried yet. Events that need it wait, and the music continues.
        if let storeOutage, storeOutage.retryAt > context.now { return writeFailed(storeOutage.error) }
        if isHost { _ = pace.allows(now: context.now) }
        emit(.write(context.memory.takePending()))
    }

    /// A gap has begun: the state on view is written, and nothing waits for that. All acts of the step are performed before, so
    /// that a refused write takes none of them back.
    private mutating func writeView() {
        guard writesView, writing == nil else { return }
        writesView = false
        let before = (decisions, context.memory)
        context.memory.noteAll(decisions.app, now: context.now)
        guard storeOutage == nil else { return }
        writing = Step(happenings: [], acts: [], before: before)
        emit(.write(context.memory.takePending()))
    }

    /// The write is durable. Its results are sent, acknowledged and shown.
    mutating func written() {
        guard let step = writing else { return }
        writing = nil
        assert(!context.isWithoutStore)
        context.memory.wrote()
        let wasOut = storeOutage != nil
        if wasOut {
            storeOutage = nil
            clear(by: .written)
        }
        perform(step.acts)
        guard wasOut else { return }
        waiting.prepend(held.takeAll())
        apply(context.mesh.askForDeclined())
        // Wishes that could not be written while a link was up are decided again.
        waiting.prepend(wishesThatWait.map { .wish($0) })
    }

    /// The write has failed. The music continues. Messages of peers are held unacknowledged. Wishes of the person at
    /// this device are refused, because they could be forgotten.
    mutating func writeFailed(_ error: NodeStoreError) {
        guard let step = writing else { return }
        writing = nil
        for key in context.memory.heldConversations { context.mesh.withdrawHeld(for: key) }
        (decisions, context.memory) = step.before
        context.memory.drop()
        emit(.storeFailed(error, isFirst: storeOutage == nil))
        let told = storeOutage?.error
        let isPausing = storeOutage.map { $0.retryAt > context.now } ?? false
        if !isPausing { storeOutage = (error, retryAt: context.now + NodeLimits.storeRetry) }
        // Only one notice about the disk is shown: the latest.
        if let told, NetworkError(told) != NetworkError(error) { clear(by: .written) }
        clear(HeadUnitProblem.driveNotRecordedCode)
        tell(Notice(NetworkError(error)))
        context.isWithoutStore = true
        defer { context.isWithoutStore = false }
        for happening in step.happenings {
            if case .wish = happening { continue }
            if !holdsBack(happening) { perform(decisions.decide(happening, &context)) }
        }
    }

    /// Whether this event waits unacknowledged until the disk works again.
    private mutating func holdsBack(_ happening: PendingEvent) -> Bool {
        switch happening {
        case .link(_, .received(let message)) where message.messageClass == .reliable: hold(happening, message)
        case .said(_, _, on: let id, by: _): hold(happening, on: id)
        default: return false
        }
        return true
    }

    /// Holds a message of a vouched link. If it does not fit, the link ends, and the peer sends the message again on
    /// the next one.
    private mutating func hold(_ happening: PendingEvent, on id: MeshCore.LinkID) {
        guard links.vouched(on: id) != nil else { return }
        if held.hasRoom(for: happening), held.hasRoomInAll(for: happening) { return held.append(happening) }
        held.removeAll(saidOn: id)
        emit(.end(id, .linkLost))
        left(id, .linkLost)
    }

    private var wishesThatWait: [GuestFeature.Event] {
        (decisions.app.guest?.state.wishes ?? []).filter { $0.progress == .waiting }.map { wish in
            switch wish.kind {
            case .vote: .vote(wish.songID)
            case .takeBack: .takeBackVote(wish.songID)
            case .suggest: .suggest(wish.songID)
            }
        }
    }

    /// Holds a message, unacknowledged. A message without room is declined, and its sender repeats it later. Linked
    /// peers keep their room. Among peers that have left, the one with the most bytes loses its messages.
    private mutating func hold(_ happening: PendingEvent, _ message: ReceivedMessage) {
        guard !context.mesh.hasDeclined(message) else { return }
        guard held.hasRoom(for: happening) else { return context.mesh.decline(message) }
        while !held.hasRoomInAll(for: happening) {
            let first = held.removeMost { [mesh = context.mesh] in $0 != message.peer && mesh.link(to: $0) == nil }
            guard let first else { return context.mesh.decline(message) }
            context.mesh.decline(first)
        }
        held.append(happening)
    }
}
