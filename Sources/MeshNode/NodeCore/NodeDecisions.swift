// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession

/// What has happened above a node's links and is not decided yet.
enum Happening: Sendable {
    case event(NodeCore.Event)
    case link(MeshCore.LinkID, LinkEvent)
    /// A link that its bearer vouches for is up, or has another name.
    case joined(MeshCore.LinkID, Peer)
    /// Something was said on such a link, with this number.
    case said(MeshMessage, UInt64, on: MeshCore.LinkID, by: Peer.ID)
    /// Such a link is over.
    case left(MeshCore.LinkID, Peer.ID, LinkEnd)
    case inviteFailed(InviteFailure)
    /// A peer is not remembered any more.
    case forgot(Peer.ID)
    /// Something that found no way to the disk before is wanted again.
    case wish(GuestFeature.Event)
}

/// What is to be done once the disk has what was decided.
enum Act: Sendable {
    /// The node is ready.
    case begin
    case effect(AppFeature.Effect)
    case show(NodeEvent)
    case tell(Notice)
    /// What the notice of this code was about is over.
    case clear(String)
    /// What ends notices has happened.
    case cleared(by: Problem.Clearer)
    case steer(ReconnectPolicy.Event)
    case share(StateFeed.Event)
    /// A guest is there, on this link.
    case guestConnected(Peer.ID, on: MeshCore.LinkID)
    case accept(ReceivedMessage)
    /// The same, on a link that its bearer vouches for.
    case acknowledge(UInt64, on: MeshCore.LinkID)
    /// Tell something on such a link.
    case deliver(MeshMessage, on: MeshCore.LinkID)
    /// A reliable message that waits for the disk may leave.
    case release(number: UInt64, to: Peer.ID)
    case disconnect(Peer.ID)
    /// What was joined under this head of an identifier is forgotten.
    case forgetHost(Peer.ID)
    /// The host has ended the link, or this guest has left it.
    case hostLeft(Peer, LinkEnd)
    case retryRadio
    /// The person wants to have it tried again; `isWell` where the radio works, and there is a host.
    case retried(isWell: Bool)
    /// The session is over: what is stored of it is not gone on with.
    case beginAnewNextTime
    case answer(Int)
    case quit(ByeReason)
}

/// Decides what is to become of what happens: the features decide, and what they want is the step's acts.
///
/// A plain value: where the disk does not take what a step has decided, the node goes back to what this was before it.
struct NodeDecisions: Sendable {
    private(set) var app = AppFeature()
    private(set) var monitor = NetworkMonitor()
    /// A guest's way to its host. What it decides is performed at once: it moves only when a step's acts do.
    var policy: ReconnectPolicy
    private(set) var presence = Presence()
    private var inRange: Set<Peer.ID> = []
    /// The host, or its head, that has proved another key than the one that was joined before: a tap on Retry forgets that.
    private var changedKey: Peer.ID?

    /// What decides for a node of this kind, as an earlier run has left it.
    init(_ part: NodeCore.Part, _ local: Peer, _ memory: inout NodeMemory) {
        policy = ReconnectPolicy(wanted: part.wanted)
        let event: AppFeature.Event =
            switch part {
            case .host(let hosting): .startHosting(memory.hostFeature(local, hosting, now: .zero))
            case .guest: .startJoining(memory.guestFeature(local))
            }
        // That the radio starts is the owner's first act, whatever it begins as.
        _ = app.handle(event, now: .zero)
    }

    /// When the features are to be asked again.
    var deadline: MeshInstant? { [app.deadline, policy.deadline, monitor.deadline].compactMap(\.self).min() }

    /// What a step decides with: the conversations that hold what is said, and what the next write takes along.
    struct Context {
        var mesh: MeshCore
        var memory: NodeMemory
        var now: MeshInstant
        /// What is decided now cannot be written: nothing may leave that would have to be.
        var isWithoutStore = false
        /// The link that its bearer vouches for on which something was asked just now.
        var asking: MeshCore.LinkID?
    }

