// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which rows of this node's shared drives are sent to a broker, and when.
///
/// The store has all rows, and a row is done only when the collector has confirmed it. One batch is sent at a time, and
/// repeated until the collector confirms it. Messages may be lost or repeated: the collector reports how many rows it
/// has without a gap, and the next batch starts there.
public struct UplinkMachine: Sendable {
    /// A drive to be collected.
    public struct Shared: Hashable, Sendable {
        /// The number of the drive in the store.
        public var number: Int64
        /// The header of the drive, as a line.
        public var header: String
        /// Number of the drive's rows that the store has.
        public var rows: Int
        /// The drive is finished.
        public var isOver: Bool

        /// A drive.
        public init(number: Int64, header: String, rows: Int, isOver: Bool) {
            (self.number, self.header, self.rows, self.isOver) = (number, header, rows, isOver)
        }
    }

    /// What happens.
    public enum Event: Sendable {
        /// The broker is connected. Messages of the last connection do not count any more.
        case connected
        /// The broker has granted the subscriptions.
        case listening
        /// The connection has ended.
        case ended
        /// The broker has delivered this message.
        case arrived(topic: String, [UInt8])
        /// The store has this many rows of a drive, and whether the drive is finished.
        case written(Int64, rows: Int, isOver: Bool)
        /// The requested rows, from this number on; nil if the store failed.
        case read(Int64, from: Int, [String]?)
        /// The store has marked a drive as collected.
        case marked(Int64)
        /// Time has passed.
        case tick
        /// The node has ended and has written everything: the remaining rows are sent at once, as far as they are
        /// accepted.
        case ending
    }

    /// An action for the uplink.
    public enum Action: Hashable, Sendable {
        /// Publish a message.
        case publish(topic: String, [UInt8], isRetained: Bool)
        /// Subscribe again, so that the broker delivers its retained message again.
        case subscribe(String)
        /// Read rows of a drive from the store.
        case read(Int64, from: Int)
        /// Mark a drive as collected in the store; `marked` follows.
        case mark(Int64)
        /// Notify people that rows are not accepted, with the cause.
        case refused(Cause)
        /// Notify people that rows are accepted again.
        case taken
    }

    /// Why rows are not accepted.
    public enum Cause: Hashable, Sendable {
        /// This broker has no collector.
        case nobody
        /// The collector does not answer.
        case silence
    }

    private struct Entry {
        var drive: FleetDrive
        var header: String
        var rows: Int
        var isOver: Bool
        /// The number of rows that the collector has reported on this connection, if it has.
        var taken: Int?
        /// The header that was published on this connection.
        var head: FleetHead?
        /// When rows of the drive were last sent.
        var sentAt: MeshInstant?
    }

    private struct Batch {
        var number: Int64
        var from: Int
        /// Nil while it is being read.
        var end: Int?
        var since: MeshInstant
    }

    private let car: String
    private let topics: FleetTopics
    private var entries: [Int64: Entry] = [:]
    private var isListening = false
    /// The collector's run.
    private var collector: [UInt8]?
    private var batch: Batch?
    private var nextAt: MeshInstant = .zero
    /// The time since which no rows were accepted although the broker is connected.
    private var idleSince: MeshInstant?
    /// Number of unanswered questions in a row.
    private var silences = 0
    private var askedAt: MeshInstant?
    private var told: Cause?
    private var isEnding = false
    /// Collected drives. Their headers may still be at the broker if the power went before they were removed.
    private var withdrawn: [FleetDrive]

    /// Drives of the node with this address. The collector may know some of them already, from former runs. `collected`
    /// are the headers of the drives that were collected last.
    public init(car: String, prefix: String, _ drives: [Shared], collected: [String] = []) {
        self.car = car
        withdrawn = collected.compactMap { FleetDrive(header: $0) }
        topics = FleetTopics(prefix: prefix)
        for drive in drives { add(drive) }
    }

