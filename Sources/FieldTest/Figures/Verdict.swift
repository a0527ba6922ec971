// SPDX-License-Identifier: Apache-2.0

import MeshNode

/// What a drive's figures mean, in plain words (`docs/fieldtest.md`, "Reading a report").
public struct Verdict: Hashable, Sendable {
    /// How good something is.
    public enum Grade: Int, Codable, Comparable, Hashable, Sendable {
        /// Nothing to do.
        case good
        /// It works; something could be better.
        case fair
        /// People notice.
        case poor
        /// It is a fact, and neither good nor bad.
        case none = -1

        /// Which is worse.
        public static func < (one: Grade, other: Grade) -> Bool { one.rawValue < other.rawValue }

        /// As it is shown.
        public var word: String {
            switch self {
            case .good: "Good"
            case .fair: "Fair"
            case .poor: "Poor"
            case .none: "Note"
            }
        }
    }

    /// Something that can be said, and how good it is.
    public struct Finding: Hashable, Sendable {
        /// How good it is.
        public var grade: Grade
        /// What was found.
        public var sentence: String
        /// What to do about it, where something can be done.
        public var advice: String?
    }

    /// What was found, the most important first.
    public private(set) var findings: [Finding] = []

    /// The whole is as good as its worst part.
    public var grade: Grade { findings.map(\.grade).max() ?? .none }

    /// The whole in one sentence.
    public var sentence: String {
        switch grade {
        case .good: "A good drive: nothing was lost, and a gap cost no more than its own time."
        case .fair: "A fair drive: it worked, and something could be better."
        case .poor: "A poor drive: people in the car have noticed."
        case .none: "Nothing can be said of this drive."
        }
    }

    /// A way back that takes longer is noticed, or disturbs.
    static let reconnectFair = 1.0, reconnectPoor = 5.0
    /// A signal below this is weak, in dBm: some 10 dB above where receivers stop to hear.
    static let weakSignal = -85
    /// A share of weak signal above which it could be better, or people notice.
    static let weakFair = 0.05, weakPoor = 0.20
    /// A round trip that is longer is noticed, in milliseconds: of one in twenty.
    static let roundTripFair = 300.0, roundTripPoor = 1_000.0
    /// A gap that is shorter is no tunnel.
    static let shortGap = 2.0

    /// Judges a drive.
    public init(_ drive: Drive, _ figures: DriveFigures) {
        delivery(drive, figures)
        gaps(figures)
        reconnects(figures)
        signal(figures)
        roundTrips(figures)
        completeness(drive, figures)
    }

    private mutating func find(_ grade: Grade, _ sentence: String, _ advice: String? = nil) {
        findings.append(Finding(grade: grade, sentence: sentence, advice: advice))
    }

    private mutating func delivery(_ drive: Drive, _ figures: DriveFigures) {
        let votes = figures.deliveries
        if drive.header.role == .host {
            if votes.countedTwice > 0 {
                find(
                    .poor, "\(Words.count(votes.countedTwice, "vote")) counted twice.",
                    "That must never be: please report it with this drive.")
            } else if votes.received > 0 {
                find(
                    .good, "The host took \(Words.count(votes.received, "wish", "wishes")), and counted each vote once."
                )
            }
            return
        }
        guard votes.cast > 0 else { return find(.none, "Nobody has voted, so nothing can be said of votes.") }
        guard votes.waiting > 0 else {
            let longest = votes.waits.last.map { "; the longest wait was \(Words.time($0))" } ?? ""
            return find(
                .good,
                "Nothing was lost: \(Words.count(votes.cast, "wish was", "wishes were")) cast, and \(votes.delivered) "
                    + "\(votes.delivered == 1 ? "has its" : "have their") answer\(longest).")
        }
        let endsAway = !figures.endsLinked || drive.ending != .complete
        find(
            endsAway ? .fair : .poor,
            "\(votes.waiting) of \(Words.count(votes.cast, "wish", "wishes")) had no answer at the end.",
            endsAway
                ? "The drive ended without a link or was cut off: they are kept, and sent at the next meeting."
                : "The host was in reach: if they are not answered soon, please report it with this drive.")
    }

    private mutating func gaps(_ figures: DriveFigures) {
        guard figures.hadLink else {
            return find(
                .none, "There was no link in this drive.",
                "A guest and a host have to be in reach of one another, and of one service; roadmesh doctor on both boxes "
                    + "says what keeps them apart.")
        }
        guard !figures.gaps.isEmpty else { return find(.good, "No link was lost.") }
        let longest = figures.longestGap.map { Words.time($0) } ?? "?"
        let short = figures.gaps.count { ($0.length ?? .infinity) < Self.shortGap }
        find(
            short > 3 && short * 2 > figures.gaps.count ? .fair : .good,
            "The link was gone \(figures.gaps.count == 1 ? "once" : "\(figures.gaps.count) times"), for \(Words.time(figures.away)) in all "
                + "(\(Words.share(figures.away, of: figures.seconds)) of the drive); the longest time was \(longest).",
            short > 3 && short * 2 > figures.gaps.count
                ? "Most gaps are shorter than \(Words.time(Self.shortGap)): that is no tunnel but a signal at its limit. "
                    + "Move the dongle into the open, away from metal and other plugs." : nil)
    }

    private mutating func reconnects(_ figures: DriveFigures) {
        let times = figures.reconnects
        guard let median = times.median, let worst = times.last else { return }
        let grade: Grade = worst > Self.reconnectPoor ? .poor : worst > Self.reconnectFair ? .fair : .good
        find(
            median > Self.reconnectPoor ? .poor : grade == .good ? .good : .fair,
            "In reach again, everything was as before within \(Words.time(median)) (half of the times), "
                + "\(Words.time(worst)) at worst.",
            grade == .good
                ? nil
                : "Shorter connection intervals and advertising with bluetoothd's -E bring a guest back sooner; "
                    + "docs/using.md, \"Back sooner\".")
    }

    private mutating func signal(_ figures: DriveFigures) {
        let signal = figures.signal
        guard let median = signal.median, let low = signal.quantile(0.05) else { return }
        let weak = Double(signal.count { $0 < Self.weakSignal }) / Double(signal.count)
        find(
            weak > Self.weakPoor ? .poor : weak > Self.weakFair ? .fair : .good,
            "The signal was \(median) dBm half of the time, and weaker than \(low) dBm one time in twenty.",
            weak > Self.weakFair
                ? "It was weak (below \(Self.weakSignal) dBm) for \(Words.share(weak, of: 1)) of the time: another seat for the "
                    + "dongle, or an extension cable, helps more than anything else." : nil)
    }

    private mutating func roundTrips(_ figures: DriveFigures) {
        let trips = figures.roundTrips
        guard let median = trips.median, let slow = trips.quantile(0.95) else { return }
        find(
            slow > Self.roundTripPoor ? .poor : slow > Self.roundTripFair ? .fair : .good,
            "A round trip took \(Words.time(median / 1_000)); one in twenty took \(Words.time(slow / 1_000)) or more.",
            slow > Self.roundTripFair
                ? "Packets were sent again and again: the signal is weak, or the air is full." : nil)
    }

    private mutating func completeness(_ drive: Drive, _ figures: DriveFigures) {
        if drive.ending == .cutOff {
            find(
                .none,
                "The recording was cut off at \(Words.clock(figures.seconds)): the power went, or the program died.")
        }
        if figures.missing > 0 {
            find(
                .fair, "\(Words.count(figures.missing, "row")) of the recording are missing.",
                "The disk took nothing for a while; make room on it.")
        }
    }
}
