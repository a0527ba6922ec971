// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides how to handle each event. The features decide, and their effects become the step's acts.
///
/// This is a plain value. If a write fails, the node restores the value from before the step.
struct NodeDecisions: Sendable {
    private var features: Features
    /// The hosts that a guest knows and hears.
    private var hosts: HostList
    /// Bans that outlive the session.
    private var bans = BanList()
    private var coHosts = CoHosts()
    /// Why covers cannot be loaded at present.
    private var failingCovers: Set<NetworkError> = []

    /// Creates the decision state of a node in this role, as an earlier run has left it.
    init(_ part: NodeCore.Part, _ local: Peer, _ memory: inout NodeMemory) {
        hosts = HostList(memory.storedKnownHosts)
        features = Features(part, local, &memory)
        guard case .host = part else { return }
        bans = BanList(memory.storedBans)
        coHosts = CoHosts(memory.storedDrivers, withBrowser: memory.storedBrowserDrivers)
    }

    // MARK: Questions

    /// The features' state.
    var app: AppFeature { features.app }

    /// Why the radio does not work, and the number of peers that are linked over it.
    var radioProblem: NetworkError? { features.radioProblem }
    var linkedOverRadio: Int { features.presence.overRadio }

    /// The hosts that this guest has joined, and the hosts as people see them.
    var knownHosts: KnownHosts { hosts.known }
    var shownHosts: [ShownHost] { hosts.shown(linked: app.guest?.state.host?.id) }

    /// The co-hosts.
    var drivers: [Peer] { coHosts.peers }

    /// The bans as people see them.
    var shownBans: [ShownBan] {
        let names = app.host?.state.bannedNames ?? [:]
        return bans.shown(with: (app.host?.state.banned ?? []).map { Peer(id: $0, name: names[$0] ?? "") })
    }

    /// The keys that a host does not admit.
    var banned: Set<Peer.ID> { Set((app.host?.state.banned ?? []) + bans.records.map(\.peer.id)) }

    /// Whether a node was reported to people with the same data.
    func wasReported(_ node: HeardNode) -> Bool { hosts.reported.knows(node) }

    /// The names of the states that this guest has of the host that it dials.
    func shownStates(over opening: NodeCore.Opening) -> [StateName] { features.shownStates(over: opening) }

    /// The next deadline of the features.
    var deadline: MeshInstant? { features.deadline }

    /// The view when the node is ready, in addition to the queue of a host.
    func shownAtStart(_ context: Context) -> [StepAction] {
        if app.isHosting {
            return (context.mesh.admissionPolicy.invitations.isEmpty ? [] : [.showInvitations(making: nil)])
                + (shownBans.isEmpty ? [] : [.show(.bans(shownBans, isAnswer: false))])
        }
        guard let guest = app.guest else { return [] }
        let wishes = guest.state.elsewhere + guest.state.wishes
        return (guest.state.hostSnapshot.map { [.show(.snapshot($0, isStale: true))] } ?? [])
            + (knownHosts.hosts.isEmpty ? [] : [.show(.hosts(shownHosts, isAnswer: false))])
            + wishes.map { .show(.wish($0.songID, $0.kind, .queued)) } + [.steer(.start)]
    }

    // MARK: Events