    mutating func decide(_ happening: Happening, _ context: inout Context) -> [Act] {
        switch happening {
        case .event(let event): return decide(event, &context)
        case .link(let id, .latestHasLeft):
            return context.mesh.peer(on: id).map { [.share(.updateHasLeft($0.id))] } ?? []
        case .link(let id, .connected(let peer)): return connected(peer, on: id, &context)
        case .link(let id, let event): return decide(event, on: id, &context)
        case .joined(let id, let peer): return joined(id, peer, &context)
        case .said(let message, let number, let id, let peer):
            if case .choosing = app.state { return [] }
            context.asking = id
            defer { context.asking = nil }
            return ask(.host(.multipeerEvent(.messageReceived(message, from: known(peer)))), &context)
                + [.acknowledge(number, on: id)]
        case .left(let id, let peer, let end):
            let gone = known(peer)
            guard presence.unlinked(peer, by: id) == true else { return [] }
            let reason = DisconnectReason(end)
            return [.show(.peerDisconnected(gone, reason))]
                + ask(.multipeerEvent(.peerDisconnected(gone, reason: reason)), &context)
        case .inviteFailed(let failure): return inviteFailed(failure)
        case .forgot(let peer):
            context.memory.forget(peer)
            return []
        case .wish(let event): return ask(.guest(event), &context)
        }
    }

    private mutating func decide(_ event: NodeCore.Event, _ context: inout Context) -> [Act] {
        switch event {
        case .heard(let peer, let rssi, let hops, _):
            let isNew = inRange.insert(peer.id).inserted
            return (isNew ? [.show(.peerDiscovered(peer, rssi: rssi, hops: hops))] : [])
                + ask(.multipeerEvent(.peerDiscovered(peer)), &context) + [.steer(.heard(peer))]
        case .unheard(let peer):
            guard inRange.remove(peer.id) != nil else { return [] }
            return [.show(.peerLost(peer))] + ask(.multipeerEvent(.peerLost(peer)), &context)
        case .radioFailed(let error): return watch(.radioFailed(error), &context)
        case .radioRecovered: return watch(.radioRecovered, &context)
        case .radioRepaired(let notice): return [.tell(notice)]
        case .input(let input): return decide(input, &context)
        case .found(let results, let peer):
            guard let host = app.host, peer == host.local.id else { return [.share(.answered(results, for: peer))] }
            // Another search of the same person may have come after it.
            guard let search = host.state.search, search.number == results.number else { return [] }
            return [.show(.searchResults(results.songs, query: search.words))]
        case .cover(let songID, let path): return [.show(.artwork(songID, path: path)), .cleared(by: .loaded)]
        case .coverFailed(let error): return [.tell(Notice(error))]
        case .asked(let number): return [.answer(number)]
        case .tick:
            let isDue = app.deadline.map { $0 <= context.now } == true
            return watch(.tick, &context) + (isDue ? ask(.host(.tick), &context) : []) + [.steer(.tick)]
        case .started: return [.begin]
        // The links' own, and what is dealt with at once.
        case .reached, .opened, .dialFailed, .received, .channelClosed, .joined, .said, .left, .measured, .written,
            .writeFailed, .end:
            return []
        }
    }

    // MARK: People and what is around the node

    private mutating func decide(_ input: NodeInput, _ context: inout Context) -> [Act] {
        switch input {
        case .host(let command): return ask(.host(.command(command)), &context)
        case .guest(let event):
            // What could be forgotten is refused.
            return context.isWithoutStore && event.isWish ? [] : ask(.guest(event), &context)
        // Whoever was refused and asks again is to be told again.
        case .retry:
            defer { changedKey = nil }
            let isWell = monitor.refusal == nil && (app.host != nil || app.guest?.state.host != nil)
            return [.retried(isWell: isWell)] + watch(.retry, &context) + forgetChangedKey(&context)
                + [.steer(.start)]
        case .leave:
            let goodbye = app.guest?.state.host.map { [Act.disconnect($0.id)] } ?? []
            return goodbye + ask(.guest(.gaveUp), &context) + [.cleared(by: .left), .steer(.leave)]
        case .player(let report): return ask(.host(.player(report)), &context)
        case .library(let library): return ask(.host(.library(library)), &context) + [.show(.library(library))]
        case .end:
            // What was decided before it in this step is kept, since the power may go before the end is written.
            context.memory.note(app, now: context.now)
            return ask(.endSession, &context) + [.beginAnewNextTime, .quit(.quit)]
        case .notice(let notice): return [.tell(notice)]
        case .cured(let code): return [.clear(code)]
        case .mark(let text): return [.show(.mark(text))]
        case .quit(let reason): return [.quit(reason)]
        }
    }

