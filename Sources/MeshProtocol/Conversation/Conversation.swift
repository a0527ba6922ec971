// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// The state of messages between two nodes across all their links: which wait, which are in transit and unacknowledged,
/// and which have arrived (`docs/protocol.md`, "Resend and resume").
///
/// A link is reliable and ordered while it lives, so no message is sent twice on it. On a new link both sides report
/// what they have received, and send the rest again.
public struct Conversation: Sendable, Hashable {
    /// The part that must survive the process (see `durable`).
    public struct Durable: Sendable, Hashable, Codable {
        /// Identifies this side's numbering.
        public var epoch: UInt32
        /// The number of the last accepted reliable message.
        public var lastNumber: UInt64
        /// The unacknowledged reliable messages, in order. The last has `lastNumber`.
        public var outbox: [[UInt8]]
        /// The peer's epoch, or 0 if unknown.
        public var theirEpoch: UInt32
        /// All of the peer's messages up to this number are stored here.
        public var accepted: UInt64

        /// A conversation as a store has read it. `Conversation(restoring:)` checks whether it is valid.
        public init(epoch: UInt32, lastNumber: UInt64, outbox: [[UInt8]], theirEpoch: UInt32, accepted: UInt64) {
            self.epoch = epoch
            self.lastNumber = lastNumber
            self.outbox = outbox
            self.theirEpoch = theirEpoch
            self.accepted = accepted
        }
    }

    /// The result of sending a message.
    public enum Sending: Hashable, Sendable {
        /// The message waits for its turn, or for a link. A reliable message has this number.
        case queued(number: UInt64)
        /// There is no link, and a message of class `latest` does not wait for one.
        case noLink
        /// `Limits.outboxMessages`, `Limits.outboxBytes` or `Limits.allOutboxBytes` is reached, so the message is not
        /// accepted. There is room after the peer has acknowledged earlier ones.
        case full
        /// The message exceeds `Limits.messageBytes`, so it can never be sent.
        case tooLong
    }

    /// The kind of a received message.
    enum Arrival: Hashable, Sendable {
        /// The message is new: the application gets it.
        case new
        /// The message was received before. Or an earlier message was declined, and this message comes again after it.
        case duplicate
        /// An earlier message is missing, which no honest peer causes.
        case gap
    }

    // Sending
    private let epoch: UInt32
    private let holdsUntilStored: Bool
    private var lastNumber: UInt64 = 0
    private var outbox: Deque<[UInt8]> = []
    private var outboxBytes = 0
    /// Number of messages of the outbox that were sent on the present link.
    private var handedOver = 0
    /// The number of the last message that was ever sent.
    private var lastSent: UInt64 = 0
    /// Reliable messages up to this number may be sent. Later ones are held.
    private var lastStored: UInt64 = 0
    private var latest: (body: [UInt8], sharing: MessageUnit.Sharing?)? {
        get { latestBody.map { ($0, latestSharing) } }
        set { (latestBody, latestSharing) = (newValue?.body, newValue?.sharing) }
    }
    private var latestBody: [UInt8]?
    private var latestSharing: MessageUnit.Sharing?
    private var lastLatest: UInt64 = 0

    // Receiving
    private var theirEpoch: UInt32 = 0
    private var delivered: UInt64 = 0
    private var accepted: UInt64 = 0
    private var theirLatest: UInt64 = 0
    /// One of the peer's messages was declined. No reliable message is accepted before the next link, which repeats
    /// them.
    private(set) var isDeclining = false
    /// One side of a conversation.
    public enum Side: Hashable, Sendable {
        case ours, theirs
    }

    /// The side that knew less when the present link came up than it had reported before. Another node has its
    /// identity, for example from a copied memory card, or its store was restored from an older copy.
    public private(set) var outdated: Side?

    /// Number of messages that were sent again on a later link.
    public private(set) var resent = 0
    /// Number of messages that arrived again and were dropped.
    public private(set) var duplicates = 0
    /// Whether there is a link.
    public private(set) var isLinked = false

    /// A new conversation. `epoch` is random and not 0. With `holdsUntilStored`, a reliable message is sent only after
    /// `stored` has reported that it is on disk.
    public init(epoch: UInt32, holdsUntilStored: Bool = false) {
        precondition(epoch != 0, "0 stands for no epoch")
        self.epoch = epoch
        self.holdsUntilStored = holdsUntilStored
    }

