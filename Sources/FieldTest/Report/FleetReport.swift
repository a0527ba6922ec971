// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol

/// A report across the drives of a fleet: reconnect times by car, by hour of the day and by version, and the results of
/// the votes.
public struct FleetReport: Sendable {
    /// A reconnect and its time.
    struct Back: Hashable, Sendable {
        /// The duration of the reconnect, in seconds.
        var seconds: Double
        /// When the gap ended, in seconds since 1970.
        var at: Double
        /// The length of the gap, in seconds.
        var gap: Double
    }

    /// The data of a drive that the report needs.
    struct Entry: Sendable {
        let number: Int64
        let header: DriveHeader
        let ending: Drive.Ending
        let seconds: Double
        let gaps: Int
        let away: Double
        let backs: [Back]
        let deliveries: Deliveries
        let missing: Int
        /// Votes are unanswered although the host was in range at the end.
        let isLost: Bool
        let grade: Verdict.Grade

        init(_ number: Int64, _ drive: Drive) {
            let metrics = DriveMetrics(drive)
            (self.number, header, ending, seconds) = (number, drive.header, drive.ending, metrics.seconds)
            (gaps, away, missing) = (metrics.gaps.count, metrics.away, metrics.missing)
            deliveries = metrics.deliveries
            isLost = metrics.deliveries.waiting > 0 && metrics.endsLinked && drive.ending == .complete
            grade = Verdict(drive, metrics).grade
            backs = metrics.gaps.compactMap { gap in
                guard let seconds = gap.reconnect, let end = gap.end else { return nil }
                return Back(seconds: seconds, at: drive.header.began + end, gap: end - gap.start)
            }
        }

        /// The node, by its name and the head of its identifier, because names are not unique.
        var car: String { "\(header.peer.name) (\(Identity.head(of: header.peer.id)))" }
    }

    /// Reconnect times of a part of a fleet.
    struct Times: Sendable {
        let word: String
        let drives: Int
        let sorted: [Double]

        var median: Double? { sorted.median }
        var slow: Double? { sorted.quantile(0.95) }
        var worst: Double? { sorted.last }
    }

    private(set) var entries: [Entry] = []
    let clock: LocalClock

    /// An empty report, to which drives are added one by one. Times are in this device's time zone.
    public init() { self.init(clock: .device) }

    init(clock: LocalClock) { self.clock = clock }

    /// The name of the present time zone.
    var zone: String { clock.zoneName(Double(time(nil))) }

    /// Adds a drive. Keeps only what the report needs.
    public mutating func add(_ drive: Drive, number: Int64) { entries.append(Entry(number, drive)) }

    // MARK: Results

    var backs: [Double] { entries.flatMap(\.backs).map(\.seconds).sorted() }

    /// By car, the one with the slowest 95th percentile first.
    var byCar: [Times] {
        grouped(\.car).sorted { ($1.slow ?? -1, $0.word) < ($0.slow ?? -1, $1.word) }
    }

    /// The times by version of the program.
    var byVersion: [Times] { grouped(\.header.version).sorted { $0.word < $1.word } }

    /// The times by hour of the day, for hours with a reconnect only.
    var byHour: [Times] {
        let all = entries.flatMap { entry in entry.backs.map { (clock.hour($0.at), entry.number, $0.seconds) } }
        return Dictionary(grouping: all, by: \.0).sorted { $0.key < $1.key }.map { hour, backs in
            let word = hour < 10 ? "0\(hour)" : "\(hour)"
            return Times(
                word: "\(word):00 to \(word):59", drives: Set(backs.map(\.1)).count, sorted: backs.map(\.2).sorted())
        }
    }

    private func grouped(_ key: (Entry) -> String) -> [Times] {
        Dictionary(grouping: entries, by: key).map { word, entries in
            Times(word: word, drives: entries.count, sorted: entries.flatMap(\.backs).map(\.seconds).sorted())
        }
    }

    /// The slowest reconnects, with their drives.
    var slowest: [(entry: Entry, back: Back)] {
        let all = entries.flatMap { entry in entry.backs.map { (entry: entry, back: $0) } }
        return Array(all.sorted { $0.back.seconds > $1.back.seconds }.prefix(FieldTestLimits.slowestShown))
    }