    mutating func decide(_ event: PendingEvent, _ context: inout Context) -> [StepAction] {
        switch event {
        case .event(.input(let input)): return decide(input, &context)
        case .event(let event): return decide(event, &context)
        case .link(let id, .latestHasLeft):
            return context.mesh.peer(on: id).map { [.share(.updateHasLeft($0.id))] } ?? []
        case .link(let id, .connected(let peer)): return connected(peer, on: id, &context)
        case .link(_, .received(let message)):
            return features.received(message, needsBrowser: coHosts.needsBrowser(message.peer), &context)
        case .link(_, let event): return decide(event, &context)
        case .ended(let id, let peer, let end, let isBesideRadio):
            let twin = app.isHosting && end == .refused(.twin) ? [StepAction.tell(Notice(.twins(peer)))] : []
            let isGoodbye = if case .goodbye = end { features.presence.has(peer.id, by: id) } else { false }
            let unheard = isGoodbye ? hosts.gone(peer) : []
            return features.ended(peer, on: id, end, isBesideRadio: isBesideRadio, unheard: unheard, &context) + twin
        case .joined(let id, let peer):
            if coHosts.joinedWithBrowser(peer.id), !context.isWithoutStore { noteCoHosts(&context) }
            return features.joined(id, peer, &context)
        case .said(let message, let number, let id, let peer):
            return features.said(message, number, on: id, by: peer, &context)
        case .left(let id, let peer, let end): return features.left(id, peer, end, &context)
        case .reported(let relay): return report(relay, &context)
        case .inviteFailed(let failure): return failure.acts(features.presence)
        case .forgot(let key):
            context.memory.forget(key)
            return []
        case .wish(let event): return features.ask(.guest(event), &context)
        }
    }

    private mutating func decide(_ event: NodeCore.Event, _ context: inout Context) -> [StepAction] {
        switch event {
        case .heard(let node): return heard(node, &context)
        case .unheard(let peer): return hosts.unheard(peer.id).map { lost($0, &context) } ?? []
        case .radioFailed(let error): return features.watch(.radioFailed(error), &context)
        case .radioRecovered: return features.watch(.radioRecovered, &context)
        case .radioRepaired(let notice): return [.tell(notice)]
        case .broker(let report): return report.acts
        case .found(let results, let peer):
            guard let host = app.host, peer == host.local.id else { return [.share(.answered(results, for: peer))] }
            // A later search of the same person may have replaced this one.
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
            let ended = perform(bans.tick(context.mesh.admissionPolicy, now: context.now), &context)
            return ended + features.watch(.tick, &context)
                + (isDue ? features.ask(.host(.tick), &context) : []) + [.steer(.tick)]
        case .started: return [.begin]
        // Events of links, and events that other functions handle.
        case .input, .better, .reached, .adapterTimed, .opened, .dialFailed, .received, .channelClosed,
            .joined, .claimed, .said, .left, .measured, .written, .writeFailed, .coverMade, .end:
            return []
        }
    }

    private mutating func decide(_ event: LinkEvent, _ context: inout Context) -> [StepAction] {
        switch event {
        case .acknowledged(let number, let key):
            return context.memory.delivered(upTo: number, in: key).flatMap {
                features.ask(.multipeerEvent(.messageDelivered(.intent($0), to: key.peer)), &context)
            }
        case .admitted, .connected, .ended, .received, .latestHasLeft, .roundTrip, .asked, .carrier, .route,
            .carrierEnded, .askedForRoom, .probed:
            return []
        case .invitationUsed: return context.noteInvitations()
        case .unansweredProofs:
            context.memory.note(unanswered: context.mesh.unanswered.rows)
            return []
        case .guessedWrong(let peer): return [.show(.pinGuessed(peer)), .tell(Notice(.pinGuessed(by: peer)))]
        case .failed(_, let proved?, .refused(.twin)) where app.isHosting && proved == context.mesh.local.id:
            return [.tell(Notice(.twins(context.mesh.local)))]
        case .failed(let expected, let proved, let end):
            // The peer was dialled by another node, or this node has cancelled the dial.
            guard let expected, end != .left else { return [] }
            if end == .misbehaved(.changedIdentity), !context.mesh.joined(withHead: expected).isEmpty {
                hosts.keyChanged(expected)
                return [.tell(Notice(.hostKeyChanged(host: Peer(id: expected, name: "")))), .steer(.dialFailed)]
            }
            // A host that was proved before asks again, and this guest sends no proof at present.
            let isHeldBack = end == .refused(.challenge) && context.mesh.holdsBackProofs
            let failure = isHeldBack ? .heldBack(proved ?? expected) : InviteFailure(end, provedBy: proved)
            // The wanted host may be near, but an impostor is closer.
            if end == .misbehaved(.unprovenHost) {
                return [.tell(Notice(NetworkError.unprovenHost)), .steer(.refused(.challenge, by: proved ?? expected))]
            }
            return failure.acts(features.presence)
        }
    }

