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
    private(set) var description: NodeDescription
    let client: MultipeerClient
    let logger: Logger
    let sink = NodeOutput()
    let inbox = Inbox<Input>(limit: NodeLimits.waitingInputs)

    var memory: NodeMemory
    var app = AppFeature()
    var clock = NodeClock()
    var board = NoticeBoard()
    var monitor = NetworkMonitor()
    /// The peers that are linked.
    var peers: [Peer.ID: Peer] = [:]
    /// Guests' messages that no disk has taken yet, the oldest first.
    var held: [ReceivedMessage] = []
    /// Those of the passengers that are linked by other means than the air.
    var heldFromWeb: [MultipeerEvent] = []
    /// These passengers.
    var web: Set<Peer.ID> = []
    /// Why the disk took nothing, and when it is asked again; nil where it takes what it is given.
    var storeOutage: (error: NodeStoreError, retryAt: MeshInstant)?
    /// What is decided now cannot be written: nothing may leave that would have to be.
    var isWithoutStore = false
    var bye: ByeReason?

    // A host's.
    var stateFeed: StateFeed?
    let artwork: ArtworkPrefetcher?
    /// What is heard, as it was told last.
    var playback: Playback?

    // A guest's.
    var policy: ReconnectPolicy
    var inEarshot: Set<Peer.ID> = []
    /// How links have ended, until that is told.
    var ends: [Peer.ID: LinkEnd] = [:]

    /// What the radio is at, and what was told of it last.
    var activity = RadioActivity()
    var shownActivity: RadioActivity?

    let part: Part

    enum Input: Sendable {
        case client(ClientEvent)
        case clientEnded
        case outside(NodeInput)
        case picture(ArtworkPrefetcher.Output)
        case found(SearchResults, for: Peer.ID)
        case tick
        case question(AsyncStream<Void>.Continuation)
    }

    /// What a node begins as.
    public enum Part: Sendable {
        /// A host with a library.
        case host(Hosting)
        /// A guest that joins the host of this name or identifier, or the first one heard where it is nil.
        case guest(wanted: String?)
    }

    /// A node that goes on where an earlier run with this store has ended. `contents` is what the client was made with;
    /// without a prefetcher there are no pictures.
    public init(
        _ part: Part, _ description: NodeDescription, client: MultipeerClient, store: NodeStore.Opened,
        contents: StoredNode, artwork: ArtworkPrefetcher? = nil, logger: Logger
    ) {
        self.part = part
        self.description = description
        self.client = client
        self.artwork = artwork
        self.logger = logger
        memory = NodeMemory(store, contents)
        policy = ReconnectPolicy(wanted: part.wanted)
        output = sink.listen()
    }

    // MARK: From the start to the end

    /// What the node tells from now on, besides `output`: whoever wants all of it asks before it runs.
    public nonisolated func events() -> AsyncStream<NodeEvent> { sink.listen() }

    /// What the node tells of its page when it begins.
    public func isShown(at http: String) { description.http = http }

    /// Says something to the node, and returns when it has room for more.
    public nonisolated func send(_ input: NodeInput) async {
        await inbox.put(.outside(input))
    }

    /// Returns once the node has dealt with everything that came before: a node that hangs does not answer. False where it
    /// has ended, or the task was cancelled.
    public nonisolated func answers() async -> Bool {
        let (answer, asker) = AsyncStream<Void>.makeStream()
        guard await inbox.put(.question(asker)) else { return false }
        for await _ in answer { return true }
        return false
    }

    /// Runs until it is told to quit or to shut down. Throws where the radio cannot host or browse.
    public func run() async throws {
        let feeders = [
            Task { [client, inbox] in
                for await event in client.events { await inbox.put(.client(event)) }
                await inbox.put(.clientEnded)
            },
            Task { [ticks = clock.ticks, inbox] in for await _ in ticks { await inbox.put(.tick) } },
            Task { [artwork, inbox] in
                guard let artwork else { return }
                for await picture in artwork.output { await inbox.put(.picture(picture)) }
            },
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
        let events = begin(part)
        let effects = events.flatMap { app.handle($0, now: clock.now) }
        try await startClient()
        sink.yield(.ready(description))
        if let path = memory.setAside { tell(Notice(.storageDamaged(setAside: path))) }
        if memory.missingSongs > 0 { tell(.songsMissing(memory.missingSongs)) }
        await step([])
        if let host = app.host { await open(host) }
        if let guest = app.guest { await open(guest) }
        showActivity()
        assert(effects.count == 1, "a node begins as one thing")
        wake()
    }

    private func begin(_ part: Part) -> [AppFeature.Event] {
        switch part {
        case .host(let hosting): [.startHosting(memory.hostFeature(description.peer, hosting, now: clock.now))]
        case .guest: [.startJoining(memory.guestFeature(description.peer))]
        }
    }

    private func open(_ host: HostFeature) async {
        stateFeed = StateFeed(host.snapshot, now: clock.now)
        await artwork?.show(host.snapshot.items.map(\.song))
        for peer in host.state.banned { await client.disconnect(peer, refusing: .banned) }
        sink.yield(.snapshot(host.snapshot, isStale: false))
        showPlayback()
    }

    private func open(_ guest: GuestFeature) async {
        if let snapshot = guest.state.hostSnapshot { sink.yield(.snapshot(snapshot, isStale: true)) }
        for wish in guest.state.wishes { sink.yield(.wish(wish.songID, wish.kind, .queued)) }
        await steer(.start)
    }

    /// Sets the alarm for whatever is due next.
    func wake() {
        clock.wake(
            at: [app.deadline, policy.deadline, board.deadline, storeOutage?.retryAt].compactMap(\.self)
                .min())
    }

    /// Keeps everything, then says goodbye. A disk or a radio that hangs does not keep the node from ending.
    private func end() async {
        await inbox.close()
        memory.noteAll(app, now: clock.now)
        // Beside one another, so that nobody goes without a goodbye for a disk that hangs.
        await withDeadline(NodeLimits.farewell) {
            [client, artwork, store = memory.store, last = memory.pending, sink, logger] in
            async let goodbye: Void = client.stop()
            do throws(NodeStoreError) {
                try await store.write(last)
            } catch {
                logger.error("the last state is not stored: \(error)")
                sink.yield(.notice(Notice(NetworkError(error))))
            }
            await goodbye
            await artwork?.shutdown()
            store.close()
        }
        sink.yield(.bye(bye ?? .transportEnded))
        sink.finish()
    }
}

extension DJNode.Part {
    fileprivate var wanted: String? {
        if case .guest(let wanted) = self { wanted } else { nil }
    }
}

/// Runs something, and goes on without it where it takes longer.
private func withDeadline(_ limit: Duration, _ body: @escaping @Sendable () async -> Void) async {
    let (done, isDone) = AsyncStream<Void>.makeStream()
    let alarm = Task {
        try? await Task.sleep(for: limit)
        isDone.yield()
    }
    Task {
        await body()
        isDone.yield()
    }
    for await _ in done { break }
    alarm.cancel()
}
