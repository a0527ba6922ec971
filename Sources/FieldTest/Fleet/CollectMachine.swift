// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import NodeStore

/// Decides which of the drives that cars publish at a broker are stored, and reports on them.
///
/// It decides, writes, then confirms: it publishes the number of rows on the disk, without a gap from the first row on.
/// So a repeated row is recognised by its number, and a lost row is sent again.
public struct CollectMachine: Sendable {
    /// A drive that is already stored.
    public struct Known: Hashable, Sendable {
        /// The number of the drive in the store.
        public var number: Int64
        /// The header of the drive, as a line.
        public var header: String
        /// The number of the drive's rows that the store has.
        public var rows: Int
        /// The last row of the drive, if it has rows.
        public var lastLine: String?
        /// More rows may come.
        public var isArriving: Bool

        /// A drive.
        public init(number: Int64, header: String, rows: Int, lastLine: String?, isArriving: Bool) {
            (self.number, self.header, self.rows) = (number, header, rows)
            (self.lastLine, self.isArriving) = (lastLine, isArriving)
        }
    }

    /// What happens.
    public enum Event: Sendable {
        /// The broker is connected.
        case connected
        /// The broker has delivered this message.
        case arrived(topic: String, [UInt8])
        /// The store has created a drive with this number; nil if the disk refused.
        case began(FleetDrive, Int64?)
        /// The store has written rows, or the disk refused.
        case appended(FleetDrive, isKept: Bool)
        /// The store has marked a drive as finished.
        case closed(FleetDrive)
        /// The size of the database, in bytes.
        case measured(bytes: Int)
    }

    /// An action for the collector.
    public enum Action: Hashable, Sendable {
        /// Subscribe to this filter.
        case subscribe(String)
        /// Publish a retained message.
        case publish(topic: String, [UInt8])
        /// Create a drive in the store; `began` follows.
        case begin(FleetDrive, header: String)
        /// Append rows to a drive; `appended` follows. `isEnd`: the last row ends the drive.
        case append(FleetDrive, Int64, [String], isEnd: Bool)
        /// Mark a drive as finished; `closed` follows.
        case close(FleetDrive, Int64)
        /// Notify people.
        case tell(News)
    }

    /// A notification for people.
    public enum News: Hashable, Sendable {
        /// The collection of a drive has started.
        case begins(Progress)
        /// More rows of a drive were stored.
        case goesOn(Progress)
        /// The drive is complete.
        case complete(Progress)
        /// A drive of this car is refused, because there is no room for it.
        case noRoom(car: String)
        /// Another collector runs at this broker.
        case other
    }

    /// The progress of a drive.
    public struct Progress: Hashable, Sendable {
        /// The number of the drive in the store.
        public var number: Int64
        /// What is known from the start.
        public var header: DriveHeader
        /// Rows that are stored.
        public var rows: Int
        /// The duration of the drive so far, in seconds.
        public var seconds: Double
        /// Invalid rows.
        public var unreadable: Int
        /// The drive was interrupted, and its end will never come.
        public var isCutOff: Bool
    }

    private struct Entry {
        var number: Int64
        var header: DriveHeader
        /// Rows on the disk.
        var rows: Int
        var seconds = 0.0
        var unreadable = 0
        /// The drive is finished.
        var isClosed: Bool
        /// The total number of rows of the drive. Nil until the car has reported it.
        var final: Int?
        /// Rows that are being written. Further rows must wait.
        var writing: Lines?
        var toldAt: MeshInstant?
    }

    /// Rows as they are stored.
    fileprivate struct Lines {
        var lines: [String] = []
        var seconds: Double
        var unreadable = 0
        var isEnd = false
    }

    fileprivate struct Stamp: Decodable {
        var at: Double
        var kind: String
    }

    private let topics: FleetTopics
    /// Identifies this run.
    private let run: [UInt8]
    private var entries: [FleetDrive: Entry] = [:]
    private var drivesOfCar: [String: Int] = [:]
    /// Drives that the store is creating.
    private var beginning: [FleetDrive: (header: DriveHeader, final: Int?)] = [:]
    private var bytes = 0
    private var refused: Set<String> = []

