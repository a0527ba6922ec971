// SPDX-License-Identifier: Apache-2.0

/// Decides which downloads run: one for each URL, and a limited number at once. The others run in the order of their
/// requests.
struct ArtworkFlights: Sendable {
    /// A caller that waits for a picture.
    typealias Waiter = UInt64

    /// An action for the loader.
    enum Action: Hashable, Sendable {
        /// Load this URL.
        case start(ArtworkURL)
        /// No caller wants this URL any more. The download counts as running until it has ended.
        case cancel(ArtworkURL)
        /// Refuse this caller, since too many wait.
        case refuse(Waiter)
    }

    private var waiters: [ArtworkURL: [Waiter]] = [:]
    private var running: Set<ArtworkURL> = []
    private var cancelled: Set<ArtworkURL> = []
    private var waiting: [ArtworkURL] = []
    private let limits: ArtworkLimits

    init(limits: ArtworkLimits) {
        self.limits = limits
    }

    /// A caller wants a picture.
    mutating func asked(_ url: ArtworkURL, by waiter: Waiter) -> [Action] {
        if let others = waiters[url] {
            waiters[url] = others + [waiter]
            return []
        }
        guard waiting.count < limits.waitingRequests else { return [.refuse(waiter)] }
        waiters[url] = [waiter]
        waiting.append(url)
        return start()
    }

    /// A caller no longer wants a picture.
    mutating func abandoned(_ url: ArtworkURL, by waiter: Waiter) -> [Action] {
        guard let others = waiters[url]?.filter({ $0 != waiter }) else { return [] }
        waiters[url] = others
        guard others.isEmpty else { return [] }
        if running.contains(url) {
            return cancelled.insert(url).inserted ? [.cancel(url)] : []
        }
        waiters[url] = nil
        waiting.removeAll { $0 == url }
        return []
    }

    /// A download has ended. Returns the callers that wait for it, and the next actions.
    mutating func ended(_ url: ArtworkURL) -> (waiters: [Waiter], actions: [Action]) {
        running.remove(url)
        let wasCancelled = cancelled.remove(url) != nil
        if wasCancelled, waiters[url]?.isEmpty == false {
            // Another caller has requested the URL since the cancellation. The download starts again for this caller.
            waiting.insert(url, at: 0)
            return ([], start())
        }
        return (waiters.removeValue(forKey: url) ?? [], start())
    }

    private mutating func start() -> [Action] {
        var actions: [Action] = []
        while running.count < limits.concurrentRequests, !waiting.isEmpty {
            let url = waiting.removeFirst()
            running.insert(url)
            actions.append(.start(url))
        }
        return actions
    }
}