    /// A stored conversation. All messages of the restored conversation may be sent. Nil if the stored data are
    /// invalid.
    public init?(restoring durable: Durable, holdsUntilStored: Bool = false) {
        let outboxBytes = durable.outbox.reduce(0) { $0 + $1.count }
        guard durable.epoch != 0, durable.lastNumber <= Limits.largestNumber, durable.accepted <= Limits.largestNumber,
            durable.outbox.count <= Limits.outboxMessages, UInt64(durable.outbox.count) <= durable.lastNumber,
            outboxBytes <= Limits.outboxBytes, durable.outbox.allSatisfy({ $0.count <= Limits.messageBytes })
        else { return nil }
        self.init(epoch: durable.epoch, holdsUntilStored: holdsUntilStored)
        lastNumber = durable.lastNumber
        lastSent = durable.lastNumber
        lastStored = durable.lastNumber
        outbox = Deque(durable.outbox)
        self.outboxBytes = outboxBytes
        theirEpoch = durable.theirEpoch
        accepted = durable.accepted
        delivered = durable.accepted
    }

    /// The part that must be on disk: a reliable message before its sender is notified that it was accepted, and
    /// `accepted` before it is acknowledged.
    public var durable: Durable {
        // Not Array(outbox): for an empty outbox this writes into the storage that all empty arrays share, and the
        // thread sanitizer reports a race.
        Durable(
            epoch: epoch, lastNumber: lastNumber, outbox: outbox.map(\.self), theirEpoch: theirEpoch,
            accepted: accepted)
    }

    /// Number of unacknowledged reliable messages.
    public var unacknowledged: Int { outbox.count }

    /// Bytes of the unacknowledged reliable messages.
    public var unacknowledgedBytes: Int { outboxBytes }

    /// Whether neither side has sent a reliable message yet.
    package var isBlank: Bool { lastNumber == 0 && delivered == 0 }

    /// Number of held reliable messages, which are not stored yet.
    public var held: Int { lastNumber > lastStored ? Int(lastNumber - lastStored) : 0 }

    /// Whether a reliable message was sent on the present link and is unacknowledged.
    var isUnanswered: Bool { isLinked && handedOver > 0 }

    /// Messages that may be sent and were not sent on the present link.
    public var waiting: Int { outbox.count - held - handedOver + (latest == nil ? 0 : 1) }

    // MARK: Links

    /// This side's state for its hello.
    public var resumption: Resumption {
        Resumption(
            epoch: epoch, first: lastNumber - UInt64(outbox.count) + 1, theirEpoch: theirEpoch, delivered: accepted)
    }

    /// A link is up, and the peer has reported its state. Returns whether this acknowledged a message.
    @discardableResult
    mutating func begin(with theirs: Resumption) -> Bool {
        isLinked = true
        isDeclining = false
        outdated = side(outdatedBy: theirs)
        handedOver = 0
        lastLatest = 0
        theirLatest = 0
        var acknowledged = false
        if theirs.theirEpoch == epoch { acknowledged = catchUp(with: theirs.delivered) }
        // The peer has begun another numbering. Or the missing messages were acknowledged by a state of this side that
        // is lost, so they will not come again.
        if theirs.epoch != theirEpoch || theirs.first - 1 > delivered {
            theirEpoch = theirs.epoch
            delivered = theirs.first - 1
            accepted = delivered
        }
        return acknowledged
    }

    private func side(outdatedBy theirs: Resumption) -> Side? {
        let isOurSending = theirs.theirEpoch == epoch
        if isOurSending && theirs.delivered > lastNumber || theirs.epoch == theirEpoch && theirs.first - 1 > delivered {
            return .ours
        }
        return isOurSending && theirs.delivered < resumption.first - 1 ? .theirs : nil
    }

    /// The peer has everything up to a number. A disk that was reset to an older state may know less about sent
    /// messages and about this side's numbering; numbers are not used twice. Returns whether this acknowledged a
    /// message.
    private mutating func catchUp(with number: UInt64) -> Bool {
        lastSent = max(lastSent, number)
        lastStored = max(lastStored, number)
        defer { lastNumber = max(lastNumber, number) }
        return acknowledge(upTo: min(number, lastNumber)) == .acknowledged
    }

    /// Whether a state update was sent on the present link.
    var hasSentLatest: Bool { lastLatest > 0 }

    /// The answer has carried the first state update of this link.
    mutating func countWelcome() { lastLatest = max(lastLatest, 1) }

    /// The link has ended. Unsent state updates are dropped, since they were for this link only.
    mutating func pause() {
        isLinked = false
        handedOver = 0
        latest = nil
    }

    // MARK: Sending