    /// A collection with these drives. `run` differs from that of every other collector.
    public init(prefix: String, run: String, _ drives: [Known]) {
        topics = FleetTopics(prefix: prefix)
        self.run = Array(run.utf8)
        for drive in drives { add(drive) }
    }

    /// The topic that the broker clears when this collector is gone.
    public var lastWill: String { topics.collector }

    private mutating func add(_ known: Known) {
        // Drives that were recorded on this device are skipped: no car publishes rows of them.
        guard let drive = FleetDrive(header: known.header), let header = Self.header(known.header) else { return }
        if entries[drive] == nil { drivesOfCar[drive.car, default: 0] += 1 }
        var entry = Entry(number: known.number, header: header, rows: known.rows, isClosed: !known.isArriving)
        entry.seconds = known.lastLine.flatMap { Self.stamp($0)?.at } ?? 0
        entries[drive] = entry
    }

    private static func header(_ line: String) -> DriveHeader? { (try? Drive(lines: [line]))?.header }

    /// The fields that every row has, even a row of a kind that this version does not know. Nil for an invalid row.
    fileprivate static func stamp(_ line: String) -> Stamp? {
        guard line.utf8.count <= StoreLimits.driveLineBytes,
            let stamp = try? JSONDecoder().decode(Stamp.self, from: Data(line.utf8)), stamp.at.isFinite,
            (0...FieldTestLimits.longestDrive / .seconds(1)).contains(stamp.at)
        else { return nil }
        return stamp
    }

    // MARK: Events

