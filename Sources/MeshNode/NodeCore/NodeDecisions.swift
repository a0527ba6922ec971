// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession
import NodeStore

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
    /// The host's invitations are others; this one was just made.
    case showInvitations(making: GivenInvitation?)
    /// This key is kept out, and leaves where it is linked; nil where somebody is kept out no longer.
    case keepOut(Peer.ID?)
    /// A host's session is over, and the next one has begun. Its guests get a goodbye and join again.
    case sessionEnded
    /// A guest is there, on this link.
    case guestConnected(Peer.ID, on: MeshCore.LinkID)
    case accept(ReceivedMessage)
    /// The same, on a link that its bearer vouches for.
    case acknowledge(UInt64, on: MeshCore.LinkID)
    /// Tell something on such a link.
    case deliver(MeshMessage, on: MeshCore.LinkID)
    /// A reliable message that waits for the disk may leave.
    case release(number: UInt64, in: ConversationKey)
    case disconnect(Peer.ID)
    /// What was joined under this head of an identifier is forgotten.
    case forgetHost(Peer.ID)
    /// The host has ended the link, or this guest has left it.
    case hostLeft(Peer, LinkEnd)
    case retryRadio
    /// The person wants to have it tried again; `isWell` where the radio works, there is a host, and covers come.
    case retried(isWell: Bool)
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
    private(set) var inRange = WaysInRange()
    /// Hosts of a known name and another key that people were told of, by their heads.
    var toldCopies = RecentTable<Peer.ID, Bool>(limit: NodeLimits.shownHosts)
    /// Links whose end is to be dealt with, and that went over something beside the radio.
    var besideRadio: Set<MeshCore.LinkID> = []
    /// Why covers cannot be had at present.
    private(set) var failingCovers: Set<NetworkError> = []
    /// Whom a host keeps out beyond its session, the oldest first.
    var bans: [BanRecord] = []
    var banTimes = BanTimes()
    /// Whose devices steer a host beside the head unit, the oldest first.
    var drivers: [Peer] = []
    /// Those of them whose keys a browser has sent over a network in the clear. They steer with a browser only: whoever has read
    /// such a key could join by radio with it.
    var browserDrivers: Set<Peer.ID> = []
    /// The host, or its head, that has proved another key than the one that was joined before: a tap on Retry forgets that.
    var changedKey: Peer.ID?
    /// The hosts that the person was asked about last.
    var askedHosts: Set<Peer.ID> = []

    /// What decides for a node of this kind, as an earlier run has left it.
    init(_ part: NodeCore.Part, _ local: Peer, _ memory: inout NodeMemory) {
        policy = ReconnectPolicy(
            wanted: part.wanted, known: KnownHosts(memory.storedKnownHosts), joinsAny: part.joinsAny)
        let event: AppFeature.Event =
            switch part {
            case .host(let hosting): .startHosting(memory.hostFeature(local, hosting, now: .zero))
            case .guest: .startJoining(memory.guestFeature(local))
            }
        _ = app.handle(event, now: .zero)
        if case .host = part {
            (bans, drivers) = (memory.storedBans, memory.storedDrivers)
            browserDrivers = Set(memory.storedBrowserDrivers.map(\.id))
            _ = app.handle(.host(.drivers(drivers.map(\.id))), now: .zero)
        }
    }

    /// When the features are to be asked again.
    var deadline: MeshInstant? { earliest(earliest(app.deadline, policy.deadline), monitor.deadline) }

    /// What a step decides with: the conversations that hold what is said, and what the next write takes along.
    struct Context {
        var mesh: MeshCore
        /// The side of all of them that this node is.
        let role: LinkRole
        var memory: NodeMemory
        var now: MeshInstant
        /// What was read last: what has arrived is looked at once before its step, and once in it.
        private var last: (bytes: [UInt8], message: MeshMessage?)?
        /// What was read before, where that is shared.
        var reading: SharedReading?
        /// What is decided now cannot be written: nothing may leave that would have to be.
        var isWithoutStore = false
        /// How a peer has said what is decided on just now.
        enum Asker: Sendable {
            /// On a link that its bearer vouches for.
            case link(MeshCore.LinkID)
            /// In its conversation.
            case radio
        }

        var asker: Asker?

        init(mesh: MeshCore, role: LinkRole, memory: NodeMemory, now: MeshInstant) {
            (self.mesh, self.role, self.memory, self.now) = (mesh, role, memory, now)
        }

        /// What a peer says; nil where it is no message.
        mutating func read(_ bytes: [UInt8]) -> MeshMessage? {
            if let last, last.bytes == bytes { return last.message }
            let message = reading.map { $0.message(bytes) } ?? MeshMessage(encoded: bytes)
            last = (bytes, message)
            return message
        }

        /// The conversation with a peer.
        func key(of peer: Peer.ID) -> ConversationKey { mesh.key(peer, as: role) }
    }

    mutating func decide(_ happening: Happening, _ context: inout Context) -> [Act] {
        switch happening {
        case .event(.input(let input)): return decide(input, &context)
        case .event(let event): return decide(event, &context)
        case .link(let id, .latestHasLeft):
            return context.mesh.peer(on: id).map { [.share(.updateHasLeft($0.id))] } ?? []
        case .link(let id, .connected(let peer)): return connected(peer, on: id, &context)
        case .link(_, .received(let message)): return received(message, &context)
        case .link(let id, let event): return decide(event, on: id, &context)
        case .joined(let id, let peer): return joined(id, peer, &context)
        case .said(let message, let number, let id, let peer):
            guard app.isHosting || app.isJoining else { return [] }
            context.asker = .link(id)
            defer { context.asker = nil }
            // No later than the answer to it: a rejection that comes before is an earlier message's.
            return [.acknowledge(number, on: id)]
                + ask(.host(.multipeerEvent(.messageReceived(message, from: known(peer)))), &context)
        case .left(let id, let peer, let end):
            let gone = known(peer)
            guard presence.unlinked(peer, by: id) == true else { return [] }
            let reason = DisconnectReason(end)
            return [.show(.peerDisconnected(gone, reason))]
                + ask(.multipeerEvent(.peerDisconnected(gone, reason: reason)), &context)
        case .way(let relay): return heard(relay.way, rssi: relay.rssi, &context)
        case .inviteFailed(let failure): return inviteFailed(failure)
        case .forgot(let key):
            context.memory.forget(key)
            return []
        case .wish(let event): return ask(.guest(event), &context)
        }
    }

    private mutating func decide(_ event: NodeCore.Event, _ context: inout Context) -> [Act] {
        switch event {
        case .heard(let peer, let rssi, let hops, _, let relay, _, _, let bearer):
            let way = WaysInRange.Way(host: peer, hops: hops, relay: relay, bearer: bearer)
            let told = heard(way, rssi: rssi, &context)
            let discovered = ask(.multipeerEvent(.peerDiscovered(peer)), &context) + tellCopy(peer)
            if context.mesh.host == nil, let question = askWhichHost() { return told + discovered + question }
            return told + discovered
                + (bearer != .broker || policy.isMeant(peer) ? [.steer(.heard(peer))] : [])
        case .unheard(let peer): return inRange.unheard(peer.id).map { lost($0, &context) } ?? []
        case .radioFailed(let error): return watch(.radioFailed(error), &context)
        case .radioRecovered: return watch(.radioRecovered, &context)
        case .radioRepaired(let notice): return [.tell(notice)]
        case .broker(let report): return told(report)
        case .found(let results, let peer):
            guard let host = app.host, peer == host.local.id else { return [.share(.answered(results, for: peer))] }
            // Another search of the same person may have come after it.
            guard let search = host.state.search, search.number == results.number else { return [] }
            return [.show(.searchResults(results.found, query: search.query))]
        case .cover(let songID, let path): return [.show(.artwork(songID, path: path)), .cleared(by: .loaded)]
        case .coverFailed(let error, let isExpected):
            failingCovers.insert(error)
            return isExpected ? [] : [.tell(Notice(error))]
        case .coverRecovered(let error):
            failingCovers.remove(error)
            return [.clear(Notice(error).code)]
        case .asked(let number): return [.answer(number)]
        case .tick:
            let isDue = app.deadline.map { $0 <= context.now } == true
            let ended = endBans(&context) + watch(.tick, &context)
            return ended + (isDue ? ask(.host(.tick), &context) : []) + [.steer(.tick)]
        case .started: return [.begin]
        // The links' own, and what is dealt with elsewhere.
        case .input, .heardRelay, .better, .reached, .adapterTimed, .opened, .dialFailed, .received, .channelClosed,
            .joined, .claimed, .said, .left, .measured, .written, .writeFailed, .coverMade, .end:
            return []
        }
    }

    /// How the broker is: one notice takes the place of another, and its connection clears them.
    private func told(_ report: BrokerReport) -> [Act] {
        let problem = report.problem.map { Notice(HeadUnitProblem.broker($0)) }
        let former = report.state == nil ? [] : BrokerProblem.codes.filter { $0 != problem?.code }
        return [.show(.broker(report))] + former.map { .clear($0) } + (problem.map { [.tell($0)] } ?? [])
    }

    /// A way to a host is heard: people are told where they were not.
    private mutating func heard(_ way: WaysInRange.Way, rssi: Int?, _ context: inout Context) -> [Act] {
        let (isNew, former) = inRange.heard(way)
        return (former.map { lost($0, &context) } ?? [])
            + (isNew
                ? [.show(.peerDiscovered(way.host, rssi: rssi, hops: way.hops, via: way.relay, bearer: way.bearer))]
                : [])
    }

    /// A host is heard that has the name of one that was joined, and another key.
    private mutating func tellCopy(_ peer: Peer) -> [Act] {
        guard app.isJoining, app.guest?.state.host == nil, let host = policy.host(copiedBy: peer),
            toldCopies[peer.id] == nil
        else { return [] }
        toldCopies[peer.id] = true
        return [.tell(Notice(.otherHost(name: host.name, head: Identity.head(of: peer.id))))]
    }

    /// A way to a host is gone, and with the last one the host.
    private mutating func lost(_ way: WaysInRange.Way, _ context: inout Context) -> [Act] {
        [.show(.peerLost(way.host, via: way.relay?.id))]
            + (inRange.contains(way.host.id) ? [] : ask(.multipeerEvent(.peerLost(way.host)), &context))
    }

    // MARK: Links

    private mutating func decide(
        _ event: LinkEvent, on id: MeshCore.LinkID, _ context: inout Context
    ) -> [Act] {
        switch event {
        case .acknowledged(let number, let key):
            return context.memory.delivered(upTo: number, in: key).flatMap {
                ask(.multipeerEvent(.messageDelivered(.intent($0), to: key.peer)), &context)
            }
        case .admitted, .connected, .received, .latestHasLeft, .roundTrip, .asked, .carrier, .route, .carrierEnded,
            .askedForRoom:
            return []
        case .invitationUsed: return noteInvitations(&context)
        case .unansweredProofs:
            context.memory.note(unanswered: context.mesh.unanswered.rows)
            return []
        case .guessedWrong(let peer): return [.show(.pinGuessed(peer)), .tell(Notice(.pinGuessed(by: peer)))]
        case .ended(let peer, let end):
            let twin = app.isHosting && end == .refused(.twin) ? [Act.tell(Notice(.twins(peer)))] : []
            return ended(peer, on: id, end, &context) + twin
        case .failed(_, let proved?, .refused(.twin)) where app.isHosting && proved == context.mesh.local.id:
            return [.tell(Notice(.twins(context.mesh.local)))]
        case .failed(let expected, let proved, let end):
            // Somebody else's dial, or one of ours that was taken back.
            guard let expected, end != .left else { return [] }
            if end == .misbehaved(.changedIdentity), !context.mesh.joined(withHead: expected).isEmpty {
                changedKey = expected
                return [.tell(Notice(.hostKeyChanged(host: Peer(id: expected, name: "")))), .steer(.dialFailed)]
            }
            // A host that was proved before asks again, and this guest sends no proof at present.
            if end == .refused(.challenge), context.mesh.holdsBackProofs {
                return inviteFailed(.heldBack(proved ?? expected))
            }
            // It may be near, and somebody else be nearer.
            if end == .misbehaved(.unprovenHost) {
                return [.tell(Notice(NetworkError.unprovenHost)), .steer(.refused(.challenge, by: proved ?? expected))]
            }
            return inviteFailed(InviteFailure(end, provedBy: proved))
        }
    }

    private mutating func connected(_ peer: Peer, on id: MeshCore.LinkID, _ context: inout Context) -> [Act] {
        // Somebody else than the host that this guest wants is nobody's host here, and the link ends. Nor is it one that was
        // joined, whose key would keep the host out that it passes for.
        if app.isJoining, !policy.accepts(peer) {
            let isNew = context.mesh.conversation(context.key(of: peer.id))?.isBlank == true
            return tellCopy(peer) + [.steer(.linked(peer))] + (isNew ? [.forgetHost(peer.id)] : [])
        }
        changedKey = nil
        let hosts: [Act] = app.isJoining ? noteJoined(peer, &context) : []
        let isNews = presence.linked(peer, by: id, isVouched: false)
        context.memory.met(context.key(of: peer.id), context.mesh)
        return (isNews ? [.show(.peerConnected(peer))] : []) + hosts + [.steer(.linked(peer))]
            + watch(.linked(peer.id), &context) + [.cleared(by: .linked)]
            + (isNews ? ask(.multipeerEvent(.peerConnected(peer)), &context) : [])
            + (context.mesh.place(of: id) != nil && app.isJoining
                ? ask(.guest(.isServedByRelay(continues: context.mesh.continuesState(on: id))), &context) : [])
            + (context.mesh.hasShownState(on: id) ? ask(.guest(.mayGoOn), &context) : [])
            + [.guestConnected(peer.id, on: id)] + copiedHost(met: peer, context)
    }

    /// Of two hosts with one identity neither hears the other; whom a guest goes over to knows less than it has told.
    private func copiedHost(met peer: Peer, _ context: Context) -> [Act] {
        let (local, isHost) = (context.mesh.local, app.isHosting)
        let outdated = context.mesh.conversation(context.key(of: peer.id))?.outdated
        guard outdated == (isHost ? .ours : .theirs) else { return [] }
        return [.tell(Notice(.copied(host: isHost ? local : peer, guest: isHost ? peer : local)))]
    }

    /// A bearer vouches for a guest. What its link says about the radio is nothing.
    private mutating func joined(_ id: MeshCore.LinkID, _ peer: Peer, _ context: inout Context) -> [Act] {
        let isNews = presence.linked(peer, by: id, isVouched: true)
        noteBrowser(of: peer, &context)
        let told = isNews ? ask(.host(.multipeerEvent(.peerConnected(peer))), &context) : []
        return (isNews ? [.show(.peerConnected(peer))] : []) + told + [.guestConnected(peer.id, on: id)]
    }

    /// What was wished for goes to the host that is joined next. Where the old one is back with its key meanwhile, nothing is
    /// forgotten.
    mutating func forgetChangedKey(_ context: inout Context) -> [Act] {
        guard let changedKey else { return [] }
        self.changedKey = nil
        let joined = context.mesh.joined(withHead: changedKey)
        guard joined.allSatisfy({ context.mesh.link(to: $0) == nil }) else { return [] }
        return forget(changedKey, &context)
    }

    /// Who has left since may still have said something that counts.
    private func known(_ id: Peer.ID) -> Peer { presence[id] ?? Peer(id: id, name: "") }

    private mutating func received(_ message: ReceivedMessage, _ context: inout Context) -> [Act] {
        guard !context.mesh.hasDeclined(message) else { return [] }
        // The session is over, and nothing counts any more: it is not acknowledged, and its sender keeps it.
        guard app.isHosting || app.isJoining else { return [] }
        var acts: [Act] = []
        if let content = context.read(message.body) {
            context.asker = .radio
            defer { context.asker = nil }
            acts =
                refuseSteering(content, by: known(message.peer), &context)
                ?? ask(.multipeerEvent(.messageReceived(content, from: known(message.peer))), &context)
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
        let isRadios = besideRadio.remove(id) == nil
        let watched = watch(reason == .linkLost && isRadios ? .linkLost(peer.id) : .unlinked(peer.id), &context)
        // A host that is stopped keeps its session: its guests wait for it, as they do in a tunnel.
        let isStopped = end == .goodbye(.stopped)
        let ending = MultipeerEvent.peerDisconnected(peer, reason: isStopped && app.isJoining ? .linkLost : reason)
        let told = isLast ? ask(.multipeerEvent(ending), &context) : []
        let gone: [Act] = if case .goodbye = end { unheard(peer) } else { [] }
        return (isLast ? [.show(.peerDisconnected(peer, reason))] : []) + gone
            + (watched + told).map { act in
                // Here is why the host is gone.
                switch act {
                case .effect(.guest(.returnToStart(let host, _))): .hostLeft(host, end)
                case .effect(.guest(.reconnect(let host))) where isStopped: .hostLeft(host, end)
                default: act
                }
            }
    }

    /// A host that says goodbye is gone before its radio, and relays to it, notice.
    private mutating func unheard(_ host: Peer) -> [Act] {
        let heard = Peer(id: Identity.head(of: host.id), name: host.name)
        return inRange.gone(heard.id).map { .show(.peerLost(heard, via: $0.relay?.id)) }
    }

    private func inviteFailed(_ failure: InviteFailure) -> [Act] {
        switch failure {
        case .refused(let reason, .some(let host)):
            [
                .cleared(by: .refused), .tell(Notice(NetworkError(reason, by: presence[host]))),
                .steer(.refused(reason, by: host)),
            ]
        case .heldBack(let host):
            [.cleared(by: .refused), .tell(Notice(NetworkError.pinAtRisk)), .steer(.refused(.challenge, by: host))]
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

    /// What cannot be sent is decided behind all that was decided with it, and is told last.
    mutating func ask(_ event: AppFeature.Event, _ context: inout Context) -> [Act] {
        let effects = app.handle(event, now: context.now)
        return effects.map { .effect($0) }
            + effects.flatMap { effect -> [Act] in
                switch effect {
                case .host(.reject(let intent, let reason, let peer)):
                    reject(.rejection(intent, reason), to: peer, &context)
                case .guest(.send(let intent, let peer)): stage(.intent(intent), to: peer, &context)
                default: []
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
    mutating func reject(_ rejection: MeshMessage, to peer: Peer.ID, _ context: inout Context) -> [Act] {
        switch context.asker {
        case .link(let id): return [.deliver(rejection, on: id)]
        // Whether its link is still up or not: what it has said there is answered there.
        case .radio: return stage(rejection, to: peer, &context)
        case nil:
            let vouched = presence.vouched(peer)
            let isByRadio = presence.isOverRadio(peer) || vouched.isEmpty
            return vouched.map { .deliver(rejection, on: $0) } + (isByRadio ? stage(rejection, to: peer, &context) : [])
        }
    }

    /// Gives a reliable message to its conversation, which holds it until the disk has it.
    private mutating func stage(_ message: MeshMessage, to peer: Peer.ID, _ context: inout Context) -> [Act] {
        let (body, key) = (message.encoded, context.key(of: peer))
        guard !context.isWithoutStore else { return sendFailed(message, to: peer, .notStored, &context) }
        guard case .queued(let number) = context.mesh.send(body, as: .reliable, to: key).0,
            let remembered = context.mesh.remembered(key)
        else { return sendFailed(message, to: peer, .full, &context) }
        context.memory.said(body, number: number, in: key, remembered)
        if case .intent(let intent) = message { context.memory.sent(intent, number: number, in: key) }
        return [.release(number: number, in: key)]
    }
}

extension NodeCore.Part {
    fileprivate var wanted: String? {
        if case .guest(let wanted, _, _, _) = self { wanted } else { nil }
    }

    fileprivate var joinsAny: Bool {
        if case .guest(_, true, _, _) = self { true } else { false }
    }
}
