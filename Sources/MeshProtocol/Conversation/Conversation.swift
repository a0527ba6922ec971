// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// What two nodes have to say to one another, across all the links they will ever have: what waits, what is on its way
/// and not yet acknowledged, what has arrived (`docs/protocol.md`, "Resend and resume").
///
/// A link is reliable and in order while it lives, so nothing is sent twice on one. On a new link both sides tell how
/// far they have got, and the rest is sent again.
public struct Conversation: Sendable, Hashable {
    /// What must outlive the process: see `durable`.
    public struct Durable: Sendable, Hashable, Codable {
        /// Names our numbering.
        public var epoch: UInt32
        /// The number of the last reliable message that was taken.
        public var lastNumber: UInt64
        /// The reliable messages that are not acknowledged, in order; the last has `lastNumber`.
        public var outbox: [[UInt8]]
        /// The peer's epoch, 0 where none is known.
        public var theirEpoch: UInt32
        /// Everything of the peer's up to this number is safe here.
        public var accepted: UInt64

        /// A conversation as a store has read it. `Conversation(restoring:)` looks whether it can have been like that.
        public init(epoch: UInt32, lastNumber: UInt64, outbox: [[UInt8]], theirEpoch: UInt32, accepted: UInt64) {
            self.epoch = epoch
            self.lastNumber = lastNumber
            self.outbox = outbox
            self.theirEpoch = theirEpoch
            self.accepted = accepted
        }
    }

    /// What became of a message that was to be sent.
    public enum Sending: Hashable, Sendable {
        /// It waits for its turn, or its link. Reliable ones have this number.
        case queued(number: UInt64)
        /// There is no link, and a message of class `latest` does not wait for one.
        case noLink
        /// `Limits.outboxMessages`, `Limits.outboxBytes` or `Limits.messageBytes` is reached: it is not taken.
        case full
    }

    /// What a message that has arrived is.
    enum Arrival: Hashable, Sendable {
        /// It is new: the application gets it.
        case new
        /// It was here before; or one before it was given back, and it comes again with that.
        case duplicate
        /// One before it is missing, which no honest peer lets happen.
        case gap
    }

    // Sending
    private let epoch: UInt32
    private let holdsUntilStored: Bool
    private var lastNumber: UInt64 = 0
    private var outbox: Deque<[UInt8]> = []
    private var outboxBytes = 0
    /// How many of the outbox have left on the present link.
    private var handedOver = 0
    /// The number of the last one that has ever left.
    private var lastSent: UInt64 = 0
    /// Reliable messages up to this number may leave; those beyond it are held.
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
    /// One of the peer's messages was given back: nothing reliable is taken before the next link, which brings it again.
    private(set) var isDeclining = false
    /// One side of a conversation.
    public enum Side: Hashable, Sendable {
        case ours, theirs
    }

    /// The side that knew less, when the present link came up, than it had told before: another node has its identity, as a
    /// copied memory card makes it, or its store was restored from an older copy.
    public private(set) var outdated: Side?

    /// Messages that were sent again on a later link.
    public private(set) var resent = 0
    /// Messages that came again and were dropped.
    public private(set) var duplicates = 0
    /// Whether there is a link.
    public private(set) var isLinked = false

    /// A conversation that has not begun. `epoch` is random and not 0. Where it holds until stored, a reliable message
    /// leaves only when `stored` has told that it is on disk.
    public init(epoch: UInt32, holdsUntilStored: Bool = false) {
        precondition(epoch != 0, "0 stands for no epoch")
        self.epoch = epoch
        self.holdsUntilStored = holdsUntilStored
    }

    /// A conversation as it was stored: all that is in it may leave. Nil where a conversation can never have been like
    /// that.
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

    /// What has to be on disk: a reliable message before its sender is told that it was taken, `accepted` before it is
    /// acknowledged.
    public var durable: Durable {
        // Not Array(outbox): for an empty one that writes into the storage that all empty arrays share, and the thread
        // sanitizer takes it for a race.
        Durable(
            epoch: epoch, lastNumber: lastNumber, outbox: outbox.map(\.self), theirEpoch: theirEpoch,
            accepted: accepted)
    }

    /// Reliable messages that are not acknowledged.
    public var unacknowledged: Int { outbox.count }

    /// Their bytes.
    public var unacknowledgedBytes: Int { outboxBytes }

    /// Whether nothing reliable was ever said, by either side.
    package var isBlank: Bool { lastNumber == 0 && delivered == 0 }

