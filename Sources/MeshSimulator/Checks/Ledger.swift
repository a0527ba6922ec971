// SPDX-License-Identifier: Apache-2.0

/// What was promised about each message, and what has become of it. It sees what an all-knowing bookkeeper would, and
/// says when a promise is broken.
struct Ledger {
    struct Message {
        let sender: Int
        let receiver: Int
        /// Its place among the messages of the two.
        let place: Int
        /// Its sender was told that it is taken.
        var isTaken = false
        /// The receiver's application has it on disk.
        var isSafe = false
        /// Its sender was told that it has arrived.
        var isAcknowledged = false
        /// It went with somebody's disk: nothing is promised about it any more.
        var isExcused = false
        /// The core has not taken it: nothing is promised about it.
        var isRefused = false
        /// It was safe once, whatever has become of the disk.
        var hasArrived = false
    }

    struct Pair: Hashable {
        var sender: Int
        var receiver: Int
    }

    private(set) var messages: [Message] = []
    private var places: [Pair: [Int]] = [:]
    /// The place of the last message that a living application has been given.
    private var lastHeard: [Pair: Int] = [:]

    mutating func cast(from sender: Int, to receiver: Int) -> Int {
        let pair = Pair(sender: sender, receiver: receiver)
        let message = messages.count
        messages.append(Message(sender: sender, receiver: receiver, place: places[pair, default: []].count))
        places[pair, default: []].append(message)
        return message
    }

    /// Its sender is told that a message is on disk, unless it was refused.
    mutating func taken(_ message: Int) {
        messages[message].isTaken = !messages[message].isRefused
    }

    /// It could not be taken, and its sender is told so.
    mutating func refused(_ message: Int) {
        messages[message].isRefused = true
    }

    /// A receiver's application has been given a message.
    mutating func heard(_ message: Int, by receiver: Int) -> Promise? {
        guard messages.indices.contains(message), messages[message].receiver == receiver else { return .forged }
        let entry = messages[message]
        let pair = Pair(sender: entry.sender, receiver: receiver)
        defer { lastHeard[pair] = max(entry.place, lastHeard[pair] ?? -1) }
        guard entry.place > lastHeard[pair] ?? -1 else { return .deliveredTwice }
        return nil
    }

    /// A receiver's application has a message on disk.
    mutating func safe(_ message: Int) -> Promise? {
        let entry = messages[message]
        guard !entry.isSafe else { return .deliveredTwice }
        messages[message].isSafe = true
        messages[message].hasArrived = true
        for earlier in places[Pair(sender: entry.sender, receiver: entry.receiver), default: []].prefix(entry.place)
            .reversed()
        {
            if messages[earlier].isSafe { break }
            if messages[earlier].isTaken, !messages[earlier].isExcused { return .leftOut }
        }
        return nil
    }

    /// A sender was told that a message has arrived.
    mutating func acknowledged(_ message: Int) -> Promise? {
        messages[message].isAcknowledged = true
        return messages[message].isSafe || messages[message].isExcused ? nil : .acknowledgedButLost
    }

    /// A node is up again and knows what its disk knows.
    mutating func restarted(_ node: Int) {
        for (pair, messages) in places where pair.receiver == node {
            lastHeard[pair] = messages.last { self.messages[$0].isSafe }.map { self.messages[$0].place } ?? -1
        }
    }

    /// A node's disk is gone: what it had to say, and what it has told others that it has.
    mutating func lostStore(_ node: Int) {
        for index in messages.indices {
            if messages[index].sender == node, !messages[index].isSafe { messages[index].isExcused = true }
            guard messages[index].receiver == node else { continue }
            if messages[index].isAcknowledged { messages[index].isExcused = true }
            if messages[index].isSafe {
                messages[index].isSafe = false
                // Its acknowledgement may be on its way.
                messages[index].isExcused = true
            }
        }
    }

    /// How many there were, and what has become of them.
    func count(into figures: inout Figures) {
        figures.cast = messages.count
        figures.safe = messages.count { $0.hasArrived }
        figures.lost = messages.count { $0.isTaken && !$0.hasArrived && $0.isExcused }
        figures.refused = messages.count { !$0.isTaken && !$0.hasArrived }
    }

    /// What has not arrived and should have.
    var missing: [Int] {
        messages.indices.filter { messages[$0].isTaken && !messages[$0].isSafe && !messages[$0].isExcused }
    }
}
