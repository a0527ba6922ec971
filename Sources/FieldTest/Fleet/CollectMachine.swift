// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import NodeStore

/// Decides what of the drives that cars publish at a broker is kept, and says what is.
///
/// Decide, write, then confirm: the number of rows that it publishes is that of the rows on the disk, without a gap from the
/// first on. So a row that comes twice is known by its number, and one that is lost is sent again.
public struct CollectMachine: Sendable {
    /// A drive that is kept already.
    public struct Known: Hashable, Sendable {
        /// Its number in the store.
        public var number: Int64
        /// Its header's line.
        public var header: String
        /// How many rows the store has of it.
        public var rows: Int
        /// Its last row, where it has one.
        public var lastLine: String?
        /// More may come.
        public var isArriving: Bool

        /// A drive.
        public init(number: Int64, header: String, rows: Int, lastLine: String?, isArriving: Bool) {
            (self.number, self.header, self.rows) = (number, header, rows)
            (self.lastLine, self.isArriving) = (lastLine, isArriving)
        }
    }

    /// What happens.
    public enum Event: Sendable {
        /// There is a connection.
        case connected
        /// The broker has sent this.
        case arrived(topic: String, [UInt8])
        /// A drive has begun in the store, under this number; nil where the disk does not take it.
        case began(FleetDrive, Int64?)
        /// Rows are on the disk, or it has not taken them.
        case appended(FleetDrive, isKept: Bool)
        /// It is noted that no more rows of a drive come.
        case closed(FleetDrive)
        /// Bytes of the database.
        case measured(bytes: Int)
    }

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// Listen to this.
        case subscribe(String)
        /// Publish, retained.
        case publish(topic: String, [UInt8])
        /// Begin a drive; then comes `began`.
        case begin(FleetDrive, header: String)
        /// Add rows to a drive; then comes `appended`. With the last of them it has ended.
        case append(FleetDrive, Int64, [String], isEnd: Bool)
        /// No more rows of a drive come; then comes `closed`.
        case close(FleetDrive, Int64)
        /// Tell people.
        case tell(News)
    }

    /// What people are told.
    public enum News: Hashable, Sendable {
        /// A drive has begun to come.
        case begins(Progress)
        /// More of it has come.
        case goesOn(Progress)
        /// All of it is here.
        case complete(Progress)
        /// A drive of this car is not taken, as there is no room for it.
        case noRoom(car: String)
        /// Another one collects at this broker.
        case other
    }

    /// How far a drive is here.
    public struct Progress: Hashable, Sendable {
        /// Its number in the store.
        public var number: Int64
        /// What is known of it from the start.
        public var header: DriveHeader
        /// Rows that are here.
        public var rows: Int
        /// How long it takes so far, in seconds.
        public var seconds: Double
        /// Rows that could not be read.
        public var unreadable: Int
        /// It was cut off: its end never comes.
        public var isCutOff: Bool
    }

    private struct Entry {
        var number: Int64
        var header: DriveHeader
        /// Rows on the disk.
        var rows: Int
        var seconds = 0.0
        var unreadable = 0
        /// No more rows come.
        var isClosed: Bool
        /// How many rows it has in all, where its car has said so.
        var final: Int?
        /// What is being written; more has to wait.
        var writing: Lines?
        var toldAt: MeshInstant?
    }

    /// Rows as they are kept.
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
    /// Stands for this run.
    private let run: [UInt8]
    private var entries: [FleetDrive: Entry] = [:]
    private var drivesOfCar: [String: Int] = [:]
    /// Drives that begin in the store.
    private var beginning: [FleetDrive: (header: DriveHeader, final: Int?)] = [:]
    private var bytes = 0
    private var refused: Set<String> = []

    /// A collection of these drives. `run` is a word that no other collector has.
    public init(prefix: String, run: String, _ drives: [Known]) {
        topics = FleetTopics(prefix: prefix)
        self.run = Array(run.utf8)
        for drive in drives { add(drive) }
    }

    /// What a broker publishes, empty, when this is gone.
    public var lastWill: String { topics.collector }

    private mutating func add(_ known: Known) {
        // What was recorded here, and of whom no car can publish anything, is none of these.
        guard let drive = FleetDrive(header: known.header), let header = Self.header(known.header) else { return }
        if entries[drive] == nil { drivesOfCar[drive.car, default: 0] += 1 }
        var entry = Entry(number: known.number, header: header, rows: known.rows, isClosed: !known.isArriving)
        entry.seconds = known.lastLine.flatMap { Self.stamp($0)?.at } ?? 0
        entries[drive] = entry
    }

    private static func header(_ line: String) -> DriveHeader? { (try? Drive(lines: [line]))?.header }

    /// What every row has, of whatever kind: one that this version does not know is kept. Nil where it is no row.
    fileprivate static func stamp(_ line: String) -> Stamp? {
        guard line.utf8.count <= StoreLimits.driveLineBytes,
            let stamp = try? JSONDecoder().decode(Stamp.self, from: Data(line.utf8)), stamp.at.isFinite,
            (0...FieldTestLimits.longestDrive / .seconds(1)).contains(stamp.at)
        else { return nil }
        return stamp
    }

    // MARK: Events

    /// One event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .connected:
            // First that there is a collector, then what it has: a car waits for both.
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

    /// Somebody has said who collects here.
    private func collector(_ payload: [UInt8]) -> [Action] {
        guard payload != run else { return [] }
        // The last will of this one's former connection.
        guard !payload.isEmpty else { return [.publish(topic: topics.collector, run)] }
        return [.tell(.other)]
    }

    // MARK: A drive's header

    private mutating func head(_ drive: FleetDrive, _ payload: [UInt8], _ now: MeshInstant) -> [Action] {
        // A header proves by its topic whose it is: nobody puts another in its place.
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

    /// It is told once of each car, and of so many of them that this stays small.
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

    /// A car needs this header no more. What it says of a drive that is not all here was no word of the collector's.
    private func withdrawn(_ drive: FleetDrive) -> [Action] {
        guard let entry = entries[drive] else { return [] }
        return entry.isClosed ? [.publish(topic: topics.taken(drive), [])] : confirm(drive)
    }

    private func confirm(_ drive: FleetDrive) -> [Action] {
        guard let entry = entries[drive] else { return [] }
        return [.publish(topic: topics.taken(drive), FleetCount.payload(entry.rows))]
    }

    /// A drive whose rows are all here although none of them is its end.
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

    // MARK: Its rows

    private mutating func rows(_ drive: FleetDrive, _ payload: [UInt8]) -> [Action] {
        // Of one that is not known its car publishes the header again.
        guard let entry = entries[drive], entry.writing == nil, let rows = FleetRows(payload) else { return [] }
        guard !entry.isClosed, rows.first <= entry.rows, rows.first + rows.lines.count > entry.rows else {
            return confirm(drive)
        }
        guard bytes < FieldTestLimits.collectedBytes else { return noRoom(drive.car) }
        let room = StoreLimits.driveLines - entry.rows
        var kept = Lines(seconds: entry.seconds)
        for line in rows.lines.dropFirst(entry.rows - rows.first).prefix(room) where !kept.isEnd { kept.add(line) }
        // A drive that says more than the longest one that is recorded ends here.
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
    /// A row that is none stands in its place as one that is missing: the numbers of the others stay as they are.
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
