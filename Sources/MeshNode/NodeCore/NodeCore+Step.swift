// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeStore

// The step: what has happened is decided, the disk has it, and then it is performed.

extension NodeCore {
    /// A step whose write is under way.
    struct Step: Sendable {
        /// What it has decided on.
        var happenings: [Happening]
        /// What is to be done once the disk has it.
        var acts: [Act]
        /// What decides, and what it knows of the disk, as they were before.
        var before: (decisions: NodeDecisions, memory: NodeMemory)
    }

    /// When the next step may be taken. A guest, whose person taps and whose host paces it, waits for nothing.
    var nextStep: MeshInstant { isHost ? pace.opens(now: context.now) : context.now }

    /// Takes what has gathered, as long as nothing waits for the disk.
    mutating func step() {
        waiting.releaseCrowds(now: context.now)
        while writing == nil, !waiting.isEmpty, hasStarted, !isQuitting, nextStep <= context.now {
            // A guest has one host, and what it hears of that goes before nothing else.
            step(waiting.takeTurn(isHost ? NodeLimits.turn : .max))
        }
    }

    mutating func step(_ happenings: [Happening]) {
        // Behind what waits already: nothing may be acknowledged before that.
        let happenings = storeOutage == nil ? happenings : happenings.filter { !holdsBack($0) }
        let before = (decisions, context.memory)
        // A disk that has failed is asked again, whether there is something to write or not.
        if let storeOutage, storeOutage.retryAt <= context.now {
            context.memory.noteAll(decisions.app, now: context.now)
        }
        var acts: [Act] = []
        for happening in happenings { acts += decisions.decide(happening, &context) }
        context.memory.note(decisions.app, now: context.now)
        guard context.memory.isUrgent else { return perform(acts) }
        writing = Step(happenings: happenings, acts: acts, before: before)
        // A disk that has just failed is left alone for a while: what waits for it, waits, and the music does not.
        if let storeOutage, storeOutage.retryAt > context.now { return writeFailed(storeOutage.error) }
        if isHost { _ = pace.allows(now: context.now) }
        emit(.write(context.memory.takePending()))
    }

    /// What waits for a write goes to the disk now, where nothing else has to wait for it.
    mutating func writeNow() {
        guard writing == nil, storeOutage == nil else { return }
        writing = Step(happenings: [], acts: [], before: (decisions, context.memory))
        emit(.write(context.memory.takePending()))
    }

    /// The disk has it: now it leaves, is acknowledged and shown.
    mutating func written() {
        guard let step = writing else { return }
        writing = nil
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
        // What found no way to the disk when a link was there is tapped again, as it were.
        waiting.prepend(wishesThatWait.map { .wish($0) })
    }

    /// The disk takes nothing. The music goes on, and what peers have said waits, unacknowledged; what the person at this
    /// device wants is refused, since it could be forgotten.
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
        // One notice of the disk, whatever has come of it: what it says now.
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

    /// Whether this is something that waits for a disk that is out, unacknowledged.
    private mutating func holdsBack(_ happening: Happening) -> Bool {
        switch happening {
        case .link(_, .received(let message)) where message.messageClass == .reliable: hold(happening, message)
        case .said(_, _, on: let id, by: _): hold(happening, on: id)
        default: return false
        }
        return true
    }

    /// Something said on a link that its bearer vouches for waits. Where there is no room for it, the link ends, and the next
    /// one brings it again.
    private mutating func hold(_ happening: Happening, on id: MeshCore.LinkID) {
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

    /// A message waits for the disk, unacknowledged. What there is no room for comes again when there is: all who are linked
    /// have room, and of those who have left the one with the most goes.
    private mutating func hold(_ happening: Happening, _ message: ReceivedMessage) {
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