    private mutating func heard(_ node: HeardNode, _ context: inout Context) -> [StepAction] {
        let peer = node.host
        let told = report(node, &context)
        let discovered = features.ask(.multipeerEvent(.peerDiscovered(peer)), &context) + tellCopy(peer, context)
        if context.mesh.host == nil, let question = hosts.question(context.route.policy) {
            return told + discovered + question.map { .tell($0) }
        }
        let isMeant = node.bearer != .broker || context.route.policy.isMeant(peer, known: knownHosts)
        return told + discovered + (isMeant ? [.steer(.heard(peer))] : [])
    }

    /// Reports a host that is heard, itself or through a relay, unless that was reported before.
    private mutating func report(_ node: HeardNode, _ context: inout Context) -> [StepAction] {
        let (isNew, former) = hosts.heard(node)
        return (former.map { lost($0, &context) } ?? []) + (isNew ? [.show(.peerDiscovered(node))] : [])
    }

    /// A host is heard that has the name of a joined host, and another key.
    private mutating func tellCopy(_ peer: Peer, _ context: Context) -> [StepAction] {
        guard app.isJoining, app.guest?.state.host == nil else { return [] }
        let host = context.route.policy.host(copiedBy: peer, known: knownHosts)
        return hosts.copy(peer, of: host).map { [.tell($0)] } ?? []
    }

    /// A host, or a relay to it, is gone. The host is lost when neither the host nor any relay to it is left.
    private mutating func lost(_ node: HeardNode, _ context: inout Context) -> [StepAction] {
        let isHeard = hosts.reported.contains(node.host.id)
        return [.show(.peerLost(node.host, via: node.relay))]
            + (isHeard ? [] : features.ask(.multipeerEvent(.peerLost(node.host)), &context))
    }

    private mutating func connected(_ peer: Peer, on id: MeshCore.LinkID, _ context: inout Context) -> [StepAction] {
        // A node that is not the wanted host does not become this guest's host, and the link ends. It is not stored as
        // a joined host either: its key would then keep out the host that it imitates.
        if app.isJoining, !context.route.policy.accepts(peer, known: knownHosts) {
            let isNew = context.mesh.conversation(context.key(of: peer.id))?.isBlank == true
            return tellCopy(peer, context) + [.steer(.linked(peer))] + (isNew ? [.forgetHost(peer.id)] : [])
        }
        let isChange = app.isJoining && hosts.joined(peer, asOwn: context.route.policy.isHostNamed)
        return features.connected(peer, on: id, joined: isChange ? noteHosts(&context) : [], &context)
    }

    // MARK: Inputs