    /// Handles one event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .connected:
            // First announce the collector, then subscribe. A car waits for both.
            return [.publish(topic: topics.collector, run), .subscribe(topics.collector), .subscribe(topics.allRows)]
                + [.subscribe(topics.heads)]
        case .arrived(let topic, let payload):
            switch topics.subject(of: topic) {
            case .collector: return collector(payload)
            case .head(let drive): return payload.isEmpty ? withdrawn(drive) : head(drive, payload, now)
            case .rows(let drive): return rows(drive, payload)
            case .taken, nil: return []
            }
        case .began(let drive, let number): return began(drive, number, now)
        case .appended(let drive, let isKept): return appended(drive, isKept, now)
        case .closed(let drive): return closed(drive)
        case .measured(let bytes):
            self.bytes = bytes
            return []
        }
    }

    /// A collector has announced itself.
    private func collector(_ payload: [UInt8]) -> [Action] {
        guard payload != run else { return [] }
        // The message is the last will of this collector's former connection.
        guard !payload.isEmpty else { return [.publish(topic: topics.collector, run)] }
        return [.tell(.other)]
    }

    // MARK: Headers

    private mutating func head(_ drive: FleetDrive, _ payload: [UInt8], _ now: MeshInstant) -> [Action] {
        // The topic contains the header's hash, so no other header can replace it.
        guard let head = FleetHead(payload), FleetDrive(header: head.header) == drive,
            let header = Self.header(head.header)
        else { return [] }
        guard entries[drive] == nil else {
            entries[drive]?.final = head.final
            return confirm(drive) + closeIfAll(drive)
        }
        guard beginning[drive] == nil else { return [] }
        let ofCar = drivesOfCar[drive.car, default: 0]
        let hasRoom =
            bytes < FieldTestLimits.collectedBytes
            && entries.count + beginning.count < FieldTestLimits.collectedDrives
            && ofCar < FieldTestLimits.collectedDrivesOfCar
            && (ofCar > 0 || drivesOfCar.count < FieldTestLimits.collectedCars)
        guard hasRoom else { return noRoom(drive.car) }
        beginning[drive] = (header, head.final)
        return [.begin(drive, header: head.header)]
    }

    /// Reports a lack of room once for each car, for a limited number of cars.
    private mutating func noRoom(_ car: String) -> [Action] {
        guard refused.count < FieldTestLimits.collectedCars, refused.insert(car).inserted else { return [] }
        return [.tell(.noRoom(car: car))]
    }

    private mutating func began(_ drive: FleetDrive, _ number: Int64?, _ now: MeshInstant) -> [Action] {
        guard let begun = beginning.removeValue(forKey: drive), let number else { return [] }
        drivesOfCar[drive.car, default: 0] += 1
        var entry = Entry(number: number, header: begun.header, rows: 0, isClosed: false)
        (entry.final, entry.toldAt) = (begun.final, now)
        entries[drive] = entry
        return [.tell(.begins(progress(entry)))] + confirm(drive) + closeIfAll(drive)
    }

    /// A car no longer needs this header. For an incomplete drive that was a forged confirmation, so the collector
    /// confirms again.
    private func withdrawn(_ drive: FleetDrive) -> [Action] {
        guard let entry = entries[drive] else { return [] }
        return entry.isClosed ? [.publish(topic: topics.taken(drive), [])] : confirm(drive)
    }

    private func confirm(_ drive: FleetDrive) -> [Action] {
        guard let entry = entries[drive] else { return [] }
        return [.publish(topic: topics.taken(drive), FleetCount.payload(entry.rows))]
    }

    /// Finishes a drive if all its rows are stored, even if none of them is its end.
    private func closeIfAll(_ drive: FleetDrive) -> [Action] {
        guard let entry = entries[drive], !entry.isClosed, entry.writing == nil, let final = entry.final,
            entry.rows >= final
        else { return [] }
        return [.close(drive, entry.number)]
    }

    private mutating func closed(_ drive: FleetDrive) -> [Action] {
        guard var entry = entries[drive], !entry.isClosed else { return [] }
        entry.isClosed = true
        entries[drive] = entry
        return [.tell(.complete(progress(entry, isCutOff: true)))]
    }

    // MARK: Rows

    private mutating func rows(_ drive: FleetDrive, _ payload: [UInt8]) -> [Action] {
        // The car publishes the header of an unknown drive again.
        guard let entry = entries[drive], entry.writing == nil, let rows = FleetRows(payload) else { return [] }
        guard !entry.isClosed, rows.first <= entry.rows, rows.first + rows.lines.count > entry.rows else {
            return confirm(drive)
        }
        guard bytes < FieldTestLimits.collectedBytes else { return noRoom(drive.car) }
        let room = StoreLimits.driveLines - entry.rows
        var kept = Lines(seconds: entry.seconds)
        for line in rows.lines.dropFirst(entry.rows - rows.first).prefix(room) where !kept.isEnd { kept.add(line) }
        // A drive that exceeds the longest recording ends here.
        if kept.lines.count == room { kept.isEnd = true }
        guard !kept.lines.isEmpty else { return confirm(drive) }
        entries[drive]?.writing = kept
        return [.append(drive, entry.number, kept.lines, isEnd: kept.isEnd)]
    }

    private mutating func appended(_ drive: FleetDrive, _ isKept: Bool, _ now: MeshInstant) -> [Action] {
        guard var entry = entries[drive], let kept = entry.writing else { return [] }
        entry.writing = nil
        guard isKept else {
            entries[drive] = entry
            return []
        }
        entry.rows += kept.lines.count
        entry.unreadable += kept.unreadable
        entry.seconds = kept.seconds
        entry.isClosed = kept.isEnd
        let isTold = entry.toldAt.map { now - $0 >= FieldTestLimits.collectTold } ?? true
        if isTold { entry.toldAt = now }
        entries[drive] = entry
        let news: News? =
            entry.isClosed ? .complete(progress(entry)) : isTold ? .goesOn(progress(entry)) : nil
        return confirm(drive) + (news.map { [.tell($0)] } ?? []) + closeIfAll(drive)
    }

    private func progress(_ entry: Entry, isCutOff: Bool = false) -> Progress {
        Progress(
            number: entry.number, header: entry.header, rows: entry.rows, seconds: entry.seconds,
            unreadable: entry.unreadable, isCutOff: isCutOff)
    }
}

extension CollectMachine.Lines {
    /// Adds a row. A row that marks a gap replaces an invalid row, so the other rows keep their numbers.
    mutating func add(_ line: String) {
        guard let stamp = CollectMachine.stamp(line) else {
            unreadable += 1
            return lines.append(FleetRows.missing(at: seconds))
        }
        lines.append(line)
        // Rows may be slightly out of order.
        seconds = max(seconds, stamp.at)
        isEnd = stamp.kind == "end"
    }
}