    /// Findings across all drives.
    var findings: [Verdict.Finding] { [votes, reconnects, completeness].compactMap(\.self) }

    /// The worst grade of all findings.
    var grade: Verdict.Grade { findings.map(\.grade).max() ?? .none }

    private var votes: Verdict.Finding {
        let (guests, hosts) = (entries.filter { $0.header.role == .guest }, entries.filter { $0.header.role == .host })
        let cast = guests.reduce(0) { $0 + $1.deliveries.cast }
        let twice = hosts.reduce(0) { $0 + $1.deliveries.countedTwice }
        let received = hosts.reduce(0) { $0 + $1.deliveries.received }
        let lost = guests.filter(\.isLost)
        let waiting = guests.reduce(0) { $0 + ($1.isLost ? 0 : $1.deliveries.waiting) }
        guard cast + received > 0 else {
            return Verdict.Finding(grade: .none, sentence: "No votes were cast, so there is no verdict on votes.")
        }
        if twice > 0 || !lost.isEmpty {
            let open = lost.reduce(0) { $0 + $1.deliveries.waiting }
            let parts = [
                twice > 0 ? "\(Format.count(twice, "vote")) counted twice" : nil,
                open > 0
                    ? "\(Format.count(open, "wish has", "wishes have")) no answer although the host was in range" : nil,
            ].compactMap(\.self)
            return Verdict.Finding(
                grade: .poor, sentence: Format.list(parts) + ".",
                advice: "That must never happen: please report it with these drives, which are marked in the table.")
        }
        let parts = [
            cast > 0 ? "guests cast \(Format.count(cast, "wish", "wishes"))" : nil,
            received > 0 ? "hosts accepted \(received)" : nil,
        ].compactMap(\.self)
        return Verdict.Finding(
            grade: .good,
            sentence: "No vote was lost or counted twice: \(Format.list(parts))."
                + (waiting > 0 ? " \(waiting) more wait for the next link to their host." : ""))
    }

    private var reconnects: Verdict.Finding? {
        let times = backs
        guard let median = times.median, let slow = times.quantile(0.95), let worst = times.last else { return nil }
        let grade: Verdict.Grade =
            median > Verdict.reconnectPoor ? .poor : slow > Verdict.reconnectFair ? .fair : .good
        return Verdict.Finding(
            grade: grade,
            sentence:
                "After a gap, everything was back within \(Format.time(median)) (half of the times) and "
                + "\(Format.time(slow)) (95 % of them); the worst of \(times.count) took \(Format.time(worst)).")
    }

    private var completeness: Verdict.Finding? {
        let cut = entries.count { $0.ending == .cutOff }
        let underWay = entries.count { $0.ending == .underWay }
        let missing = entries.reduce(0) { $0 + $1.missing }
        let parts = [
            cut > 0 ? "\(Format.count(cut, "recording was", "recordings were")) cut off" : nil,
            underWay > 0 ? "\(Format.count(underWay, "recording is", "recordings are")) not all here yet" : nil,
            missing > 0 ? "\(Format.count(missing, "row is", "rows are")) missing" : nil,
        ].compactMap(\.self)
        guard !parts.isEmpty else { return nil }
        return Verdict.Finding(grade: missing > 0 ? .fair : .none, sentence: Format.list(parts) + ".")
    }

    /// The report in one line.
    var summary: String {
        let cars = Set(entries.map(\.header.peer.id)).count
        let seconds = entries.reduce(0) { $0 + $1.seconds }
        return
            "\(Format.count(entries.count, "drive")) of \(Format.count(cars, "car")), \(Format.time(seconds)) in all, "
            + "\(Format.count(entries.reduce(0) { $0 + $1.gaps }, "gap"))"
    }

    /// For a terminal.
    public var sentences: [String] {
        ["\(summary)."]
            + findings.map { finding in
                "  \(finding.grade.word). \(finding.sentence)\(finding.advice.map { " " + $0 } ?? "")"
            }
    }
}