    private mutating func decide(_ input: NodeInput, _ context: inout Context) -> [StepAction] {
        switch input {
        case .host(.undo): return undo(&context)
        case .host(let command): return features.ask(.host(.command(command)), &context)
        case .guest(let event):
            // Without a disk a wish could be forgotten, so it is refused.
            return context.isWithoutStore && event.isWish
                ? [.tell(Notice(CommandProblem.notKept))] : features.ask(.guest(event), &context)
        // The notice is cleared, so that it appears again if the host refuses again.
        case .pin(let secret):
            context.mesh.secret = secret
            context.allowOneProof()
            return [.cleared(by: .retried), .steer(.start)]
        case .invite(let wish): return app.isHosting ? wish.decide(&context) : []
        case .join(let text): return join(text, &context)
        case .joinInvited(let invitation):
            guard invitation.service == context.mesh.service else { return [.tell(Notice(.noInvitation))] }
            context.mesh.secret = invitation.joiningSecret
            return join(invitation.host, &context)
        case .forgetHost(let text): return forgetHost(text, &context)
        case .hosts: return [.show(.hosts(shownHosts, isAnswer: true))]
        case .ban(let name, let seconds):
            return change(&context) { bans, host, context in
                bans.ban(
                    name, among: host.state.connectedPeers, seconds: seconds, context.mesh.admissionPolicy,
                    now: context.now)
            }
        case .unban(let name):
            return change(&context) { [shownBans] bans, _, _ in bans.unban(name, shownBans) }
        case .bans: return [.show(.bans(shownBans, isAnswer: true))]
        case .appoint(let name):
            return change(&context) { [presence = features.presence] coHosts, host in
                coHosts.appoint(name, among: host.state.connectedPeers) { !presence.vouched($0).isEmpty }
            }
        case .dismiss(let name): return change(&context) { coHosts, _ in coHosts.dismiss(name) }
        case .drivers: return [.show(.drivers(drivers))]
        case .retry:
            context.allowOneProof()
            let isLinked = app.isHosting || app.guest?.state.host != nil
            let isWell = radioProblem == nil && failingCovers.isEmpty && isLinked
            return [.retried(isWell: isWell)] + features.watch(.retry, &context) + forgetChangedKey(&context)
                + [.steer(.start)]
        case .leave:
            hosts.left()
            let goodbye = app.guest?.state.host.map { [StepAction.disconnect($0.id)] } ?? []
            return goodbye + features.ask(.guest(.gaveUp), &context) + [.cleared(by: .left), .steer(.leave)]
        case .player(let report): return features.ask(.host(.player(report)), &context)
        case .library(let library): return features.ask(.host(.library(library)), &context) + [.show(.library(library))]
        case .libraryAway(let isAway): return features.ask(.host(.libraryAway(isAway)), &context)
        case .playlist(let songs): return features.ask(.host(.playlist(songs)), &context)
        case .playlistFound(let answer): return features.ask(.host(.playlistFound(answer)), &context)
        case .end: return endSession(&context)
        case .notice(let notice): return [.tell(notice)]
        case .cleared(let code): return [.clear(code)]
        case .page(let url, let passengers): return [.show(.page(url, passengers: passengers))]
        case .clockSet(let seconds): return clockSet(to: seconds, &context)
        case .mark(let text): return [.show(.mark(text))]
        case .quit(let reason): return [.quit(reason)]
        }
    }

    /// Undoes the driver's last action, which may be a ban.
    private mutating func undo(_ context: inout Context) -> [StepAction] {
        let isBan = if case .ban = app.host?.steering.undo { true } else { false }
        guard !isBan || !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let acts = features.ask(.host(.command(.undo)), &context)
        let admitted = acts.compactMap { if case .effect(.host(.admit(let id))) = $0 { id } else { nil } }
        if bans.undone(admitted) { context.memory.note(bans.records) }
        return acts
    }

    /// Handles a change of the wall clock.
    private mutating func clockSet(to seconds: UInt32, _ context: inout Context) -> [StepAction] {
        guard app.isHosting, context.mesh.admissionPolicy.clockSays(seconds, now: context.now) else { return [] }
        let policy = context.mesh.admissionPolicy
        return (policy.invitations.isEmpty ? [] : context.noteInvitations())
            + perform(bans.clockSet(to: seconds, policy, now: context.now), &context)
    }

    /// Changes the bans. Without a disk a ban could be forgotten, so it is refused.
    private mutating func change(
        _ context: inout Context, _ event: (inout BanList, HostFeature, Context) -> [BanList.Action]
    ) -> [StepAction] {
        guard let host = app.host else { return [] }
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        return perform(event(&bans, host, context), &context)
    }

    private mutating func perform(_ actions: [BanList.Action], _ context: inout Context) -> [StepAction] {
        actions.flatMap { action -> [StepAction] in
            switch action {
            case .command(let command): return features.ask(.host(.command(command)), &context)
            case .changed(let isAnswer):
                context.memory.note(bans.records)
                return [.show(.bans(shownBans, isAnswer: isAnswer))]
            case .keepOut(let peer): return [.keepOut(peer)]
            case .tell(let notice): return [.tell(notice)]
            }
        }
    }