    /// The filters to subscribe to.
    public var filters: [String] { [topics.collector, topics.allTaken(of: car)] }

    /// Whether the node's end need not wait any longer.
    public var isDone: Bool { isEnding && (entries.isEmpty || collector == nil || !isListening) }

    /// Handles one event.
    public mutating func handle(_ event: Event, random: UInt64, now: MeshInstant) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .connected:
            forgetConnection()
            idleSince = now
        case .listening:
            isListening = true
            askedAt = now
            actions = withdrawn.map { .publish(topic: topics.head($0), [], isRetained: true) }
            withdrawn = []
        case .ended: forgetConnection()
        case .arrived(let topic, let payload): actions = arrived(topic, payload, now)
        case .written(let number, let rows, let isOver):
            entries[number]?.rows = rows
            entries[number]?.isOver = isOver
            actions = check(number)
        case .read(let number, let first, let lines): actions = read(number, first, lines, now)
        case .marked(let number): actions = marked(number)
        case .tick: break
        case .ending: isEnding = true
        }
        actions += publishHeads()
        actions += repeatQuestion(random, now)
        actions += sendNext(now)
        return actions + judge(now)
    }

    private mutating func add(_ shared: Shared) {
        // A drive with an invalid header stays in the store, and is not sent.
        guard let drive = FleetDrive(header: shared.header), drive.car == car else { return }
        entries[shared.number] = Entry(
            drive: drive, header: shared.header, rows: shared.rows, isOver: shared.isOver)
    }

    private mutating func forgetConnection() {
        (isListening, collector, batch, idleSince, askedAt) = (false, nil, nil, nil, nil)
        silences = 0
        for number in entries.keys {
            entries[number]?.taken = nil
            entries[number]?.head = nil
        }
    }

    // MARK: Messages of the broker

    private mutating func arrived(_ topic: String, _ payload: [UInt8], _ now: MeshInstant) -> [Action] {
        switch topics.subject(of: topic) {
        case .collector:
            let new = payload.isEmpty ? nil : Array(payload.prefix(FieldTestLimits.wordCharacters))
            // This may be a new collector, or the same one again: it reports its number of rows of each drive.
            if collector != nil, collector != new {
                batch = nil
                for number in entries.keys { entries[number]?.taken = nil }
            }
            if new == nil, collector != nil { idleSince = now }
            (collector, silences, askedAt) = (new, 0, now)
            return []
        case .taken(let drive):
            guard let number = entries.first(where: { $0.value.drive == drive })?.key,
                let count = FleetCount.read(payload)
            else { return [] }
            return taken(number, count, now)
        case .head, .rows, nil: return []
        }
    }

    private mutating func taken(_ number: Int64, _ count: Int, _ now: MeshInstant) -> [Action] {
        guard let entry = entries[number] else { return [] }
        // The number is too large if this folder was restored from an older backup. The missing rows are at the
        // collector.
        let count = min(count, entry.rows)
        if let under = batch, under.number == number {
            // This is an older confirmation, or the answer to the header. The batch is still in transit.
            guard count != under.from else { return [] }
            batch = nil
        }
        if count > entry.taken ?? -1, collector != nil {
            silences = 0
            idleSince = nil
        }
        entries[number]?.taken = count
        askedAt = now
        return check(number)
    }

    private func check(_ number: Int64) -> [Action] {
        guard let entry = entries[number], entry.isOver, entry.taken == entry.rows else { return [] }
        return [.mark(number)]
    }

    /// The drive is marked, so its header is no longer needed at the broker.
    private mutating func marked(_ number: Int64) -> [Action] {
        guard let entry = entries.removeValue(forKey: number) else { return [] }
        if batch?.number == number { batch = nil }
        return isListening ? [.publish(topic: topics.head(entry.drive), [], isRetained: true)] : []
    }

    // MARK: Sending

    /// The oldest drives, and the one that is being recorded.
    private var announced: [Int64] {
        let all = entries.keys.sorted()
        return Array(all.prefix(FieldTestLimits.announcedDrives))
            + all.dropFirst(FieldTestLimits.announcedDrives).filter { entries[$0]?.isOver == false }
    }

    private mutating func publishHeads() -> [Action] {
        guard isListening else { return [] }
        var actions: [Action] = []
        for number in announced {
            guard let entry = entries[number] else { continue }
            let head = FleetHead(entry.header, final: entry.isOver ? entry.rows : nil)
            guard entry.head != head else { continue }
            entries[number]?.head = head
            actions.append(.publish(topic: topics.head(entry.drive), head.payload, isRetained: true))
        }
        return actions
    }

    private mutating func sendNext(_ now: MeshInstant) -> [Action] {
        guard isListening, collector != nil, batch == nil, now >= nextAt || isEnding else { return [] }
        let number = announced.first { number in
            guard let entry = entries[number], let taken = entry.taken, entry.rows > taken else { return false }
            let isWorthIt = entry.isOver || isEnding || entry.rows - taken >= FieldTestLimits.fullBatchRows
            return isWorthIt || entry.sentAt.map { now - $0 >= FieldTestLimits.uplinkInterval } ?? true
        }
        guard let number, let first = entries[number]?.taken else { return [] }
        batch = Batch(number: number, from: first, end: nil, since: now)
        nextAt = now + FieldTestLimits.uplinkPace
        return [.read(number, from: first)]
    }

    private mutating func read(_ number: Int64, _ first: Int, _ lines: [String]?, _ now: MeshInstant) -> [Action] {
        guard batch?.number == number, batch?.from == first, batch?.end == nil, let entry = entries[number] else {
            return []
        }
        guard let lines, !lines.isEmpty else {
            // The drive was deleted, or the disk fails. It is not sent in this run.
            batch = nil
            entries[number] = nil
            return []
        }
        let rows = FleetRows(from: first, fitting: lines)
        batch?.end = first + rows.lines.count
        batch?.since = now
        askedAt = now
        entries[number]?.sentAt = now
        return [.publish(topic: topics.rows(entry.drive), rows.payload, isRetained: false)]
    }

    // MARK: Unaccepted rows

    /// Repeats an unanswered question together with the header, with growing pauses. This also restores messages that
    /// the broker has lost.
    private mutating func repeatQuestion(_ random: UInt64, _ now: MeshInstant) -> [Action] {
        guard isListening, let askedAt else { return [] }
        guard collector != nil else {
            guard now - askedAt >= FieldTestLimits.uplinkLook else { return [] }
            self.askedAt = now
            return [.subscribe(topics.collector)]
        }
        let waits = batch != nil || entries.contains { $0.value.taken == nil && $0.value.head != nil }
        guard waits else { return [] }
        let patience = FieldTestLimits.uplinkPatience * (1 << min(silences, 5))
        // A random part keeps all cars from asking at the same time.
        guard now - askedAt >= patience * (1 + Double(random % 1_024) / 2_048) else { return [] }
        silences += 1
        self.askedAt = now
        let numbers = batch.map { [$0.number] } ?? announced.filter { entries[$0]?.taken == nil }
        batch = nil
        return numbers.compactMap { number in
            guard let entry = entries[number], let head = entry.head else { return nil }
            return .publish(topic: topics.head(entry.drive), head.payload, isRetained: true)
        }
    }

    private mutating func judge(_ now: MeshInstant) -> [Action] {
        var cause: Cause?
        if collector == nil, let idleSince, now - idleSince >= FieldTestLimits.uplinkQuiet { cause = .nobody }
        if silences >= 2 { cause = .silence }
        // Without a connection only a new cause is reported.
        guard isListening || cause != nil, cause != told else { return [] }
        if cause == nil, collector == nil { return [] }
        told = cause
        return [cause.map { .refused($0) } ?? .taken]
    }
}