    // MARK: Links

    private mutating func decide(
        _ event: LinkEvent, on id: MeshCore.LinkID, _ context: inout Context
    ) -> [Act] {
        switch event {
        case .received(let message): return received(message, &context)
        case .acknowledged(let number, let peer):
            return context.memory.delivered(upTo: number, to: peer).flatMap {
                ask(.multipeerEvent(.messageDelivered(.intent($0), to: peer)), &context)
            }
        case .admitted, .connected, .latestHasLeft, .roundTrip: return []
        case .ended(let peer, let end):
            let twin = app.host != nil && end == .refused(.twin) ? [Act.tell(Notice(.twins(peer)))] : []
            return ended(peer, on: id, end, &context) + twin
        case .failed(_, let proved?, .refused(.twin)) where app.host != nil && proved == context.mesh.local.id:
            return [.tell(Notice(.twins(context.mesh.local)))]
        case .failed(let expected, let proved, let end):
            // Somebody else's dial, or one of ours that was taken back.
            guard let expected, end != .left else { return [] }
            if end == .misbehaved(.changedIdentity), !context.mesh.joined(withHead: expected).isEmpty {
                changedKey = expected
                return [.tell(Notice(.hostKeyChanged(host: Peer(id: expected, name: "")))), .steer(.dialFailed)]
            }
            return inviteFailed(InviteFailure(end, provedBy: proved))
        }
    }

    private mutating func connected(_ peer: Peer, on id: MeshCore.LinkID, _ context: inout Context) -> [Act] {
        // Somebody else than the host that this guest wants is nobody's host here, and the link ends.
        if app.guest != nil, !policy.accepts(peer) { return [.steer(.linked(peer))] }
        changedKey = nil
        let isNews = presence.linked(peer, by: id, isVouched: false)
        context.memory.met(peer.id, context.mesh)
        return (isNews ? [.show(.peerConnected(peer))] : []) + [.steer(.linked(peer))]
            + watch(.linked(peer.id), &context) + [.cleared(by: .linked)]
            + (isNews ? ask(.multipeerEvent(.peerConnected(peer)), &context) : [])
            + [.guestConnected(peer.id, on: id)]
    }

    /// A bearer vouches for a guest. What its link says about the radio is nothing.
    private mutating func joined(_ id: MeshCore.LinkID, _ peer: Peer, _ context: inout Context) -> [Act] {
        let isNews = presence.linked(peer, by: id, isVouched: true)
        let told = isNews ? ask(.host(.multipeerEvent(.peerConnected(peer))), &context) : []
        let state = app.host.map { [Act.deliver(.stateUpdate($0.snapshot), on: id)] } ?? []
        return (isNews ? [.show(.peerConnected(peer))] : []) + told + state
    }

    /// What was wished for goes to the host that is joined next.
    private mutating func forgetChangedKey(_ context: inout Context) -> [Act] {
        guard let changedKey else { return [] }
        return [.forgetHost(changedKey)] + ask(.guest(.forgotHost(changedKey)), &context)
    }

    /// Who has left since may still have said something that counts.
    private func known(_ id: Peer.ID) -> Peer { presence[id] ?? Peer(id: id, name: "") }

    private mutating func received(_ message: ReceivedMessage, _ context: inout Context) -> [Act] {
        guard !context.mesh.hasDeclined(message) else { return [] }
        // The session is over, and nothing counts any more: it is not acknowledged, and its sender keeps it.
        if case .choosing = app.state { return [] }
        var acts: [Act] = []
        if let content = MeshMessage(encoded: message.body) {
            acts = ask(.multipeerEvent(.messageReceived(content, from: known(message.peer))), &context)
        }
        guard message.messageClass == .reliable else { return acts }
        context.memory.received(message, context.mesh)
        return acts + [.accept(message)]
    }