    /// Reliable messages that are held: they are not stored yet.
    public var held: Int { lastNumber > lastStored ? Int(lastNumber - lastStored) : 0 }

    /// Whether something reliable has left on the present link and is not acknowledged.
    var isUnanswered: Bool { isLinked && handedOver > 0 }

    /// Messages that may leave and have not left on the present link.
    public var waiting: Int { outbox.count - held - handedOver + (latest == nil ? 0 : 1) }

    // MARK: A link comes and goes

    /// How this side introduces itself.
    public var resumption: Resumption {
        Resumption(
            epoch: epoch, first: lastNumber - UInt64(outbox.count) + 1, theirEpoch: theirEpoch, delivered: accepted)
    }

    /// A link is up, and the peer has told where it stands. Returns whether it acknowledged something with it.
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
        // The peer has begun another numbering; or what is missing was acknowledged by a state of ours that is lost, and will not
        // come again.
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

    /// The peer has everything up to a number. A disk that has gone back in time may know less of what was sent, and of
    /// our own numbering: numbers are not used twice. Returns whether that acknowledged something.
    private mutating func catchUp(with number: UInt64) -> Bool {
        lastSent = max(lastSent, number)
        lastStored = max(lastStored, number)
        defer { lastNumber = max(lastNumber, number) }
        return acknowledge(upTo: min(number, lastNumber)) == .acknowledged
    }

    /// Whether a state update was given to the present link.
    var hasSentLatest: Bool { lastLatest > 0 }

    /// The first state update of this link has gone with its answer.
    mutating func countWelcome() { lastLatest = max(lastLatest, 1) }

    /// The link is gone. State updates were for it alone.
    mutating func pause() {
        isLinked = false
        handedOver = 0
        latest = nil
    }

    // MARK: Sending

    /// Takes a message.
    mutating func send(
        _ body: [UInt8], as messageClass: MessageClass, sharing: MessageUnit.Sharing? = nil
    ) -> Sending {
        guard body.count <= Limits.messageBytes else { return .full }
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

    /// Everything up to a number is on disk: it may leave. Returns whether that let something go.
    mutating func stored(upTo number: UInt64) -> Bool {
        let stored = min(number, lastNumber)
        guard stored > lastStored else { return false }
        lastStored = stored
        return true
    }

    /// What is held could not be stored: it is taken back as if it had never been sent, and its numbers are free again.
    /// Returns how many messages that were.
    mutating func withdrawHeld() -> Int {
        let count = held
        outboxBytes -= outbox.suffix(count).reduce(0) { $0 + $1.count }
        outbox.removeLast(count)
        lastNumber -= UInt64(count)
        return count
    }

    /// The next reliable message to leave on this link.
    mutating func nextReliable() -> MessageUnit? {
        guard handedOver < outbox.count - held else { return nil }
        let number = lastNumber - UInt64(outbox.count - handedOver) + 1
        if number <= lastSent { resent += 1 }
        lastSent = max(lastSent, number)
        defer { handedOver += 1 }
        return MessageUnit(.reliable, number: number, body: outbox[handedOver][...])
    }

    /// The state update that leaves next.
    mutating func nextLatest() -> MessageUnit? {
        guard let (body, sharing) = latest else { return nil }
        latest = nil
        return MessageUnit(.latest, number: lastLatest, body: body[...], sharing: sharing)
    }

    /// What an acknowledgement does.
    enum Acknowledgement: Hashable, Sendable {
        /// Some of the outbox is done with.
        case acknowledged
        /// Nothing new.
        case stale
        /// It covers what was never sent.
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

    /// A message that has arrived cannot be kept: it and what follows it are as if they had not come, and come again with
    /// the next link.
    mutating func decline(_ number: UInt64, of epoch: UInt32) {
        guard epoch == theirEpoch, number > accepted, number <= delivered else { return }
        delivered = number - 1
        isDeclining = true
    }

    /// Whether a message is one that was given back, or one behind it.
    func hasDeclined(_ number: UInt64, of epoch: UInt32) -> Bool { epoch == theirEpoch && number > delivered }

    /// Names the numbering that the peer's messages have now.
    var peerEpoch: UInt32 { theirEpoch }

    /// The application has made everything up to a number of an epoch of the peer's safe. The number to acknowledge,
    /// where it has grown. A peer that has begun another numbering since has other messages by these numbers.
    mutating func accept(upTo number: UInt64, of epoch: UInt32) -> UInt64? {
        guard epoch == theirEpoch, number > accepted, number <= delivered else { return nil }
        accepted = number
        return accepted
    }
}
