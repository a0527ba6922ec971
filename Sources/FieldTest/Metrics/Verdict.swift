// SPDX-License-Identifier: Apache-2.0

/// The meaning of a drive's metrics, in plain words (`docs/fieldtest.md`, "Reading a report").
public struct Verdict: Hashable, Sendable {
    /// Grades, from the best to the worst.
    public enum Grade: String, Encodable, Comparable, Hashable, Sendable {
        /// A fact that is neither good nor bad.
        case none
        /// Nothing to do.
        case good
        /// It works, and could be better.
        case fair
        /// People notice.
        case poor

        /// Whether one grade is better than the other.
        public static func < (one: Grade, other: Grade) -> Bool { one.order < other.order }

        private var order: Int { [.none, .good, .fair, .poor].firstIndex(of: self) ?? 0 }

        /// Its word in a report.
        public var word: String {
            switch self {
            case .good: "Good"
            case .fair: "Fair"
            case .poor: "Poor"
            case .none: "Note"
            }
        }
    }

    /// A sentence and its grade.
    public struct Finding: Encodable, Hashable, Sendable {
        /// The grade.
        public var grade: Grade
        /// The sentence.
        public var sentence: String
        /// What to do about it, if anything.
        public var advice: String?
    }

    /// All findings, the most important first.
    public private(set) var findings: [Finding] = []

    /// The worst grade of all findings.
    public var grade: Grade { findings.map(\.grade).max() ?? .none }

    /// The verdict in one sentence.
    public var sentence: String {
        switch grade {
        case .good: "A good drive: nothing was lost, and a gap cost no more than its own time."
        case .fair: "A fair drive: it worked, but something could be better."
        case .poor: "A poor drive: people in the car noticed it."
        case .none: "There is no verdict on this drive."
        }
    }

    /// In seconds. A reconnect that is longer than the first value is fair, and poor if it is longer than the second.
    static let reconnectFair = 1.0, reconnectPoor = 5.0
    /// A weaker signal counts as weak, in dBm. Receivers fail some 10 dB below this.
    static let weakSignal = -85
    /// A share of weak signals above the first value is fair, and poor above the second.
    static let weakFair = 0.05, weakPoor = 0.20
    /// In milliseconds. If one round trip in twenty is longer than the first value, the drive is fair, and poor if it is
    /// longer than the second.
    static let roundTripFair = 300.0, roundTripPoor = 1_000.0
    /// Number of relays that are named: those used longest.
    static let namedRelays = 3
    /// A shorter gap does not count as a tunnel.
    static let shortGap = 2.0

    /// Judges a drive.
    public init(_ drive: Drive, _ metrics: DriveMetrics) {
        delivery(drive, metrics)
        gaps(metrics)
        reconnects(metrics)
        signal(metrics)
        relays(drive, metrics)
        roundTrips(metrics)
        completeness(drive, metrics)
    }

    private mutating func find(_ grade: Grade, _ sentence: String, _ advice: String? = nil) {
        findings.append(Finding(grade: grade, sentence: sentence, advice: advice))
    }

    private mutating func delivery(_ drive: Drive, _ metrics: DriveMetrics) {
        let votes = metrics.deliveries
        if drive.header.role == .host {
            if votes.countedTwice > 0 {
                find(
                    .poor, "\(Format.count(votes.countedTwice, "vote")) counted twice.",
                    "That must never happen: please report it with this drive.")
            } else if votes.received > 0 {
                find(
                    .good,
                    "The host accepted \(Format.count(votes.received, "wish", "wishes")), and counted each vote once."
                )
            }
            return
        }
        guard votes.cast > 0 else { return find(.none, "No votes were cast, so there is no verdict on votes.") }
        guard votes.waiting > 0 else {
            let longest = votes.waits.last.map { "; the longest wait was \(Format.time($0))" } ?? ""
            return find(
                .good,
                "Nothing was lost: \(Format.count(votes.cast, "wish was", "wishes were")) cast, and \(votes.delivered) "
                    + "\(votes.delivered == 1 ? "has its" : "have their") answer\(longest).")
        }
        let endsAway = !metrics.endsLinked || drive.ending != .complete
        find(
            endsAway ? .fair : .poor,
            "\(votes.waiting) of \(Format.count(votes.cast, "wish", "wishes")) had no answer at the end.",
            endsAway
                ? "The drive ended without a link or was cut off: they are saved, and sent at the next link."
                : "The host was in range: if they are not answered soon, please report it with this drive.")
    }

