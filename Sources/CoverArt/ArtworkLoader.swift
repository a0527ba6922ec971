// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Logging
import MeshProtocol
import NIOPosix

/// A picture on this machine.
public struct ArtworkFile: Hashable, Sendable {
    /// The path of the file. The file stays until the cache needs the space.
    public var path: String
    /// The format of the picture: `image/jpeg`, `image/png`, `image/gif` or `image/webp`.
    public var mediaType: String
    /// The size of the file in bytes.
    public var bytes: Int
}

/// Loads the covers of songs over HTTP, and stores them on the disk.
///
/// Requests contain no cookies, no names and no data about the people in the car. A failed request is not repeated at
/// once (`ArtworkFailures`). A loader that has loaded something must be shut down before it is released.
public actor ArtworkLoader {
    /// The threads, created with the first download. They must have ended before they are released, or the program
    /// crashes.
    private var madeThreads: NIOThreadPool?
    let folder: ArtworkFolder
    let limits: ArtworkLimits
    let userAgent: String
    private let logger: Logger
    private let origin = ContinuousClock.now
    private var opening: Task<[String: ArtworkCachePolicy.Entry], Never>?
    private var isOpen = false
    private var cache: ArtworkCachePolicy
    private var failures: ArtworkFailures
    private var flights: ArtworkFlights
    private var tasks: [ArtworkURL: Task<Void, Never>] = [:]
    private var waiters: [ArtworkFlights.Waiter: CheckedContinuation<Result<ArtworkFile, NetworkError>, Never>] = [:]
    private var lastWaiter: ArtworkFlights.Waiter = 0
    private var isClosed = false

    /// Creates a loader that stores its pictures in a folder. The folder need not exist yet. No other process may use
    /// it.
    ///
    /// - Parameter userAgent: The name that it sends to servers (RFC 9110, 10.1.5).
    public init(
        cache folder: String, userAgent: String = "RoadMesh", logger: Logger = Logger(label: "roadmesh.artwork")
    ) {
        self.init(cache: folder, limits: .standard, userAgent: userAgent, logger: logger)
    }

    init(
        cache folder: String, limits: ArtworkLimits, userAgent: String = "RoadMesh",
        logger: Logger = Logger(label: "roadmesh.artwork")
    ) {
        self.folder = ArtworkFolder(folder)
        self.limits = limits
        self.userAgent = userAgent
        self.logger = logger
        cache = ArtworkCachePolicy(limits: limits)
        failures = ArtworkFailures(limits: limits)
        flights = ArtworkFlights(limits: limits)
    }

    /// Returns the picture at a URL, from the disk if it is stored there.
    ///
    /// If the picture can no longer be loaded, the stored one stays valid. `NetworkError.requestFailed` also covers a
    /// picture that cannot be stored, and a cancelled task.
    public func artwork(at url: String) async throws(NetworkError) -> ArtworkFile {
        let url = try ArtworkURL(url)
        await open()
        guard !isClosed else { throw .requestFailed(ArtworkProblem.closed) }
        if let file = cached(url, isFresh: true) { return file }
        if let error = obstacle(url) {
            if let file = cached(url) { return file }
            throw error
        }
        return try await load(url).get()
    }

    /// Allows an immediate repetition of failed requests, because the network is back or a person presses Retry.
    public func forgetFailures() { failures.forget() }

    /// Cancels all downloads and closes all connections. Afterwards it loads nothing.
    public func shutdown() async {
        guard !isClosed else { return }
        isClosed = true
        for waiter in waiters.keys { answer(waiter, .failure(.requestFailed(ArtworkProblem.closed))) }
        let running = Array(tasks.values)
        for task in running { task.cancel() }
        for task in running { await task.value }
        do {
            try await madeThreads?.shutdownGracefully()
        } catch {
            logger.warning("the download threads did not end: \(error)")
        }
    }

    /// One thread for each concurrent request, because a request blocks its thread. File access uses other threads.
    var threads: NIOThreadPool {
        if let madeThreads { return madeThreads }
        let threads = NIOThreadPool(numberOfThreads: limits.concurrentRequests)
        threads.start()
        madeThreads = threads
        return threads
    }

    // MARK: Cache

    private func open() async {
        guard !isOpen else { return }
        let task = opening ?? Task { [folder] in await Self.offActor { folder.entries() } ?? [:] }
        opening = task
        let found = await task.value
        // The first of several waiting callers has opened the cache.
        guard !isOpen else { return }
        isOpen = true
        opening = nil
        cache = ArtworkCachePolicy(found, limits: limits)
        evict(sparing: nil)
    }

    private func cached(_ url: ArtworkURL, isFresh: Bool = false) -> ArtworkFile? {
        let now = Self.timeOfDay
        guard let entry = cache.entries[url.key], !isFresh || cache.isFresh(entry, now: now) else { return nil }
        guard folder.has(url.key) else {
            cache.removed(url.key)
            return nil
        }
        cache.used(url.key, now: now)
        folder.touch(url.key)
        return ArtworkFile(path: folder.file(url.key), mediaType: entry.kind.mediaType, bytes: entry.bytes)
    }

    private func evict(sparing key: String?) {
        for name in cache.evict(sparing: key) { folder.remove(name) }
    }

    static var timeOfDay: MeshInstant { .seconds(Date().timeIntervalSince1970) }

    /// Runs work that may wait for the disk on another thread. Nil while the process is ending.
    static func offActor<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result? {
        try? await NIOThreadPool.singleton.runIfActive { work() }
    }

    // MARK: Downloads

    /// The error that blocks a request, if any.
    func obstacle(_ url: ArtworkURL) -> NetworkError? { failures.obstacle(url, now: ContinuousClock.now - origin) }

    private func load(_ url: ArtworkURL) async -> Result<ArtworkFile, NetworkError> {
        lastWaiter += 1
        let waiter = lastWaiter
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters[waiter] = continuation
                perform(flights.asked(url, by: waiter))
            }
        } onCancel: {
            Task { await self.abandon(url, waiter) }
        }
    }

    private func abandon(_ url: ArtworkURL, _ waiter: ArtworkFlights.Waiter) {
        guard answer(waiter, .failure(.requestFailed(CancellationError()))) else { return }
        perform(flights.abandoned(url, by: waiter))
    }

    private func perform(_ actions: [ArtworkFlights.Action]) {
        for action in actions {
            switch action {
            case .start(let url): tasks[url] = Task { self.ended(url, await self.outcome(of: url)) }
            case .cancel(let url): tasks[url]?.cancel()
            case .refuse(let waiter): answer(waiter, .failure(.requestFailed(ArtworkProblem.busy)))
            }
        }
    }

    private func ended(_ url: ArtworkURL, _ outcome: DownloadOutcome) {
        tasks[url] = nil
        let file = settle(url, outcome)
        let (waiting, actions) = flights.ended(url)
        for waiter in waiting { answer(waiter, file) }
        if !isClosed { perform(actions) }
    }

    private func settle(_ url: ArtworkURL, _ outcome: DownloadOutcome) -> Result<ArtworkFile, NetworkError> {
        switch outcome {
        case .stored(let kind, let bytes, let last):
            let now = Self.timeOfDay
            cache.stored(url.key, .init(kind: kind, bytes: bytes, storedAt: now, usedAt: now))
            evict(sparing: url.key)
            failures.succeeded(url, last: last)
            return .success(ArtworkFile(path: folder.file(url.key), mediaType: kind.mediaType, bytes: bytes))
        case .failed(let error, let last, let retryAfter):
            logger.debug("picture \(url.key.prefix(8)): \(error)")
            failures.failed(
                url, last: last, error: error, retryAfter: retryAfter, now: ContinuousClock.now - origin)
            return cached(url).map { .success($0) } ?? .failure(error)
        case .brokenOff: return .failure(.requestFailed(CancellationError()))
        }
    }

    @discardableResult
    private func answer(_ waiter: ArtworkFlights.Waiter, _ result: Result<ArtworkFile, NetworkError>) -> Bool {
        guard let continuation = waiters.removeValue(forKey: waiter) else { return false }
        continuation.resume(returning: result)
        return true
    }
}
