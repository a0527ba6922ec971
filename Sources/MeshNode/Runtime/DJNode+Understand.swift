// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ
import MeshProtocol
import MeshSession
import NodeStore

// What has happened, in the features' words.

extension DJNode {
    func understand(_ input: Input) async -> [Matter] {
        switch input {
        case .client(let event): await understand(event)
        case .clientEnded:
            bye == nil ? [.event(.multipeerEvent(.sessionInvalidated)), .act(.quit(.transportEnded))] : []
        case .outside(let input): understand(input)
        case .picture(.artwork(let songID, let path)): [.act(.show(.artwork(songID, path: path)))]
        case .picture(.failed(let error, url: _)): [.act(.tell(Notice(error)))]
        case .found(let results, let peer): [.act(.share(.answered(results, for: peer)))]
        case .tick: understandTick()
        case .question(let asker): answer(asker)
        }
    }

    private func answer(_ asker: AsyncStream<Void>.Continuation) -> [Matter] {
        asker.yield()
        return []
    }

    private func understandTick() -> [Matter] {
        show(board.handle(.tick, now: clock.now))
        var matters: [Matter] = []
        if app.deadline.map({ $0 <= clock.now }) == true { matters.append(.event(.host(.tick))) }
        if policy.deadline.map({ $0 <= clock.now }) == true { matters.append(.act(.steer(.tick))) }
        return matters
    }

    private func understand(_ input: NodeInput) -> [Matter] {
        switch input {
        case .host(let command): [.event(.host(.command(command)))]
        case .guest(let event): [.event(.guest(event))]
        // Whoever was refused and asks again is to be told again.
        case .retry: [.act(.cure(Notice.refusals))] + watch(.retry) + [.act(.steer(.start))]
        case .leave: leave()
        case .player(let report): [.event(.host(.player(report)))]
        case .library(let library): [.event(.host(.library(library))), .act(.show(.library(library)))]
        case .web(let event): understandWeb(event)
        case .end: [.event(.endSession), .act(.beginAnewNextTime), .act(.quit(.quit))]
        case .notice(let notice): [.act(.tell(notice))]
        case .cured(let code): [.act(.cure([code]))]
        case .mark(let text): [.act(.show(.mark(text)))]
        case .quit(let reason): [.act(.quit(reason))]
        }
    }

    private func leave() -> [Matter] {
        let goodbye: [Matter] = app.guest?.state.host.map { [.act(.disconnect($0.id))] } ?? []
        return goodbye + [.act(.cure(Notice.absences)), .act(.steer(.leave))]
    }

    // MARK: Passengers that are linked by other means than the air

    /// The host feature knows no difference. What their links say about the radio is nothing.
    private func understandWeb(_ event: MultipeerEvent) -> [Matter] {
        guard app.host != nil else { return [] }
        let decided = Matter.event(.host(.multipeerEvent(event)))
        switch event {
        case .peerConnected(let peer):
            guard peers[peer.id] == nil || web.contains(peer.id) else { return [] }
            web.insert(peer.id)
            peers[peer.id] = peer
            return [.act(.show(.peerConnected(peer))), decided]
        case .peerDisconnected(let peer, let reason):
            guard web.remove(peer.id) != nil else { return [] }
            peers[peer.id] = nil
            return [.act(.show(.peerDisconnected(peer, reason))), decided]
        case .messageReceived(.intent, from: let peer): return web.contains(peer.id) ? [decided] : []
        default: return []
        }
    }

    // MARK: The client

    private func understand(_ event: ClientEvent) async -> [Matter] {
        switch event {
        case .discovered(let peer, let rssi, let hops):
            let heard: [Matter] = [.event(.multipeerEvent(.peerDiscovered(peer))), .act(.steer(.heard(peer)))]
            guard inEarshot.insert(peer.id).inserted else { return heard }
            return [.act(.show(.peerDiscovered(peer, rssi: rssi, hops: hops)))] + heard
        case .lost(let peer):
            guard inEarshot.remove(peer.id) != nil else { return [] }
            return [.act(.show(.peerLost(peer))), .event(.multipeerEvent(.peerLost(peer)))]
        case .connected(let peer): return await connected(peer)
        case .disconnected(let peer, let end): return disconnected(peer, end)
        case .inviteFailed(_, let failure): return inviteFailed(failure)
        case .received(let message): return [matter(message)]
        case .acknowledged(let number, let peer):
            return memory.delivered(upTo: number, to: peer).map {
                .event(.multipeerEvent(.messageDelivered(.intent($0), to: peer)))
            }
        case .forgot(let peer):
            memory.forget(peer)
            return []
        case .latestHasLeft(let peer): return [.act(.share(.updateHasLeft(peer)))]
        case .link(let peer, let report): return [.act(.show(.link(peer, report)))]
        case .contact(let contact): return [.act(.show(.contact(contact)))]
        case .radio(.unavailable(let failure)): return watch(.radioFailed(NetworkError(failure)))
        case .radio(.working): return watch(.radioRecovered)
        case .radio(.mended(let mending)): return [.act(.tell(Notice(mending)))]
        }
    }

    private func connected(_ peer: Peer) async -> [Matter] {
        peers[peer.id] = peer
        if let remembered = await client.remembered(peer.id) {
            memory.pending.met.append(StoreBatch.Met(peer: peer.id, remembered: remembered))
        }
        let joined: [Matter] = [.act(.show(.peerConnected(peer))), .act(.steer(.linked(peer)))]
        return joined + watch(.linked(peer.id)) + [
            .act(.cure(Notice.curedByJoining)), .event(.multipeerEvent(.peerConnected(peer))),
            .act(.share(.guestConnected(peer.id))),
        ]
    }

    private func disconnected(_ peer: Peer, _ end: LinkEnd) -> [Matter] {
        peers[peer.id] = nil
        if app.guest != nil { ends[peer.id] = end }
        let reason = DisconnectReason(end)
        let isLost = reason == .linkLost
        return [.act(.share(.guestGone(peer.id))), .act(.show(.peerDisconnected(peer, reason)))]
            + watch(isLost ? .linkLost(peer.id) : .unlinked(peer.id))
            + [.event(.multipeerEvent(.peerDisconnected(peer, reason: reason)))]
    }

    private func inviteFailed(_ failure: InviteFailure) -> [Matter] {
        switch failure {
        case .refused(let reason, .some(let host)):
            [
                .act(.cure(Notice.absences)), .act(.tell(Notice(NetworkError(reason, by: peers[host])))),
                .act(.steer(.refused(reason, by: host))),
            ]
        // Anybody can say that in the host's name, so it is told, and tried again.
        case .refused(let reason, nil): [.act(.tell(Notice(NetworkError(reason)))), .act(.steer(.dialFailed))]
        default: [.act(.steer(.dialFailed))]
        }
    }

    // MARK: The radio's health

    private func watch(_ event: NetworkMonitor.Event) -> [Matter] {
        monitor.handle(event, now: clock.now).flatMap { action -> [Matter] in
            switch action {
            case .networkUnavailable: [.event(.multipeerEvent(.networkUnavailable))]
            case .causeChanged(let error): [.act(.tell(Notice(error)))]
            case .networkAvailable: [.act(.cure([Notice(.networkUnavailable).code]))]
            case .tryAgain: [.act(.tryRadioAgain)]
            }
        }
    }
}