    private mutating func gaps(_ metrics: DriveMetrics) {
        guard metrics.hadLink else {
            return find(
                .none, "There was no link in this drive.",
                "A guest and a host must be in range of each other and use the same service; roadmesh doctor on both devices "
                    + "shows what is wrong.")
        }
        guard !metrics.gaps.isEmpty else { return find(.good, "No link was lost.") }
        let longest = metrics.longestGap.map { Format.time($0) } ?? "?"
        let short = metrics.gaps.count { ($0.length ?? .infinity) < Self.shortGap }
        find(
            short > 3 && short * 2 > metrics.gaps.count ? .fair : .good,
            "The link was gone \(metrics.gaps.count == 1 ? "once" : "\(metrics.gaps.count) times"), for \(Format.time(metrics.away)) in all "
                + "(\(Format.share(metrics.away, of: metrics.seconds)) of the drive); the longest time was \(longest).",
            short > 3 && short * 2 > metrics.gaps.count
                ? "Most gaps are shorter than \(Format.time(Self.shortGap)): that is not a tunnel but a signal at its limit. "
                    + "Move the dongle into the open, away from metal and other plugs." : nil)
    }

    private mutating func reconnects(_ metrics: DriveMetrics) {
        let times = metrics.reconnects
        guard let median = times.median, let worst = times.last else { return }
        let grade: Grade = worst > Self.reconnectPoor ? .poor : worst > Self.reconnectFair ? .fair : .good
        find(
            median > Self.reconnectPoor ? .poor : grade == .good ? .good : .fair,
            "After a gap, everything was back within \(Format.time(median)) (half of the times), "
                + "\(Format.time(worst)) at worst.",
            grade == .good
                ? nil
                : "Shorter connection intervals and advertising with bluetoothd's -E bring a guest back sooner; "
                    + "docs/using.md, \"Slow to be found, late to be back\".")
    }

    private mutating func signal(_ metrics: DriveMetrics) {
        let signal = metrics.signal
        guard let median = signal.median, let low = signal.quantile(0.05) else { return }
        let weak = Double(signal.count { $0 < Self.weakSignal }) / Double(signal.count)
        find(
            weak > Self.weakPoor ? .poor : weak > Self.weakFair ? .fair : .good,
            "The signal was \(median) dBm half of the time, and weaker than \(low) dBm one time in twenty.",
            weak > Self.weakFair
                ? "It was weak (below \(Self.weakSignal) dBm) for \(Format.share(weak, of: 1)) of the time: another place for the "
                    + "dongle, or an extension cable, helps more than anything else." : nil)
    }

    private mutating func relays(_ drive: Drive, _ metrics: DriveMetrics) {
        guard metrics.hops.hasRelays else { return }
        let ways = metrics.hops.byHops.map { "\(Format.way($0.hops)) for \(Format.time($0.seconds))" }
        let relays = metrics.hops.byRelay.prefix(Self.namedRelays).map {
            "\"\(metrics.name(ofRelay: $0.relay))\" for \(Format.time($0.seconds))"
        }
        let who = drive.header.role == .host ? "Guests were linked, all added up," : "It was linked"
        find(.none, "\(who) \(Format.list(ways)); the relay was \(Format.list(relays)).")
    }

    private mutating func roundTrips(_ metrics: DriveMetrics) {
        let trips = metrics.roundTrips
        guard let median = trips.median, let slow = trips.quantile(0.95) else { return }
        find(
            slow > Self.roundTripPoor ? .poor : slow > Self.roundTripFair ? .fair : .good,
            "A round trip took \(Format.time(median / 1_000)); one in twenty took \(Format.time(slow / 1_000)) or more.",
            slow > Self.roundTripFair
                ? "Many packets were sent again: the signal is weak, or the air is full." : nil)
    }

    private mutating func completeness(_ drive: Drive, _ metrics: DriveMetrics) {
        if drive.ending == .cutOff {
            find(
                .none,
                "The recording was cut off at \(Format.clock(metrics.seconds)): the power was lost, or the program ended."
            )
        }
        if metrics.missing > 0 {
            find(
                .fair, "\(Format.count(metrics.missing, "row")) of the recording are missing.",
                "The disk accepted no writes for some time; make room on it.")
        }
    }
}
