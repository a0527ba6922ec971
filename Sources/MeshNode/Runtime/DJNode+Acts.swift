// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession
import NodeStore

// Decisions carried out.

extension DJNode {
    func carryOut(_ act: Act) async {
        switch act {
        case .effect(let effect): await carryOut(effect)
        case .show(let event): sink.yield(event)
        case .tell(let notice): tell(notice)
        case .cure(let codes): cure(codes)
        case .steer(let event): await steer(event)
        case .share(let event): await share(event)
        case .accept(let message): await client.accept(message)
        case .release(let number, let peer): await client.stored(upTo: number, for: peer)
        case .disconnect(let peer): await client.disconnect(peer, refusing: nil)
        case .tryRadioAgain: if app.host != nil { await client.tryAgain() } else { await startRadio() }
        case .beginAnewNextTime: memory.noteEnd()
        case .quit(let reason): bye = bye ?? reason
        }
    }

    private func carryOut(_ effect: AppFeature.Effect) async {
        switch effect {
        case .host(let effect): await carryOut(effect)
        case .guest(let effect): await carryOut(effect)
        // The radio may have said what it is.
        case .show(.networkUnavailable): tell(Notice(monitor.refusal ?? .networkUnavailable))
        case .show(let error): tell(Notice(error))
        case .clear(let error): cure([Notice(error).code])
        case .startHosting, .startBrowsing: await startRadio()
        // The node's own end.
        case .stop: break
        }
    }

    private func carryOut(_ effect: HostFeature.Effect) async {
        switch effect {
        case .broadcast(let snapshot):
            await share(.stateChanged(snapshot))
            sink.yield(.snapshot(snapshot, isStale: false))
            await artwork?.show(snapshot.items.map(\.song))
        case .send(_, let peer): await share(.wholeRequested(peer))
        case .heartbeat:
            await share(.heartbeat)
            memory.noteAll(app, now: clock.now)
        case .search(let request, let peer): search(request, for: peer)
        // On its way since it was decided. A passenger without a radio is told here of what `report` does not say.
        case .reject(let intent, .cannotBePlayed, let peer):
            guard web.contains(peer), let passenger = peers[peer] else { break }
            sink.yield(.intent(intent, from: passenger, rejected: .cannotBePlayed))
        case .reject: break
        case .report(let intent, let peer, let rejected):
            sink.yield(.intent(intent, from: peer, rejected: rejected))
        case .disconnect(let peer): await sendAway(peer)
        case .notice(let notice): tell(notice)
        }
    }

    private func sendAway(_ peer: Peer.ID) async {
        guard web.contains(peer) else { return await client.disconnect(peer, refusing: .banned) }
        sink.yield(.sentAway(peer))
    }

    /// Beside the node: a large library takes its time, and the votes do not wait for it.
    private func search(_ request: SearchRequest, for peer: Peer.ID) {
        guard case .host(let hosting) = part, let library = app.host?.library else { return }
        let search = hosting.search ?? library
        Task { [inbox] in
            let songs = await search.songs(matching: request.words, atMost: DJLimits.searchResults)
            await inbox.put(.found(SearchResults(number: request.number, songs: songs), for: peer))
        }
    }

    /// Tells what is heard, where it is something else than what was told last.
    func showPlayback() {
        guard let host = app.host else { return }
        let heard = host.playback(now: clock.now)
        defer { playback = heard }
        guard !heard.isSame(as: playback) else { return }
        sink.yield(.playback(heard))
    }

