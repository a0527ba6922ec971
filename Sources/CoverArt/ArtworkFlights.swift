// SPDX-License-Identifier: Apache-2.0

/// Decides which downloads run: one for each address, a limited number at once, the others in the order in which they
/// were asked for.
struct ArtworkFlights: Sendable {
    /// Somebody who waits for a picture.
    typealias Waiter = UInt64

    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// Load this address.
        case start(ArtworkURL)
        /// Nobody wants this address any more; it goes on to count until it has ended.
        case cancel(ArtworkURL)
        /// This one waits in vain: too many do.
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

    /// A caller does not want it any more.
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

    /// A download has ended. Who waits for it, and what comes next.
    mutating func ended(_ url: ArtworkURL) -> (waiters: [Waiter], actions: [Action]) {
        running.remove(url)
        let wasCancelled = cancelled.remove(url) != nil
        if wasCancelled, waiters[url]?.isEmpty == false {
            // Somebody has asked again since: what was broken off says nothing to them.
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
