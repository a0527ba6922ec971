// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import DemocracyDJ
import MeshProtocol
import MeshSession

/// What comes to a guest from outside the air.
public enum GuestInput: Hashable, Sendable {
    /// Vote for a song.
    case vote(Song.ID)
    /// Suggest a song.
    case suggest(Song.ID)
    /// Look for the host again, now.
    case retry
    /// Leave the host and stay alone.
    case leave
    /// A line that is no command, to be told so.
    case notice(Notice)
    /// Say goodbye and stop.
    case quit(ByeReason)
}

/// A running guest: it carries out what `GuestFeature` and `ReconnectPolicy` decide, over a client.
public actor GuestNode {
    /// What to show. A listener that falls behind loses the oldest events; the node does not wait for it.
    public nonisolated let output: AsyncStream<NodeEvent>

    private let description: NodeDescription
    private let client: MultipeerClient
    private let sink: AsyncStream<NodeEvent>.Continuation
    private var feature: GuestFeature
    private var policy: ReconnectPolicy
    private var clock = NodeClock()
    private var peers: [Peer.ID: Peer] = [:]
    private var inEarshot: Set<Peer.ID> = []
    private var notices: Set<String> = []

    private enum Input: Sendable {
        case client(ClientEvent)
        case outside(GuestInput)
        case tick
    }

    /// A guest that joins the host of this name or identifier, or the first one heard where it is nil.
    public init(description: NodeDescription, client: MultipeerClient, wanted: String?) {
        self.description = description
        self.client = client
        (output, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(NodeLimits.outputEvents))
        feature = GuestFeature(local: description.peer)
        policy = ReconnectPolicy(wanted: wanted)
    }

    /// Runs until it is told to quit. Throws where the radio cannot browse.
    public func run(inputs: AsyncChannel<GuestInput>) async throws {
        do {
            try await client.startBrowsing()
        } catch {
            await client.stop()
            throw error
        }
        sink.yield(.ready(description))
        await steer(.start)
        let reason = await serve(inputs)
        await client.stop()
        sink.yield(.bye(reason))
        sink.finish()
    }

    private func serve(_ inputs: AsyncChannel<GuestInput>) async -> ByeReason {
        let all = merge(
            client.events.map(Input.client), inputs.map(Input.outside), clock.ticks.map { Input.tick })
        for await input in all {
            switch input {
            case .client(let event): await received(event)
            case .outside(.quit(let reason)): return reason
            case .outside(let input): await received(input)
            case .tick: await steer(.tick)
            }
        }
        return .transportEnded
    }

    private func received(_ input: GuestInput) async {
        switch input {
        case .vote(let songID): await feed(.vote(songID))
        case .suggest(let songID): await feed(.suggest(songID))
        case .retry: await steer(.start)
        case .leave:
            if let host = feature.host { await client.disconnect(host.id, refusing: nil) }
            await steer(.leave)
        case .notice(let notice): sink.yield(.notice(notice))
        case .quit: break
        }
    }

    // MARK: The client

    private func received(_ event: ClientEvent) async {
        switch event {
        case .discovered(let peer, let rssi, let hops):
            if inEarshot.insert(peer.id).inserted { sink.yield(.peerDiscovered(peer, rssi: rssi, hops: hops)) }
            await steer(.heard(peer))
        case .lost(let peer):
            if inEarshot.remove(peer.id) != nil { sink.yield(.peerLost(peer)) }
        case .connected(let peer): await connected(to: peer)
        case .disconnected(let peer, let end): await disconnected(from: peer, end)
        case .inviteFailed(_, .refused(let reason, .some(let host))):
            tell(Notice(NetworkError(reason, by: peers[host])))
            await steer(.refused(reason, by: host))
        // Anybody can say that in the host's name, so it is told, and tried again.
        case .inviteFailed(_, .refused(let reason, nil)):
            let notice = Notice(NetworkError(reason))
            if !notices.contains(notice.code) { tell(notice) }
            await steer(.dialFailed)
        case .inviteFailed: await steer(.dialFailed)
        case .received(let received):
            if let peer = peers[received.peer], let message = MeshMessage(encoded: received.body) {
                await feed(.multipeer(.messageReceived(message, from: peer)))
            }
            await client.accept(received)
        case .latestHasLeft: break
        case .acknowledged, .forgot: break
        case .link(let peer, let report): sink.yield(.link(peer, report))
        case .radio(.unavailable(let failure)): tell(Notice(NetworkError(failure)))
        case .radio(.working): clear([Notice.outageCode])
        }
    }

    private func connected(to peer: Peer) async {
        peers[peer.id] = peer
        sink.yield(.peerConnected(peer))
        await steer(.linked(peer))
        clear(notices)
        await feed(.multipeer(.peerConnected(peer)))
    }

    private func disconnected(from peer: Peer, _ end: LinkEnd) async {
        peers[peer.id] = nil
        let reason = DisconnectReason(end)
        sink.yield(.peerDisconnected(peer, reason))
        await feed(.multipeer(.peerDisconnected(peer, reason: reason)))
        switch end {
        case .left: break
        case .goodbye:
            tell(Notice(.hostEnded(host: peer)))
            await steer(.hostEnded)
        case .refused(let reason):
            tell(Notice(NetworkError(reason, by: peer)))
            await steer(.refused(reason, by: peer.id))
        case .replaced, .busy, .linkLost, .silent, .handshakeTimeout, .misbehaved:
            tell(Notice(.connectionLost(host: peer)))
            await steer(.linkLost)
        }
    }

    // MARK: Decisions carried out

    private func feed(_ event: GuestFeature.Event) async {
        for effect in feature.handle(event) {
            switch effect {
            case .send(let intent, let peer): await send(.intent(intent), to: peer)
            // One of an earlier link has its answer: every link begins with the whole.
            case .requestState(let peer): await client.send(MeshMessage.stateRequest.encoded, as: .latest, to: peer)
            case .voteChanged(let songID, let state): sink.yield(.vote(songID, state))
            case .show(let snapshot): sink.yield(.snapshot(snapshot))
            case .notice(let notice): sink.yield(.notice(notice))
            }
        }
    }

    private func send(_ message: MeshMessage, to host: Peer.ID) async {
        let sendings = await client.send(message.encoded, to: host)
        if case .queued = sendings[host] { return }
        await feed(.multipeer(.sendFailed(message, to: peers[host] ?? Peer(id: host, name: ""))))
    }

    private func steer(_ event: ReconnectPolicy.Event) async {
        for action in policy.handle(event, now: clock.now, jitter: Double.random(in: 0...1)) {
            switch action {
            case .browse: await browse()
            case .stopBrowsing: await client.stopBrowsing()
            case .invite(let peer): await client.invite(peer)
            case .cancelInvite(let peer): await client.disconnect(peer, refusing: nil)
            case .show(let state): sink.yield(.connection(state))
            case .offerRetry(let host):
                if let notice = Notice(.connectionLost(host: host)).followedUp { tell(notice) }
            case .giveUp(let host):
                clear([NetworkError.connectionLost(host: host).code])
                tell(Notice(.hostNotFound(host: host)))
            }
        }
        clock.wake(at: policy.deadline)
    }

    private func browse() async {
        do {
            try await client.startBrowsing()
        } catch {
            tell(Notice(NetworkError(radio: error)))
        }
    }

    private func tell(_ notice: Notice) {
        if notice.critical { notices.insert(notice.code) }
        sink.yield(.notice(notice))
    }

    private func clear(_ codes: Set<String>) {
        for code in codes.sorted() where notices.remove(code) != nil {
            sink.yield(.noticeCleared(code: code))
        }
    }
}
