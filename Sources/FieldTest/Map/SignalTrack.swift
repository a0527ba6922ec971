// SPDX-License-Identifier: Apache-2.0

import NodeCore

/// Classes of signal strength on a map.
enum SignalClass: Int, CaseIterable {
    /// There was no link, or its radio does not measure the signal.
    case unknown
    case strong, good, fair, weak, faint

    init(_ dBm: Int?) {
        self =
            switch dBm {
            case nil: .unknown
            case .some((-60)...): .strong
            case .some((-70)...): .good
            case .some((-80)...): .fair
            // The limit of a weak signal in a verdict.
            case .some(Verdict.weakSignal...): .weak
            default: .faint
            }
    }

    /// The text of the class in a legend.
    var words: String {
        switch self {
        case .unknown: "not known"
        case .strong: "-60 dBm or more"
        case .good: "to -70 dBm"
        case .fair: "to -80 dBm"
        case .weak: "to \(Verdict.weakSignal) dBm"
        case .faint: "less"
        }
    }
}

/// A track in pieces of the same signal, without the gaps.
struct SignalTrack {
    /// A part of the track with one class of signal, at least two points.
    struct Piece {
        var signal: SignalClass
        var points: [Track.Point]
    }

    private(set) var pieces: [Piece] = []
    /// Measurements with a signal strength, by their times.
    private let samples: [DriveMetrics.Sample]

    init(_ metrics: DriveMetrics) {
        samples = (metrics.samples + metrics.carriers).filter { $0.rssi != nil }.sorted { $0.at < $1.at }
        for (start, end) in Self.between(metrics.gaps.spans(metrics.seconds), metrics.seconds) {
            let inside = metrics.track.points.filter { $0.at > start && $0.at < end }
            // A drive may have positions without any at its start or its end.
            let edges = [start, end].map { at in
                metrics.track.position(at: at).map { Track.Point(at: at, position: $0) }
            }
            let points = [edges[0]].compactMap(\.self) + inside + [edges[1]].compactMap(\.self)
            add(points)
        }
    }

    /// The median signal strength on a piece in dBm. Nil if its signal is unknown.
    func median(of piece: Piece) -> Int? {
        guard piece.signal != .unknown, let first = piece.points.first, let last = piece.points.last else { return nil }
        return samples.filter { $0.at >= first.at && $0.at <= last.at }.compactMap(\.rssi).sorted().median
    }

    private mutating func add(_ points: [Track.Point]) {
        var last: SignalClass?
        var next = 0
        for (one, other) in zip(points, points.dropFirst()) {
            let time = (one.at + other.at) / 2
            while next < samples.count, samples[next].at <= time { next += 1 }
            let signal = SignalClass(strength(before: next, at: time))
            if signal != last { pieces.append(Piece(signal: signal, points: [one])) }
            pieces[pieces.count - 1].points.append(other)
            last = signal
        }
    }

    /// The signal at a time: the latest measurement, or the next one, unless both are old.
    private func strength(before index: Int, at time: Double) -> Int? {
        let age = FieldTestLimits.signalAge / .seconds(1)
        let near = [index - 1, index].filter { samples.indices.contains($0) }.map { samples[$0] }
        return near.min { abs($0.at - time) < abs($1.at - time) }.flatMap { abs($0.at - time) <= age ? $0.rssi : nil }
    }

    private static func between(_ gaps: [(start: Double, end: Double)], _ seconds: Double) -> [(Double, Double)] {
        let starts = [0] + gaps.map(\.end)
        let ends = gaps.map(\.start) + [seconds]
        return zip(starts, ends).filter { $0 < $1 }
    }
}
