// SPDX-License-Identifier: Apache-2.0

import FieldTest

/// The figures of the pings to one node on the route.
struct HopFigures: Hashable, Sendable {
    private(set) var sent = 0
    private(set) var answered = 0
    private(set) var least: Duration?
    private(set) var most: Duration?
    private var sum: Duration = .zero
    private var last: Duration?
    private var changes: Duration = .zero
    /// The last round trips, the newest last. Nil for a ping that was not answered.
    private(set) var recent: [Duration?] = []

    /// Adds a ping, and its round trip if it was answered.
    mutating func add(_ roundTrip: Duration?) {
        sent += 1
        recent = Array((recent + [roundTrip]).suffix(PingLimits.shownPings))
        guard let roundTrip else { return }
        answered += 1
        sum += roundTrip
        least = min(least ?? roundTrip, roundTrip)
        most = max(most ?? roundTrip, roundTrip)
        if let last { changes += roundTrip > last ? roundTrip - last : last - roundTrip }
        last = roundTrip
    }

    /// The part that was not answered, from 0 to 1.
    var loss: Double { sent == 0 ? 0 : Double(sent - answered) / Double(sent) }

    /// The mean round trip.
    var mean: Duration? { answered == 0 ? nil : sum / answered }

    /// The mean difference between a round trip and the one before it. Nil with fewer than two.
    var jitter: Duration? { answered < 2 ? nil : changes / (answered - 1) }

    /// The last round trips as a line of bars, with a cross for each that was not answered.
    var sparkline: String {
        let times = recent.compactMap(\.self)
        guard let least = times.min(), let most = times.max() else {
            return String(repeating: "×", count: recent.count)
        }
        let bars = Array("▁▂▃▄▅▆▇█")
        return String(
            recent.map { time -> Character in
                guard let time else { return "×" }
                guard most > least else { return bars[0] }
                return bars[Int(((time - least) / (most - least) * Double(bars.count - 1)).rounded())]
            })
    }
}

/// The figures of all hops on the route, and the names of the nodes at their ends.
struct PathFigures: Hashable, Sendable {
    private(set) var hops: [HopFigures] = []
    private(set) var names: [String] = []

    /// The route has this number of links. A longer route gets figures for its additional nodes.
    mutating func follow(hops count: Int, relay: String?, host: String) {
        while hops.count < count { hops.append(HopFigures()) }
        hops.removeLast(hops.count - count)
        names = (1...count).map { $0 == count ? host : $0 == 1 ? relay ?? "relay 1" : "relay \($0)" }
    }

    /// Adds the round trip to the end of the first `hop` links.
    mutating func add(_ roundTrip: Duration?, hop: Int) {
        guard hops.indices.contains(hop - 1) else { return }
        hops[hop - 1].add(roundTrip)
    }

    /// Whether the host has answered at least once.
    var isAnswered: Bool { hops.last.map { $0.answered > 0 } ?? false }

    /// A line for each hop with its figures.
    func lines(rssi: Int?, isLive: Bool) -> [String] {
        let width = names.map(\.count).max() ?? 0
        return zip(hops, names).enumerated().map { index, hop in
            let (figures, name) = hop
            var parts = ["\(index + 1)  \(name)\(String(repeating: " ", count: width - name.count))"]
            if isLive {
                parts.append(figures.recent.last.flatMap(\.self).map(Self.text) ?? "no answer")
                parts.append(figures.sparkline)
            } else {
                parts.append("\(figures.answered) of \(figures.sent) answered")
            }
            parts.append("\(Self.percent(figures.loss)) lost")
            if !isLive, let least = figures.least, let mean = figures.mean, let most = figures.most {
                parts.append("\(Self.number(least))/\(Self.number(mean))/\(Self.text(most))")
            }
            if let jitter = figures.jitter { parts.append("jitter \(Self.text(jitter))") }
            if index == 0, let rssi { parts.append("\(rssi) dBm") }
            return parts.joined(separator: "  ")
        }
    }

    static func text(_ time: Duration) -> String { "\(number(time)) ms" }

    private static func number(_ time: Duration) -> String { Format.number(time / .milliseconds(1), digits: 1) }

    private static func percent(_ part: Double) -> String {
        let percent = part * 100
        return "\(Format.number(percent, digits: percent == percent.rounded() ? 0 : 1)) %"
    }
}
