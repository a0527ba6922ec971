// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import DemocracyDJ
import MeshProtocol

/// What comes to a host from outside the air.
public enum HostInput: Hashable, Sendable {
    /// The person at the head unit wants something.
    case command(HostFeature.Command)
    /// A line that is no command, to be told so.
    case notice(Notice)
    /// Say goodbye and stop.
    case quit(ByeReason)
}

/// A running host: it carries out what `HostFeature` decides, over a client.
public actor HostNode {
    /// What to show. A listener that falls behind loses the oldest events; the node does not wait for it.
    public nonisolated let output: AsyncStream<NodeEvent>

    private let description: NodeDescription
    private let client: MultipeerClient
    private let sink: AsyncStream<NodeEvent>.Continuation
    private var feature: HostFeature
    private var stateFeed: StateFeed
    private var clock = NodeClock()
    private var peers: [Peer.ID: Peer] = [:]

    private enum Input: Sendable {
        case client(ClientEvent)
        case outside(HostInput)
        case tick
    }

    /// A host with a list of songs. `epoch` grows from one run to the next.
    public init(description: NodeDescription, client: MultipeerClient, songs: [Song], epoch: UInt32) {
        self.description = description
        self.client = client
        (output, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(NodeLimits.outputEvents))
        feature = HostFeature(local: description.peer, songs: songs, epoch: epoch, now: .zero)
        stateFeed = StateFeed(feature.snapshot)
    }

    /// Runs until it is told to quit. Throws where the radio cannot host.
    public func run(inputs: AsyncChannel<HostInput>) async throws {
        do {
            try await client.startHosting()
        } catch {
            await client.stop()
            throw error
        }
        sink.yield(.ready(description))
        sink.yield(.snapshot(feature.snapshot))
        clock.wake(at: feature.songEnds)
        let reason = await serve(inputs)
        await client.stop()
        sink.yield(.bye(reason))
        sink.finish()
    }

    private func serve(_ inputs: AsyncChannel<HostInput>) async -> ByeReason {
        let all = merge(
            client.events.map(Input.client), inputs.map(Input.outside), clock.ticks.map { Input.tick })
        for await input in all {
            switch input {
            case .client(let event): await received(event)
            case .outside(.command(let command)): await feed(.command(command))
            case .outside(.notice(let notice)): sink.yield(.notice(notice))
            case .outside(.quit(let reason)): return reason
            case .tick: await feed(.tick)
            }
            clock.wake(at: feature.songEnds)
        }
        return .transportEnded
    }

    private func received(_ event: ClientEvent) async {
        switch event {
        case .connected(let peer):
            peers[peer.id] = peer
            sink.yield(.peerConnected(peer))
            await feed(.multipeer(.peerConnected(peer)))
            await share(.guestConnected(peer.id))
        case .disconnected(let peer, let end):
            peers[peer.id] = nil
            await share(.guestGone(peer.id))
            let reason = DisconnectReason(end)
            sink.yield(.peerDisconnected(peer, reason))
            await feed(.multipeer(.peerDisconnected(peer, reason: reason)))
        case .received(let received):
            if let peer = peers[received.peer], let message = MeshMessage(encoded: received.body) {
                await feed(.multipeer(.messageReceived(message, from: peer)))
            }
            await client.accept(received)
        case .link(let peer, let report): sink.yield(.link(peer, report))
        case .radio(.unavailable(let failure)): sink.yield(.notice(Notice(NetworkError(failure))))
        case .radio(.working): sink.yield(.noticeCleared(code: Notice.outageCode))
        case .latestHasLeft(let peer): await share(.updateHasLeft(peer))
        case .discovered, .lost, .inviteFailed: break
        case .acknowledged, .forgot: break
        }
    }

    private func feed(_ event: HostFeature.Event) async {
        for effect in feature.handle(event, now: clock.now) {
            switch effect {
            case .broadcast(let snapshot):
                await share(.stateChanged(snapshot))
                sink.yield(.snapshot(snapshot))
            case .send(_, let peer): await share(.wholeRequested(peer))
            case .reject(let intent, let reason, let peer):
                await client.send(MeshMessage.rejection(intent, reason).encoded, as: .reliable, to: peer)
            case .report(let intent, let peer, let rejected):
                sink.yield(.intent(intent, from: peer, rejected: rejected))
            case .disconnect(let peer): await client.disconnect(peer, refusing: .banned)
            case .notice(let notice): sink.yield(.notice(notice))
            }
        }
    }

    private func share(_ event: StateFeed.Event) async {
        for case .send(let message, let peer) in stateFeed.handle(event) {
            await client.send(message.encoded, as: .latest, to: peer)
        }
    }
}

/// Limits of a running node, each with its reason.
public enum NodeLimits {
    /// Events that wait for whoever shows them: a busy minute's worth.
    public static let outputEvents = 4_096
    /// Longest line of a program's input, in bytes.
    public static let inputLineBytes = 4_096
}
