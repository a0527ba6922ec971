// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides what of this node's shared drives goes to a broker, and when.
///
/// The store is the truth, and only the collector's word moves on from a row: one batch of rows is under way at a time, and is
/// sent again until the collector says that it has it. Whatever was lost or came twice in between, it says how many rows it has
/// without a gap, and the next batch begins there.
public struct UplinkMachine: Sendable {
    /// A drive that is to be collected.
    public struct Shared: Hashable, Sendable {
        /// Its number in the store.
        public var number: Int64
        /// Its header's line.
        public var header: String
        /// How many rows the store has of it.
        public var rows: Int
        /// No more rows come.
        public var isOver: Bool

        /// A drive.
        public init(number: Int64, header: String, rows: Int, isOver: Bool) {
            (self.number, self.header, self.rows, self.isOver) = (number, header, rows, isOver)
        }
    }

    /// What happens.
    public enum Event: Sendable {
        /// There is a connection, and what was said on the last one counts no more.
        case connected
        /// The broker sends what this node has to know.
        case listening
        /// The connection is over.
        case ended
        /// The broker has sent this.
        case arrived(topic: String, [UInt8])
        /// The store has so many rows of a drive; whether no more come.
        case written(Int64, rows: Int, isOver: Bool)
        /// The rows that were asked for, from this one on; nil where the store does not give them.
        case read(Int64, from: Int, [String]?)
        /// It is noted that a drive is collected.
        case marked(Int64)
        /// Time has passed.
        case tick
        /// The node has ended, and everything is written: what remains leaves at once, as far as it is taken.
        case ending
    }

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// Publish.
        case publish(topic: String, [UInt8], isRetained: Bool)
        /// Listen to this once more: what the broker keeps comes again.
        case subscribe(String)
        /// Read rows of a drive from the store.
        case read(Int64, from: Int)
        /// Note that a drive is collected; then comes `marked`.
        case mark(Int64)
        /// Tell people that rows are not taken, and why.
        case refused(Cause)
        /// They are taken now.
        case taken
    }

    /// Why rows are not taken.
    public enum Cause: Hashable, Sendable {
        /// Nobody collects drives at this broker.
        case nobody
        /// Who collects them says nothing.
        case silence
    }

    private struct Entry {
        var drive: FleetDrive
        var header: String
        var rows: Int
        var isOver: Bool
        /// How many the collector has, as it says; nil where it has not, on this connection.
        var taken: Int?
        /// What was published of its header on this connection.
        var head: FleetHead?
        /// When rows of it left last.
        var sentAt: MeshInstant?
    }

    private struct Batch {
        var number: Int64
        var from: Int
        /// Nil while it is read.
        var end: Int?
        var since: MeshInstant
    }

    private let car: String
    private let topics: FleetTopics
    private var entries: [Int64: Entry] = [:]
    private var isListening = false
    /// Who collects.
    private var collector: [UInt8]?
    private var batch: Batch?
    private var nextAt: MeshInstant = .zero
    /// Since when nobody has taken anything although there is a connection.
    private var idleSince: MeshInstant?
    /// How often in a row nothing was said to what was asked.
    private var silences = 0
    private var askedAt: MeshInstant?
    private var told: Cause?
    private var isEnding = false
    /// Drives that are collected, whose headers may still be at the broker: the power went before they were withdrawn.
    private var withdrawn: [FleetDrive]

    /// Drives of the node of this address. Each may be there already, from former runs. `collected` are the headers of those that
    /// were collected last.
    public init(car: String, prefix: String, _ drives: [Shared], collected: [String] = []) {
        self.car = car
        withdrawn = collected.compactMap { FleetDrive(header: $0) }
        topics = FleetTopics(prefix: prefix)
        for drive in drives { add(drive) }
    }

    /// What to listen to.
    public var filters: [String] { [topics.collector, topics.allTaken(of: car)] }

    /// Whether there is nothing more to wait for before the end.
    public var isDone: Bool { isEnding && (entries.isEmpty || collector == nil || !isListening) }

    /// One event.
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
        // A header that no collector can read is kept here, and goes nowhere.
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

    // MARK: What the broker brings

    private mutating func arrived(_ topic: String, _ payload: [UInt8], _ now: MeshInstant) -> [Action] {
        switch topics.subject(of: topic) {
        case .collector:
            let new = payload.isEmpty ? nil : Array(payload.prefix(FieldTestLimits.wordCharacters))
            // Another one, or the same one again: it says what it has of each drive.
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
        // More than there is: this folder was restored from an older one. What is missing here is there.
        let count = min(count, entry.rows)
        if let under = batch, under.number == number {
            // An older word of the collector's, or its answer to the header: the batch is still on its way.
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

    /// It is noted here, so that its header is not needed there any more.
    private mutating func marked(_ number: Int64) -> [Action] {
        guard let entry = entries.removeValue(forKey: number) else { return [] }
        if batch?.number == number { batch = nil }
        return isListening ? [.publish(topic: topics.head(entry.drive), [], isRetained: true)] : []
    }

    // MARK: What is sent

    /// The oldest drives, and the one that goes on.
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
            // It was forgotten, or the disk fails: nothing of it is sent in this run.
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

    // MARK: What is not taken

    /// Where nothing is said to what was asked, it is asked again with the header, ever more seldom: what the broker has dropped
    /// in between is found that way.
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
        // Not all cars ask at one moment.
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
        // Without a connection nothing new is known.
        guard isListening || cause != nil, cause != told else { return [] }
        if cause == nil, collector == nil { return [] }
        told = cause
        return [cause.map { .refused($0) } ?? .taken]
    }
}