    /// Accepts a message to send.
    mutating func send(
        _ body: [UInt8], as messageClass: MessageClass, sharing: MessageUnit.Sharing? = nil
    ) -> Sending {
        guard body.count <= Limits.messageBytes else { return .tooLong }
        switch messageClass {
        case .latest:
            guard isLinked else { return .noLink }
            if latest == nil { lastLatest += 1 }
            latest = (body, sharing)
            return .queued(number: lastLatest)
        case .reliable:
            let fits = outbox.count < Limits.outboxMessages && outboxBytes + body.count <= Limits.outboxBytes
            guard fits, lastNumber < Limits.largestNumber else { return .full }
            lastNumber += 1
            if !holdsUntilStored { lastStored = lastNumber }
            outbox.append(body)
            outboxBytes += body.count
            return .queued(number: lastNumber)
        }
    }

    /// All messages up to a number are on disk and may be sent. Returns whether this released a message.
    mutating func stored(upTo number: UInt64) -> Bool {
        let stored = min(number, lastNumber)
        guard stored > lastStored else { return false }
        lastStored = stored
        return true
    }

    /// Held messages could not be stored. They are removed as if they had never been sent, and their numbers are free
    /// again. Returns how many there were.
    mutating func withdrawHeld() -> Int {
        let count = held
        outboxBytes -= outbox.suffix(count).reduce(0) { $0 + $1.count }
        outbox.removeLast(count)
        lastNumber -= UInt64(count)
        return count
    }

    /// The next reliable message to send on this link.
    mutating func nextReliable() -> MessageUnit? {
        guard handedOver < outbox.count - held else { return nil }
        let number = lastNumber - UInt64(outbox.count - handedOver) + 1
        if number <= lastSent { resent += 1 }
        lastSent = max(lastSent, number)
        defer { handedOver += 1 }
        return MessageUnit(.reliable, number: number, body: outbox[handedOver][...])
    }

    /// The next state update to send.
    mutating func nextLatest() -> MessageUnit? {
        guard let (body, sharing) = latest else { return nil }
        latest = nil
        return MessageUnit(.latest, number: lastLatest, body: body[...], sharing: sharing)
    }

    /// The result of an acknowledgement.
    enum Acknowledgement: Hashable, Sendable {
        /// Some messages of the outbox were acknowledged.
        case acknowledged
        /// The acknowledgement contains nothing new.
        case stale
        /// The acknowledgement covers messages that were never sent.
        case impossible
    }

    /// The peer has everything up to a number.
    mutating func acknowledge(upTo number: UInt64) -> Acknowledgement {
        guard number <= lastSent else { return .impossible }
        let first = lastNumber - UInt64(outbox.count) + 1
        guard number >= first else { return .stale }
        let count = Int(number - first) + 1
        outboxBytes -= outbox.prefix(count).reduce(0) { $0 + $1.count }
        outbox.removeFirst(count)
        handedOver = max(0, handedOver - count)
        return .acknowledged
    }

    // MARK: Receiving

    /// A message has arrived.
    mutating func receive(_ unit: MessageUnit) -> Arrival {
        switch unit.messageClass {
        case .latest:
            guard unit.number > theirLatest else { return duplicate() }
            theirLatest = unit.number
        case .reliable:
            guard !isDeclining else { return .duplicate }
            guard unit.number > delivered else { return duplicate() }
            guard unit.number == delivered + 1 else { return .gap }
            delivered = unit.number
        }
        return .new
    }

    private mutating func duplicate() -> Arrival {
        duplicates += 1
        return .duplicate
    }

    /// A received message cannot be stored. It and all later ones count as not received, and come again with the next
    /// link.
    mutating func decline(_ number: UInt64, of epoch: UInt32) {
        guard epoch == theirEpoch, number > accepted, number <= delivered else { return }
        delivered = number - 1
        isDeclining = true
    }

    /// Whether a message was declined, or follows a declined one.
    func hasDeclined(_ number: UInt64, of epoch: UInt32) -> Bool { epoch == theirEpoch && number > delivered }

    /// The epoch of the peer's current numbering.
    var peerEpoch: UInt32 { theirEpoch }

    /// The application has stored everything up to a number of a peer's epoch. Returns the number to acknowledge if it
    /// has grown. If the peer has begun another numbering since, these numbers belong to other messages.
    mutating func accept(upTo number: UInt64, of epoch: UInt32) -> UInt64? {
        guard epoch == theirEpoch, number > accepted, number <= delivered else { return nil }
        accepted = number
        return accepted
    }
}