    private func carryOut(_ effect: GuestFeature.Effect) async {
        switch effect {
        // On its way since it was decided.
        case .send: break
        // One of an earlier link has its answer: every link begins with the whole.
        case .request(let message, let peer): await client.send(message.encoded, as: .latest, to: peer)
        case .wishChanged(let songID, let kind, let state): sink.yield(.wish(songID, kind, state))
        case .show(let snapshot): sink.yield(.snapshot(snapshot, isStale: false))
        case .showResults(let songs, let words): sink.yield(.searchResults(songs, query: words))
        case .reconnect(let host):
            tell(Notice(.connectionLost(host: host)))
            await steer(.linkLost)
            memory.noteAll(app, now: clock.now)
        case .returnToStart(let host, _): await returnToStart(from: host)
        // Where the radio is out, that is what the person has to know.
        case .notice(let notice): tell(notice == .notConnected ? monitor.refusal.map { Notice($0) } ?? notice : notice)
        }
    }

    private func returnToStart(from host: Peer) async {
        switch ends.removeValue(forKey: host.id) {
        // This side has left, and steers by itself.
        case .left, nil: break
        case .refused(let reason):
            tell(Notice(NetworkError(reason, by: host)))
            await steer(.refused(reason, by: host.id))
        default:
            tell(Notice(.hostEnded(host: host)))
            await steer(.hostEnded)
        }
    }

    // MARK: Host and guest

    func share(_ event: StateFeed.Event) async {
        guard let actions = stateFeed?.handle(event, now: clock.now) else { return }
        for case .send(let message, let peer) in actions {
            await client.send(message.encoded, as: .latest, to: peer)
        }
    }

    /// Tells what the radio is at, where it is something else than what was told last.
    func showActivity() {
        var activity = activity
        activity.links = peers.count - web.count
        activity.isAdvertising = app.host != nil
        // A dial that has become a link is none any more.
        if app.guest != nil, activity.links > 0 { activity.isDialling = false }
        self.activity = activity
        guard activity != shownActivity else { return }
        shownActivity = activity
        sink.yield(.radio(activity))
    }

    func steer(_ event: ReconnectPolicy.Event) async {
        guard app.guest != nil else { return }
        if event == .dialFailed { activity.isDialling = false }
        for action in policy.handle(event, now: clock.now, jitter: Double.random(in: 0...1)) {
            switch action {
            case .browse:
                activity.isScanning = true
                await startRadio()
            case .stopBrowsing:
                activity.isScanning = false
                await client.stopBrowsing()
            case .invite(let peer):
                activity.isDialling = true
                await client.invite(peer)
            case .cancelInvite(let peer):
                activity.isDialling = false
                await client.disconnect(peer, refusing: nil)
            case .show(let state):
                sink.yield(.connection(state))
            // The notice of a lost connection brings its button by itself.
            case .offerRetry: break
            case .giveUp(let host):
                cure([Notice(.connectionLost(host: host)).code])
                tell(Notice(.hostNotFound(host: host)))
            }
        }
    }

    /// Hosts or browses, and tells where that does not work.
    func startRadio() async {
        do {
            try await startClient()
        } catch {
            for case .networkUnavailable(let error) in monitor.handle(
                .radioFailed(NetworkError(radio: error)), now: clock.now)
            {
                tell(Notice(error))
            }
        }
    }

    func startClient() async throws {
        if app.host != nil { try await client.startHosting() } else { try await client.startBrowsing() }
    }

    // MARK: Notices

    func tell(_ notice: Notice) {
        show(board.handle(.tell(notice), now: clock.now))
    }

    private func cure(_ codes: [String]) {
        for code in codes { show(board.handle(.cured(code), now: clock.now)) }
    }

    func show(_ actions: [NoticeBoard.Action]) {
        for action in actions {
            switch action {
            case .show(let notice): sink.yield(.notice(notice))
            case .clear(let code): sink.yield(.noticeCleared(code: code))
            }
        }
    }

    // MARK: The disk

    func storeFailed(_ error: NodeStoreError) {
        let isPausing = storeOutage.map { $0.retryAt > clock.now } ?? false
        if !isPausing { storeOutage = (error, retryAt: clock.now + NodeLimits.storeRetry) }
        tell(Notice(NetworkError(error)))
    }

    func cureStore() {
        storeOutage = nil
        cure(Notice.curedByWriting)
    }
}
