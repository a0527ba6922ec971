// SPDX-License-Identifier: Apache-2.0

import Bearers
import CoverArt
import DemocracyDJ
import Logging
import MeshProtocol
import MeshSession
import NodeCore
import NodeStore
import ServiceLifecycle

/// A running node, host or guest. `NodeLoop` makes all decisions. This actor performs the loop's actions with a radio
/// and a store.
public actor Node: Service, LinkCarrying {
    /// The events to show. A listener that falls behind loses the oldest events; the node does not wait for it.
    public nonisolated let output: AsyncStream<NodeEvent>
    package nonisolated let logger: Logger
    nonisolated let sink = NodeOutput()

    package var carriers: [MeshCore.LinkID: LinkCarrier] = [:]
    var loop: NodeLoop
    let manager: BearerManager
    let store: NodeStore
    private let search: (any SongSearch)?
    let pictures: NodeCovers
    /// The files of the covers that were loaded for the songs on view.
    private var pictureFiles: [(songID: Song.ID, path: String)] = []
    var clock: NodeClock

    /// The found hosts, by the head of their identifier. Only the radio knows how to dial them.
    var peripherals: [Peer.ID: Peripheral] = [:]
    /// The peers to dial, by dial number, until the radio processes the request.
    var dialled: [Int: Peripheral] = [:]
    var dials: [Int: Task<Void, Never>] = [:]
    /// Whether actions are being performed. Actions that follow from them are performed afterwards.
    var isPerforming = false
    /// The last write, which is set when the node ends.
    var lastWrite = StoreBatch()
    var localLinks: [MeshCore.LinkID: AsyncStream<LocalLink.Event>.Continuation] = [:]
    /// Requests to the radio, performed one after another.
    let radioWork: AsyncStream<NodeCore.Action>.Continuation
    private let radioWorks: AsyncStream<NodeCore.Action>
    /// The songs on view, for loading their covers.
    let covers: AsyncStream<[Song]>.Continuation
    private let coverLists: AsyncStream<[Song]>

    /// Callers that wait until the core can accept more input.
    private var waiting: [CheckedContinuation<Void, Never>] = []
    var askers: [Int: AsyncStream<Void>.Continuation] = [:]
    private var lastQuestion = 0
    let quit: AsyncStream<ByeReason>.Continuation
    private let quits: AsyncStream<ByeReason>

    /// Creates a node that continues where an earlier run with this store ended. `pictures` provides its covers.
    public init(
        _ part: NodeCore.Part, _ description: NodeDescription, identity: Identity, radio: any Bearer,
        store: NodeStore.Opened, contents: StoredNode, covers pictures: NodeCovers = NodeCovers(), logger: Logger
    ) {
        let clock = NodeClock()
        self.clock = clock
        self.logger = logger
        self.pictures = pictures
        self.store = store.store
        search = part.search
        manager = BearerManager(radio: radio, local: description.peer, service: description.service, logger: logger)
        loop = NodeLoop(
            NodeCore.Configuration(
                part, description, identity: identity, contents: contents, setAside: store.setAside,
                origin: clock.origin, seed: .random(in: 0 ... .max)),
            waking: .last)
        (radioWorks, radioWork) = AsyncStream.makeStream()
        (coverLists, covers) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (quits, quit) = AsyncStream.makeStream()
        output = sink.listen()
    }

    // MARK: Start and end

    /// Returns the node's events from now on, as `output` does. Call it before `run()` to get all of them.
    public nonisolated func events() -> AsyncStream<NodeEvent> { sink.listen() }

    /// Returns a new stream of events with marks, for a listener that must know which events came before an answer
    /// (`answers`).
    package nonisolated func markedEvents() -> MarkedEvents { sink.listenWithMarks() }

    /// Ends `output`, and returns a stream with marks in its place.
    package nonisolated func outputWithMarks() -> MarkedEvents {
        sink.endFirst()
        return sink.listenWithMarks()
    }

    /// Sets the addresses of the node's page before the node starts. `door` is the address for the browsers of guests,
    /// if they may join. `passengers` is the link that admits them.
    public func isShown(at http: String, door: String? = nil, passengers: String? = nil) {
        loop.core.isShown(at: http, door: door, passengers: passengers)
    }

    /// Sends an input to the node, and returns when the node can accept the next one.
    public func send(_ input: NodeInput) async {
        var input = input
        if case .invite(var wish) = input {
            var random = SystemRandomNumberGenerator()
            wish.entropy = (0..<InvitationWish.entropyBytes).map { _ in .random(in: .min ... .max, using: &random) }
            input = .invite(wish)
        }
        take(.input(input))
        await untilRoom()
    }

    /// Returns true once the node has processed everything sent before; a hanging node does not answer. Returns false
    /// if the node has ended or the task was cancelled.
    public func answers() async -> Bool {
        guard !loop.hasEnded else { return false }
        let (answer, asker) = AsyncStream<Void>.makeStream()
        lastQuestion += 1
        askers[lastQuestion] = asker
        take(.asked(lastQuestion))
        for await _ in answer { return true }
        return false
    }

    /// Runs until the node quits or shuts down. Throws if the radio cannot host or browse.
    public func run() async throws {
        do {
            try await startRadio()
        } catch {
            await manager.close()
            finish()
            throw error
        }
        take(.started)
        let feeders = [
            Task { await self.listen() },
            Task { for await _ in clock.ticks { self.take(.tick) } },
            Task { await self.followClock() },
            Task { for await action in radioWorks { await self.request(action) } },
            Task { for await songs in coverLists { await pictures.prefetcher?.show(songs) } },
            Task {
                guard let prefetcher = pictures.prefetcher else { return }
                for await cover in prefetcher.output { await self.take(cover) }
            },
        ]
        defer { for feeder in feeders { feeder.cancel() } }
        let reason = await withGracefulShutdownHandler {
            for await reason in quits { return reason }
            return .terminated
        } onGracefulShutdown: {
            Task { await self.send(.quit(.terminated)) }
        }
        await end()
        sink.yield(.bye(reason))
        finish()
    }

    /// Reports clock changes to the core, so that deadlines at a time of day stay correct when the clock is set.
    private func followClock() async {
        let watch = ClockWatch()
        take(.input(.clockSet(ClockWatch.seconds)))
        guard let watch else { return logger.warning("changes of this device's clock cannot be followed") }
        for await _ in watch.changes { take(.input(.clockSet(ClockWatch.seconds))) }
    }

    /// Says goodbye and stores the last state. A hanging disk or radio does not keep the node from ending.
    private func end() async {
        take(.end)
        // The goodbye and the write run in parallel, so that each peer gets its goodbye even if the disk hangs.
        await withDeadline(NodeLimits.farewell) { [lastWrite, manager, pictures, store, sink, logger] in
            async let goodbye: Void = self.sayGoodbye()
            do throws(NodeStoreError) {
                try await store.write(lastWrite)
            } catch {
                logger.error("the last state is not stored: \(error)")
                sink.yield(.notice(Notice(NetworkError(error))))
            }
            await goodbye
            await manager.close()
            await pictures.prefetcher?.shutdown()
            store.close()
        }
    }

    private func sayGoodbye() async {
        for dial in dials.values { dial.cancel() }
        await manager.stop()
        await untilAllAreClosed()
    }

    private func finish() {
        loop.abandon()
        for asker in askers.values { asker.finish() }
        askers = [:]
        for link in localLinks.values { link.finish() }
        sink.finish()
        radioWork.finish()
        covers.finish()
        clock.wake(at: nil)
    }

    // MARK: Events

    /// Passes an event to the node and performs its actions.
    func take(_ event: NodeCore.Event) { if loop.take(event, now: clock.now) { performActions() } }

    private func take(_ cover: ArtworkPrefetcher.Output) async {
        switch cover {
        case .artwork(let songID, let path):
            pictureFiles.removeAll { $0.songID == songID }
            pictureFiles = pictureFiles.suffix(DJLimits.keptCovers - 1) + [(songID, path)]
            take(.cover(songID, path: path))
        case .failed(let error, let isExpected): take(.coverFailed(error, isExpected: isExpected))
        case .recovered(let error): take(.coverRecovered(error))
        }
        await untilRoom()
    }

    // MARK: Links

    package func received(_ sdu: [UInt8], on id: MeshCore.LinkID) { take(.received(sdu, on: id)) }

    package func channelClosed(_ id: MeshCore.LinkID) { take(.channelClosed(id)) }

    package func nextSDU(for id: MeshCore.LinkID, limit: Int) -> [UInt8]? {
        guard let sdu = loop.nextSDU(for: id, limit: limit, now: clock.now) else { return nil }
        performActions()
        return sdu
    }

    package func untilReadable(_ id: MeshCore.LinkID) async {
        while !loop.core.mayRead(id, now: clock.now) { await withCheckedContinuation { waiting.append($0) } }
    }

    /// Starts a link on an open channel. Either this node has dialled the channel, or a peer has.
    func open(_ transport: BearerTransport, dial: Int? = nil) async {
        let sendMTU = min(await transport.sendMTU, Limits.sduBytes)
        let refusal = await transport.refusal
        let bearer = await transport.bearer
        let expected = transport.expectedPeer
        let advertised = transport.advertisedFlags
        guard !loop.hasEnded else { return await transport.close() }
        let opening = NodeCore.Opening(
            dial == nil ? .responder : .initiator, sendMTU: sendMTU, dial: dial, expected: expected,
            advertised: advertised, refusal: refusal, bearer: bearer, entropy: .random())
        let id = loop.open(opening, now: clock.now)
        carry(id, over: transport, sendMTU: sendMTU) { performActions() }
    }

    // MARK: Waiting

    func untilRoom() async {
        while !loop.core.hasRoom { await withCheckedContinuation { waiting.append($0) } }
    }

    func resumeWaiting() {
        guard !waiting.isEmpty else { return }
        let resumed = waiting
        waiting = []
        for continuation in resumed { continuation.resume() }
    }

    /// Makes a small cover in its own task, because reading and scaling take time.
    func makeCover(_ songID: Song.ID) {
        let file = pictureFiles.last { $0.songID == songID }?.path
        Task { take(.coverMade(songID, await pictures.small(songID, file: file))) }
    }

    /// Stores a cover that arrived over a link. The node then handles it like any other cover.
    func keepCover(_ songID: Song.ID, _ bytes: [UInt8]) {
        guard let shelf = pictures.shelf else { return }
        Task {
            if let path = await shelf.keep(bytes, of: songID) { take(.cover(songID, path: path)) }
        }
    }

    /// Searches in its own task: a large library takes time, and votes must not wait for it.
    func find(_ request: SearchRequest, for peer: Peer.ID) {
        Task {
            let found = await find(request.query)
            take(.found(SearchResults(number: request.number, found: found), for: peer))
        }
    }

    /// Searches this host's library, or the songs that this session has played. Empty at a guest.
    public func find(_ query: SongQuery) async -> FoundSongs {
        guard let host = loop.core.app.host else { return [] }
        if query.shelf == .heard { return host.heard(from: query.from, atMost: DJLimits.searchResults) }
        let library: any SongSearch = search ?? host.library
        return await library.find(query, atMost: DJLimits.searchResults)
    }
}

extension NodeCore.Part {
    fileprivate var search: (any SongSearch)? {
        if case .host(let hosting) = self { hosting.search } else { nil }
    }
}

/// Runs `body`, but waits for it no longer than `limit`.
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
