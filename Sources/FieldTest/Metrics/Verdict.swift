// SPDX-License-Identifier: Apache-2.0

/// The meaning of a drive's metrics, in plain words (`docs/fieldtest.md`, "Reading a report").
public struct Verdict: Hashable, Sendable {
    /// Grades, from the best to the worst.
    public enum Grade: String, Encodable, Comparable, Hashable, Sendable {
        /// A fact that is neither good nor bad.
        case none
        /// Good enough; no action is needed.
        case good
        /// The drive worked, but could have been better.
        case fair
        /// Bad enough for people to notice.
        case poor

        /// Whether one grade is better than the other.
        public static func < (one: Grade, other: Grade) -> Bool { one.order < other.order }

        private var order: Int { [.none, .good, .fair, .poor].firstIndex(of: self) ?? 0 }

        /// The word for the grade in a report.
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
        case .good: "A good drive. There is nothing to improve."
        case .fair: "A fair drive. It worked, and something can be better."
        case .poor: "A poor drive. People in the car noticed it."
        case .none: "There is no verdict on this drive."
        }
    }

    /// In seconds. A reconnect that is longer than the first value is fair, and poor if it is longer than the second.
    static let reconnectFair = 1.0, reconnectPoor = 5.0
    /// Shares of the drive without a link. A few tunnels are less than the first. With more than the second, the music
    /// is out of reach most of the time.
    static let awayFair = 0.10, awayPoor = 0.50
    /// A weaker signal counts as weak, in dBm. Receivers fail some 10 dB below this.
    static let weakSignal = -85
    /// A share of weak signals above the first value is fair, and poor above the second.
    static let weakFair = 0.05, weakPoor = 0.20
    /// In milliseconds. If one round trip in twenty is longer than the first value, the drive is fair, and poor if it
    /// is longer than the second.
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
                    "The host accepted \(Self.wishes(votes.received)), and counted each vote once."
                )
            }
            return
        }
        guard votes.cast > 0 else { return find(.none, "No votes were cast, so there is no verdict on votes.") }
        guard votes.waiting > 0 else {
            let longest = votes.waits.last.map { " The longest wait was \(Format.time($0))." } ?? ""
            return find(
                .good, "Nothing was lost. The host answered \(Self.wishes(votes.cast, isAll: true)).\(longest)")
        }
        let endsAway = !metrics.endsLinked || drive.ending != .complete
        find(
            endsAway ? .fair : .poor,
            "\(votes.waiting) of \(Self.wishes(votes.cast)) had no answer at the end.",
            endsAway
                ? "The drive ended without a link or was cut off. They are saved, and are sent on the next link."
                : "The host was in range. If they are not answered soon, please report it with this drive.")
    }

    private static func wishes(_ count: Int, isAll: Bool = false) -> String {
        switch (count, isAll) {
        case (1, true): "the only vote or suggestion"
        case (_, true): "all \(count) votes and suggestions"
        default: Format.count(count, "vote or suggestion", "votes and suggestions")
        }
    }

    private mutating func gaps(_ metrics: DriveMetrics) {
        guard metrics.hadLink else {
            return find(
                .none, "There was no link in this drive.",
                "A guest and a host must be in range of each other and use the same service; roadmesh doctor on both devices "
                    + "shows what is wrong.")
        }
        guard !metrics.gaps.isEmpty else { return find(.good, "The link was never lost.") }
        let longest = metrics.longestGap.map { Format.time($0) } ?? "?"
        let short = metrics.gaps.count { ($0.length ?? .infinity) < Self.shortGap }
        let isShort = short > 3 && short * 2 > metrics.gaps.count
        let share = metrics.awayShare
        let advice =
            isShort
            ? "Most gaps are shorter than \(Format.time(Self.shortGap)). A tunnel is longer, so the signal was at its limit. "
                + "Move the dongle into the open, away from metal and other plugs."
            : share > Self.awayFair
                ? "If the signal had faded before, a dongle in a better place shortens the gaps." : nil
        let times =
            metrics.gaps.count == 1
            ? "lost once, and was gone for \(Format.time(metrics.away)), \(Format.share(share, of: 1)) of the drive."
            : "lost \(metrics.gaps.count) times. It was gone for \(Format.time(metrics.away)) in all, "
                + "\(Format.share(share, of: 1)) of the drive, and for \(longest) at most."
        find(
            share > Self.awayPoor ? .poor : share > Self.awayFair || isShort ? .fair : .good, "The link was \(times)",
            advice)
    }

    private mutating func reconnects(_ metrics: DriveMetrics) {
        let times = metrics.reconnects
        guard let median = times.median, let worst = times.last else { return }
        let grade: Grade = worst > Self.reconnectPoor ? .poor : worst > Self.reconnectFair ? .fair : .good
        find(
            median > Self.reconnectPoor ? .poor : grade == .good ? .good : .fair,
            times.count == 1
                ? "After the gap, the guest was back within \(Format.time(worst))."
                : "After half of the gaps, the guest was back within \(Format.time(median)). The slowest reconnect took "
                    + "\(Format.time(worst)).",
            grade == .good
                ? nil
                : "Shorter connection intervals and advertising with bluetoothd's -E bring a guest back sooner. See "
                    + "\"Slow to be found, late to be back\" in docs/using.md.")
    }

    private mutating func signal(_ metrics: DriveMetrics) {
        let signal = metrics.signal
        guard let median = signal.median, let low = signal.quantile(0.05) else { return }
        let weak = Double(signal.count { $0 < Self.weakSignal }) / Double(signal.count)
        find(
            weak > Self.weakPoor ? .poor : weak > Self.weakFair ? .fair : .good,
            "The median of the signal was \(median) dBm. One measurement in twenty was weaker than \(low) dBm.",
            weak > Self.weakFair
                ? "\(Format.share(weak, of: 1)) of the measurements were weak (below \(Self.weakSignal) dBm). Another place for "
                    + "the dongle, or an extension cable, helps more than anything else." : nil)
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
            "The median round trip took \(Format.time(median / 1_000)). One in twenty took \(Format.time(slow / 1_000)) or more.",
            slow > Self.roundTripFair
                ? "Many packets were sent again, because the signal is weak or the air is full." : nil)
    }

    private mutating func completeness(_ drive: Drive, _ metrics: DriveMetrics) {
        if drive.ending == .cutOff {
            find(
                .none,
                "The recording was cut off at \(Format.clock(metrics.seconds)). The power was lost, or the program was killed."
            )
        }
        if metrics.missing > 0 {
            find(
                .fair, "\(Format.count(metrics.missing, "row")) of the recording are missing.",
                "The disk accepted no writes for some time. Make room on it.")
        }
    }
}
