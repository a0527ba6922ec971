// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Logging
import MeshProtocol
import MeshSession
import NodeStore
import ServiceLifecycle

/// A running node, host or guest: it carries out what the features, the reconnect policy and the notices decide, over a
/// client and a store.
///
/// Everything that happens goes through an inbox, and what has gathered there is one step: the features decide, what they
/// changed is written to the disk, and only then does anything leave, is acknowledged or shown. So whatever somebody was
/// told is still true after a power cut.
public actor DJNode: Service {
    /// What to show. A listener that falls behind loses the oldest events; the node does not wait for it.
    public nonisolated let output: AsyncStream<NodeEvent>

    let description: NodeDescription
    let client: MultipeerClient
    let memory: NodeMemory
    let logger: Logger
    let sink: AsyncStream<NodeEvent>.Continuation
    let inbox = Inbox<Input>(limit: NodeLimits.waitingInputs)

    var app = AppFeature()
    var clock = NodeClock()
    var board = NoticeBoard()
    var monitor = NetworkMonitor()
    /// The peers that are linked.
    var peers: [Peer.ID: Peer] = [:]
    /// Guests' messages that no disk has taken yet, the oldest first.
    var held: [ReceivedMessage] = []
    var bye: ByeReason?

    // A host's.
    var stateFeed: StateFeed?

    // A guest's.
    var policy: ReconnectPolicy
    var inEarshot: Set<Peer.ID> = []
    /// How links have ended, until that is told.
    var ends: [Peer.ID: LinkEnd] = [:]

    private let beginning: Beginning

    enum Input: Sendable {
        case client(ClientEvent)
        case clientEnded
        case outside(NodeInput)
        case tick
    }

    private enum Beginning: Sendable {
        case host(SongLibrary, Fairness, wallClockSeconds: UInt32)
        case guest
    }

    /// A host with a library of songs. `wallClockSeconds` is the time since 1970: an epoch for whoever has none stored.
    public init(
        hosting description: NodeDescription, client: MultipeerClient, store: NodeStore, contents: StoredNode,
        library: SongLibrary, fairness: Fairness, wallClockSeconds: UInt32, logger: Logger
    ) {
        self.init(
            description, client, NodeMemory(store: store, contents: contents), wanted: nil, logger,
            .host(library, fairness, wallClockSeconds: wallClockSeconds))
    }

    /// A guest that joins the host of this name or identifier, or the first one heard where it is nil.
    public init(
        joining description: NodeDescription, client: MultipeerClient, store: NodeStore, contents: StoredNode,
        wanted: String?, logger: Logger
    ) {
        self.init(description, client, NodeMemory(store: store, contents: contents), wanted: wanted, logger, .guest)
    }

    private init(
        _ description: NodeDescription, _ client: MultipeerClient, _ memory: NodeMemory, wanted: String?,
        _ logger: Logger, _ beginning: Beginning
    ) {
        self.description = description
        self.client = client
        self.memory = memory
        self.logger = logger
        self.beginning = beginning
        policy = ReconnectPolicy(wanted: wanted)
        (output, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(NodeLimits.outputEvents))
    }

    // MARK: From the start to the end

    /// Says something to the node, and returns when it has room for more.
    public nonisolated func send(_ input: NodeInput) async {
        await inbox.put(.outside(input))
    }

    /// Runs until it is told to quit or to shut down. Throws where the radio cannot host or browse.
    public func run() async throws {
        let feeders = [
            Task { [client, inbox] in
                for await event in client.events { await inbox.put(.client(event)) }
                await inbox.put(.clientEnded)
            },
            Task { [ticks = clock.ticks, inbox] in for await _ in ticks { await inbox.put(.tick) } },
        ]
        defer { for feeder in feeders { feeder.cancel() } }
        do {
            try await begin()
        } catch {
            await client.stop()
            sink.finish()
            throw error
        }
        await withGracefulShutdownHandler {
            while bye == nil { await step(inbox.takeAll()) }
        } onGracefulShutdown: {
            Task { await self.inbox.put(.outside(.quit(.terminated))) }
        }
        await end()
    }

    private func begin() async throws {
        sink.yield(.ready(description))
        let beginning: AppFeature.Event =
            switch beginning {
            case .host(let library, let fairness, let wallClockSeconds):
                .startHosting(
                    await memory.host(description.peer, library, fairness, wallClockSeconds: wallClockSeconds, now: clock.now))
            case .guest: .startJoining(await memory.guest(description.peer))
            }
        if let path = await memory.setAside { tell(.storageDamaged(setAside: path)) }
        try await startRadio(app.handle(beginning, now: clock.now))
        await wake()
    }

    private func startRadio(_ effects: [AppFeature.Effect]) async throws {
        for effect in effects {
            switch effect {
            case .startHosting:
                try await client.startHosting()
                await beginHosting()
            case .startBrowsing:
                try await client.startBrowsing()
                await beginBrowsing()
            default: break
            }
        }
    }

    /// Keeps everything, then says goodbye; neither a disk nor a radio that hangs keeps the node from ending.
    private func end() async {
        await memory.keepAll(app, now: clock.now)
        let goodbye = Task { [client] in await client.stop() }
        let limit = Task { try? await Task.sleep(for: NodeLimits.farewell) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await goodbye.value }
            group.addTask { await limit.value }
            await group.next()
            limit.cancel()
            group.cancelAll()
        }
        sink.yield(.bye(bye ?? .transportEnded))
        sink.finish()
    }
}