    /// Changes the co-hosts. Without a disk the change could be forgotten, so it is refused.
    private mutating func change(
        _ context: inout Context, _ event: (inout CoHosts, HostFeature) -> [CoHosts.Action]
    ) -> [StepAction] {
        guard let host = app.host else { return [] }
        var changed = coHosts
        return event(&changed, host).flatMap { action -> [StepAction] in
            switch action {
            case .tell(let notice): return [.tell(notice)]
            case .changed:
                guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
                coHosts = changed
                noteCoHosts(&context)
                return [.show(.drivers(drivers))] + features.ask(.host(.drivers(drivers.map(\.id))), &context)
            }
        }
    }

    private func noteCoHosts(_ context: inout Context) {
        context.memory.note(drivers: drivers, withBrowser: coHosts.withBrowser)
    }

    /// Joins the host with this name or identifier, and leaves the present one.
    private mutating func join(_ text: String, _ context: inout Context) -> [StepAction] {
        guard let guest = app.guest else { return [] }
        switch hosts.choose(text, present: guest.state.host) {
        case .tell(let notice): return [.tell(notice)]
        case .want(let wanted):
            let leaving =
                guest.state.host.map {
                    [StepAction.disconnect($0.id)] + features.ask(.guest(.gaveUp), &context) + [.steer(.leave)]
                } ?? []
            return leaving + [.cleared(by: .retried), .steer(.want(wanted))]
        }
    }

    /// Forgets a host: its key, its name and the messages that are queued for it.
    private mutating func forgetHost(_ text: String, _ context: inout Context) -> [StepAction] {
        guard let guest = app.guest else { return [] }
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let meant = knownHosts.hosts.meant(by: text)
        guard let host = meant.first else { return [.tell(Notice(.noSuchHost(text)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalHosts(meant)))] }
        guard guest.state.host?.id == host.id else { return forget(host.id, &context) }
        // Report the end now, not when the link has ended, so that the wishes for this host then belong to no host.
        let left = features.ask(.multipeerEvent(.peerDisconnected(host, reason: .goodbye)), &context)
        return [.disconnect(host.id)] + left + [.steer(.leave)] + forget(host.id, &context)
    }

    /// Forgets the hosts with this head.
    private mutating func forget(_ head: Peer.ID, _ context: inout Context) -> [StepAction] {
        let noted = hosts.forget(withHead: head) ? noteHosts(&context) : []
        return [.forgetHost(head)] + features.ask(.guest(.forgotHost(head)), &context) + noted
    }

    /// Forgets the old key of a host that has proved another one. The wishes go to the host that is joined next. If the
    /// old host is linked again with its key, nothing is forgotten.
    private mutating func forgetChangedKey(_ context: inout Context) -> [StepAction] {
        guard let changedKey = hosts.retried() else { return [] }
        let joined = context.mesh.joined(withHead: changedKey)
        guard joined.allSatisfy({ context.mesh.link(to: $0) == nil }) else { return [] }
        return forget(changedKey, &context)
    }

    private func noteHosts(_ context: inout Context) -> [StepAction] {
        context.memory.note(knownHosts: knownHosts.hosts)
        return [.show(.hosts(shownHosts, isAnswer: false))]
    }

    /// Ends the host's session and begins the next one at once. Without a disk the session continues, because a restart
    /// could undo the end.
    private mutating func endSession(_ context: inout Context) -> [StepAction] {
        guard let host = app.host else { return [] }
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let next = host.nextSession(epoch: context.memory.nextEpoch(), now: context.now)
        return features.ask(.endSession, &context) + features.ask(.startHosting(next), &context)
            + [.sessionEnded, .tell(Notice(CommandProblem.sessionEnded))]
    }
}