    private mutating func ended(
        _ peer: Peer, on id: MeshCore.LinkID, _ end: LinkEnd, _ context: inout Context
    ) -> [Act] {
        guard let isLast = presence.unlinked(peer.id, by: id) else { return [] }
        let reason = DisconnectReason(end)
        let watched = watch(reason == .linkLost ? .linkLost(peer.id) : .unlinked(peer.id), &context)
        let told = isLast ? ask(.multipeerEvent(.peerDisconnected(peer, reason: reason)), &context) : []
        return [.share(.guestGone(peer.id))] + (isLast ? [.show(.peerDisconnected(peer, reason))] : [])
            + (watched + told).map { act in
                // Here is why the host is gone.
                if case .effect(.guest(.returnToStart(let host, _))) = act { .hostLeft(host, end) } else { act }
            }
    }

    private func inviteFailed(_ failure: InviteFailure) -> [Act] {
        switch failure {
        case .refused(let reason, .some(let host)):
            [
                .cleared(by: .refused), .tell(Notice(NetworkError(reason, by: presence[host]))),
                .steer(.refused(reason, by: host)),
            ]
        // Anybody can say that in the host's name, so it is told, and tried again.
        case .refused(let reason, nil): [.tell(Notice(NetworkError(reason))), .steer(.dialFailed)]
        default: [.steer(.dialFailed)]
        }
    }

    // MARK: The radio's health

    /// Decides on an event of the radio's health.
    mutating func watch(_ event: NetworkMonitor.Event, _ context: inout Context) -> [Act] {
        monitor.handle(event, now: context.now).flatMap { action -> [Act] in
            switch action {
            case .networkUnavailable: ask(.multipeerEvent(.networkUnavailable), &context)
            case .causeChanged(let error): [.tell(Notice(error))]
            case .networkAvailable: [.cleared(by: .radioWorks)]
            case .tryAgain: [.retryRadio]
            }
        }
    }

    // MARK: The features

    private mutating func ask(_ event: AppFeature.Event, _ context: inout Context) -> [Act] {
        app.handle(event, now: context.now).flatMap { effect -> [Act] in
            switch effect {
            case .host(.reject(let intent, let reason, let peer)):
                reject(.rejection(intent, reason), to: peer, &context)
            case .guest(.send(let intent, let peer)): [.effect(effect)] + stage(.intent(intent), to: peer, &context)
            default: [.effect(effect)]
            }
        }
    }

    private mutating func sendFailed(
        _ message: MeshMessage, to peer: Peer.ID, _ cause: SendError.Cause, _ context: inout Context
    ) -> [Act] {
        let error = SendError(cause, to: known(peer))
        return ask(.multipeerEvent(.sendFailed(message, error)), &context)
    }

    /// By the link that has asked; what nobody has asked for just now, by every link that the peer has.
    private mutating func reject(_ rejection: MeshMessage, to peer: Peer.ID, _ context: inout Context) -> [Act] {
        let vouched = context.asking.map { [$0] } ?? presence.vouched(peer)
        let isByRadio = context.asking == nil && (presence.isOverRadio(peer) || vouched.isEmpty)
        return vouched.map { .deliver(rejection, on: $0) } + (isByRadio ? stage(rejection, to: peer, &context) : [])
    }

    /// Gives a reliable message to its conversation, which holds it until the disk has it.
    private mutating func stage(_ message: MeshMessage, to peer: Peer.ID, _ context: inout Context) -> [Act] {
        let body = message.encoded
        guard !context.isWithoutStore else { return sendFailed(message, to: peer, .notStored, &context) }
        guard case .queued(let number) = context.mesh.send(body, as: .reliable, to: peer).0,
            let remembered = context.mesh.remembered(peer)
        else { return sendFailed(message, to: peer, .full, &context) }
        context.memory.said(body, number: number, to: peer, remembered)
        if case .intent(let intent) = message { context.memory.sent(intent, number: number, to: peer) }
        return [.release(number: number, to: peer)]
    }
}

extension NodeCore.Part {
    fileprivate var wanted: String? {
        if case .guest(let wanted) = self { wanted } else { nil }
    }
}

extension GuestFeature.Event {
    /// Whether it is something to be kept until the host has it.
    fileprivate var isWish: Bool {
        switch self {
        case .vote, .takeBackVote, .suggest, .skip: true
        case .multipeerEvent, .search, .gaveUp, .forgotHost: false
        }
    }
}
