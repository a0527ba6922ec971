// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession
import NodeStore

// A step: what has happened is understood, the features decide, the disk has it, and then it is carried out.

extension DJNode {
    /// What a step has to deal with, in order.
    enum Matter {
        /// The features decide.
        case event(AppFeature.Event)
        /// A peer's message: the features decide, and it is acknowledged. Nil where it says nothing to this version.
        case message(ReceivedMessage, MeshMessage?, from: Peer)
        /// Nothing is left to be decided.
        case act(Act)
    }

    /// What is to be done once the disk has what was decided.
    enum Act {
        case effect(AppFeature.Effect)
        case show(NodeEvent)
        case tell(Notice)
        /// What the notices of these codes were about is over.
        case cure([String])
        case steer(ReconnectPolicy.Event)
        case share(StateFeed.Event)
        case accept(ReceivedMessage)
        /// A reliable message that waits for the disk may leave.
        case release(number: UInt64, to: Peer.ID)
        case disconnect(Peer.ID)
        case tryRadioAgain
        /// The session is over: what is stored of it is not gone on with.
        case beginAnewNextTime
        case quit(ByeReason)
    }

    /// Takes what has gathered.
    func step(_ inputs: [Input]) async {
        var matters: [Matter] = held.map { matter($0) } + heldFromWeb.map { .event(.host(.multipeerEvent($0))) }
        held = []
        heldFromWeb = []
        for input in inputs { matters += await understand(input) }
        await deal(with: matters)
        showPlayback()
        showActivity()
        wake()
    }

    private func deal(with matters: [Matter]) async {
        let before = app
        // A disk that has failed is asked again, whether there is something to write or not.
        if let storeOutage, storeOutage.retryAt <= clock.now { memory.noteAll(app, now: clock.now) }
        do {
            let (acts, hasWritten) = try await decideAndKeep(matters)
            let isCured = hasWritten && storeOutage != nil
            if isCured { cureStore() }
            for act in acts { await carryOut(act) }
            if isCured { await deal(with: wishesThatWait) }
        } catch {
            app = before
            await goOnWithoutStore(matters, error)
        }
    }

    /// The features decide, and what they changed is on the disk when this returns.
    private func decideAndKeep(_ matters: [Matter]) async throws(NodeStoreError) -> (acts: [Act], hasWritten: Bool) {
        var acts: [Act] = []
        for matter in matters { acts += await decide(matter) }
        memory.note(app, now: clock.now)
        guard memory.isUrgent else { return (acts, false) }
        let batch = memory.pending
        do throws(NodeStoreError) {
            // A disk that has just failed is left alone for a while: what waits for it, waits, and the music does not.
            if let storeOutage, storeOutage.retryAt > clock.now { throw storeOutage.error }
            try await memory.store.write(batch)
        } catch {
            for peer in Set(batch.outgoing.map(\.peer)) {
                await client.withdrawHeld(for: peer)
                if let first = batch.outgoing.first(where: { $0.peer == peer }) {
                    memory.withdrawn(from: first.number, for: peer)
                }
            }
            memory.drop()
            throw error
        }
        memory.wrote()
        return (acts, true)
    }

    /// The disk takes nothing. The music goes on, and what peers have said waits, unacknowledged; what the person at this
    /// box wants is refused, since it could be forgotten.
    private func goOnWithoutStore(_ matters: [Matter], _ error: NodeStoreError) async {
        // Once for each time that it fails: it is asked again every second.
        logger.log(level: storeOutage == nil ? .error : .debug, "the store takes nothing: \(error)")
        storeFailed(error)
        isWithoutStore = true
        defer { isWithoutStore = false }
        for matter in matters {
            switch matter {
            case .message(let message, _, _) where message.messageClass == .reliable: hold(message)
            case .event(.guest(let event)) where event.isWish: break
            case .event(.host(.multipeerEvent(let event))) where event.isMessage: hold(event)
            default:
                for act in await decide(matter) { await carryOut(act) }
            }
        }
    }

    /// What found no way to the disk when a link was there is tapped again, as it were.
    private var wishesThatWait: [Matter] {
        (app.guest?.state.wishes ?? []).filter { $0.progress == .waiting }.map { wish in
            switch wish.kind {
            case .vote: .event(.guest(.vote(wish.songID)))
            case .takeBack: .event(.guest(.takeBackVote(wish.songID)))
            case .suggest: .event(.guest(.suggest(wish.songID)))
            }
        }
    }

    /// Nobody honest has more than an outbox full of unacknowledged messages.
    private func hold(_ message: ReceivedMessage) {
        guard held.count(where: { $0.peer == message.peer }) < Limits.outboxMessages else { return }
        held.append(message)
    }

    /// Browsers ask again less patiently than radios: what is beyond an outbox's worth of all of them is lost to them.
    private func hold(_ event: MultipeerEvent) {
        if heldFromWeb.count < Limits.outboxMessages { heldFromWeb.append(event) }
    }

    func matter(_ message: ReceivedMessage) -> Matter {
        // Whoever has left since may still have said something that counts.
        .message(
            message, MeshMessage(encoded: message.body), from: peers[message.peer] ?? Peer(id: message.peer, name: ""))
    }

    // MARK: Decisions

    private func decide(_ matter: Matter) async -> [Act] {
        switch matter {
        case .event(let event): return await decide(event)
        case .act(let act): return [act]
        case .message(let message, let content, let peer):
            var acts: [Act] = []
            if let content {
                acts = await decide(.multipeerEvent(.messageReceived(content, from: peer)))
            }
            guard message.messageClass == .reliable else { return acts }
            if let remembered = await client.remembered(message.peer) {
                memory.pending.receipts.append(
                    StoreBatch.Receipt(
                        peer: message.peer, epoch: message.epoch, number: message.number, remembered: remembered))
            }
            return acts + [.accept(message)]
        }
    }

    private func decide(_ event: AppFeature.Event) async -> [Act] {
        var acts: [Act] = []
        for effect in app.handle(event, now: clock.now) {
            acts.append(.effect(effect))
            switch effect {
            case .host(.reject(let intent, let reason, let peer)) where !web.contains(peer):
                acts += await stage(.rejection(intent, reason), to: peer)
            case .guest(.send(let intent, let peer)): acts += await stage(.intent(intent), to: peer)
            default: break
            }
        }
        return acts
    }

    /// Gives a reliable message to the transport, which holds it until the disk has it.
    private func stage(_ message: MeshMessage, to peer: Peer.ID) async -> [Act] {
        let body = message.encoded
        guard !isWithoutStore, case .queued(let number)? = await client.send(body, as: .reliable, to: peer)[peer],
            let remembered = await client.remembered(peer)
        else {
            return await decide(.multipeerEvent(.sendFailed(message, to: peers[peer] ?? Peer(id: peer, name: ""))))
        }
        memory.pending.outgoing.append(
            StoreBatch.Outgoing(peer: peer, number: number, body: body, remembered: remembered))
        if case .intent(let intent) = message { memory.sent(intent, number: number, to: peer) }
        return [.release(number: number, to: peer)]
    }
}

extension MultipeerEvent {
    /// Whether a peer says something.
    fileprivate var isMessage: Bool { if case .messageReceived = self { true } else { false } }
}

extension GuestFeature.Event {
    /// Whether it is something to be kept until the host has it.
    fileprivate var isWish: Bool {
        switch self {
        case .vote, .takeBackVote, .suggest, .skip: true
        case .multipeerEvent, .search: false
        }
    }
}
