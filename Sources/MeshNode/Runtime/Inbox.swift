// SPDX-License-Identifier: Apache-2.0

/// What waits for a node, in order. The node takes everything at once, so that one write to the disk serves for all of it;
/// whoever puts in more than the limit waits.
actor Inbox<Element: Sendable> {
    private let limit: Int
    private var waiting: [Element] = []
    private var taker: CheckedContinuation<Void, Never>?
    private var putters: [CheckedContinuation<Void, Never>] = []
    private var isClosed = false

    init(limit: Int) {
        self.limit = limit
    }

    /// Puts something in, and returns when there is room for more. False where nobody will take it.
    @discardableResult
    func put(_ element: Element) async -> Bool {
        guard !isClosed else { return false }
        waiting.append(element)
        taker?.resume()
        taker = nil
        // One of each putter goes beyond the limit: it is known how many there are, and nothing is put in twice.
        if waiting.count >= limit { await withCheckedContinuation { putters.append($0) } }
        return true
    }

    /// Everything that waits, once there is something. For one taker.
    func takeAll() async -> [Element] {
        while waiting.isEmpty { await withCheckedContinuation { taker = $0 } }
        defer { waiting = [] }
        letPuttersGo()
        return waiting
    }

    /// Nobody takes any more: what waits is forgotten, and nobody waits to put something in.
    func close() {
        isClosed = true
        waiting = []
        letPuttersGo()
    }

    private func letPuttersGo() {
        for putter in putters { putter.resume() }
        putters = []
    }
}
