// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore

/// The plots of a drive.
struct Plots {
    let metrics: DriveMetrics
    /// The largest value of a bar in the distribution. Drives next to each other have the same scale.
    let mostReconnects: Int

    // MARK: Signal over time

    /// The plotted range of signal strength, in dBm.
    private static let strongest = -30.0, weakest = -100.0

    var signal: String {
        let rows = Plot.rows(of: metrics.marks, in: metrics.seconds)
        let top = 12.0 + Double((rows.compactMap(\.self).max() ?? -1) + 1) * 17
        var plot = Plot(seconds: metrics.seconds, height: 178 + top, top: top)
        shadeGaps(&plot)
        for strength in stride(from: -40, through: -100, by: -20) {
            plot.rule(y(Double(strength), plot), strength == -40 ? "-40 dBm" : "\(strength)")
        }
        for (number, peer) in linkedPeers.enumerated() {
            plot.line(line(of: peer, plot), class: "line \(Style.line(number))")
        }
        plot.marks(metrics.marks, rows: rows)
        plot.times()
        let note = metrics.signal.isEmpty ? "<p class=\"note\">This radio does not report signal strength.</p>" : ""
        return plot.svg("Signal strength over time, with gaps shaded") + legend + note
    }

    private func y(_ strength: Double, _ plot: Plot) -> Double {
        let clamped = min(max(strength, Self.weakest), Self.strongest)
        return plot.top + (Self.strongest - clamped) / (Self.strongest - Self.weakest) * (plot.bottom - plot.top)
    }

    /// Peers with a signal, the one with most data first, as many as can be distinguished.
    private var linkedPeers: [Peer.ID] {
        var counts: [Peer.ID: Int] = [:]
        for sample in metrics.samples + metrics.carriers where sample.rssi != nil {
            counts[sample.peer, default: 0] += 1
        }
        let all = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        return Array(all.prefix(FieldTestLimits.plotPeers))
    }

    private func line(of peer: Peer.ID, _ plot: Plot) -> [(x: Double, y: Double)?] {
        let samples = (metrics.samples + metrics.carriers).filter { $0.peer == peer && $0.rssi != nil }
        // A screen cannot show more points than its pixels. Each point shows the weakest of several samples.
        let share = max(1, (samples.count + FieldTestLimits.plotPoints - 1) / FieldTestLimits.plotPoints)
        let gaps = metrics.gaps.filter { Identity.head(of: $0.peer) == Identity.head(of: peer) }
        var points: [(x: Double, y: Double)?] = []
        var last = 0.0
        var gap = gaps[...]
        for start in stride(from: 0, to: samples.count, by: share) {
            let some = samples[start..<min(start + share, samples.count)]
            guard let sample = some.min(by: { ($0.rssi ?? 0) < ($1.rssi ?? 0) }) else { continue }
            while let next = gap.first, next.start < sample.at {
                if next.start >= last { points.append(nil) }
                gap.removeFirst()
            }
            points.append((plot.x(sample.at), y(Double(sample.rssi ?? 0), plot)))
            last = sample.at
        }
        return points
    }

    private func shadeGaps(_ plot: inout Plot) {
        for gap in metrics.gaps {
            let end = gap.end ?? metrics.seconds
            plot.shade(gap.start, end, "Gap at \(Format.clock(gap.start)), \(Format.time(end - gap.start))")
        }
    }

    private var legend: String {
        let peers = linkedPeers
        guard peers.count > 1 else { return "" }
        let entries = peers.enumerated().map { number, peer in
            "<li><span class=\"key \(Style.line(number))\"></span>"
                + "\(HTML.escaped(metrics.names[peer] ?? Identity.head(of: peer)))</li>"
        }
        return "<ul class=\"legend\">\(entries.joined())</ul>"
    }

    // MARK: Votes delivered and cast

    var deliveries: String {
        let votes = metrics.deliveries
        guard votes.cast + votes.received > 0 else { return "<p class=\"note\">No votes were cast.</p>" }
        var plot = Plot(seconds: metrics.seconds, height: 170, top: 20)
        shadeGaps(&plot)
        let most = Double(max(votes.cast, votes.delivered + votes.received, 1))
        func y(_ count: Int) -> Double { plot.bottom - Double(count) / most * (plot.bottom - plot.top) }
        plot.rule(y(0), "0")
        plot.rule(y(Int(most)), "\(Int(most))")
        if votes.cast > 0 { plot.line(steps(\.cast, plot, y), class: "line cast") }
        plot.line(steps(\.delivered, plot, y), class: "line delivered")
        plot.times()
        let cast = votes.cast > 0 ? "<li><span class=\"key cast\"></span>cast</li>" : ""
        return plot.svg("Votes delivered against votes cast")
            + "<ul class=\"legend\">\(cast)<li><span class=\"key delivered\"></span>"
            + "\(votes.cast > 0 ? "answered" : "accepted by the host")</li></ul>"
    }

    private func steps(
        _ count: KeyPath<Deliveries.Step, Int>, _ plot: Plot, _ y: (Int) -> Double
    ) -> [(x: Double, y: Double)?] {
        var points: [(x: Double, y: Double)?] = [(0, y(0))]
        var last = 0
        for step in metrics.deliveries.steps where step[keyPath: count] != last {
            points.append((plot.x(step.at), y(last)))
            last = step[keyPath: count]
            points.append((plot.x(step.at), y(last)))
        }
        points.append((100, y(last)))
        return points
    }

    // MARK: Reconnects

    /// Upper limits of the distribution's bars, in seconds.
    static let bounds: [Double] = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30]

    static func counts(_ times: [Double]) -> [Int] {
        var counts = [Int](repeating: 0, count: bounds.count + 1)
        for time in times { counts[bounds.firstIndex { time < $0 } ?? bounds.count] += 1 }
        return counts
    }

    var reconnects: String {
        guard !metrics.reconnects.isEmpty else { return "<p class=\"note\">There was no reconnect to measure.</p>" }
        return Self.distribution(metrics.reconnects, most: mostReconnects) + phases
    }

    /// The distribution of reconnect times. `most` is the largest value of a bar.
    static func distribution(_ times: [Double], most: Int) -> String {
        let counts = counts(times)
        let last = counts.lastIndex { $0 > 0 } ?? 0
        let rows = (0...max(last, 3)).map { index in
            let word =
                index == 0
                ? "below \(Format.time(bounds[0]))"
                : index == bounds.count
                    ? "over \(Format.time(bounds[index - 1]))" : "to \(Format.time(bounds[index]))"
            return (word, Double(counts[index]) / Double(max(most, 1)), "\(counts[index])")
        }
        return bars(rows, "How long reconnects took")
    }

    /// The steps of a reconnect, each with its median.
    private var phases: String {
        func median(_ from: KeyPath<Gap, Double?>, _ to: KeyPath<Gap, Double?>) -> Double? {
            metrics.gaps.compactMap { gap in
                guard let start = gap[keyPath: from], let end = gap[keyPath: to], end >= start else { return nil }
                return end - start
            }.sorted().median
        }
        let steps: [(String, Double?)] = [
            ("heard to dialled", median(\.heard, \.dialled)), ("to resumed", median(\.dialled, \.resumed)),
            ("to current", median(\.resumed, \.current)),
        ]
        let known = steps.compactMap { word, time in time.map { (word, $0) } }
        guard let longest = known.map(\.1).max(), longest > 0 else { return "" }
        return "<h4>Where the time goes</h4>"
            + Self.bars(
                known.map { ($0, $1 / longest, Format.time($1)) }, "The steps of a reconnect, each by its median")
    }

    // MARK: Relays

    /// Linked time by number of relays and by relay; empty without relays.
    func hops(_ role: NodeDescription.Role) -> String {
        guard metrics.hops.hasRelays else { return "" }
        let ways = metrics.hops.byHops
        let relays = metrics.hops.byRelay.prefix(FieldTestLimits.plotPeers)
        let longest = (ways.map(\.seconds) + relays.map(\.seconds) + [1e-9]).max() ?? 1
        func row(_ word: String, _ seconds: Double) -> (String, Double, String) {
            (word, seconds / longest, Format.time(seconds))
        }
        return "<h3>Over how many relays</h3>"
            + Self.bars(
                ways.map { row(Format.way($0.hops), $0.seconds) }, "For how long it was linked over how many relays")
            + (role == .guest ? hopsOverTime : "") + "<h4>Joined through</h4>"
            + Self.bars(
                relays.map { row(metrics.name(ofRelay: $0.relay), $0.seconds) },
                "For how long it was joined through which relay") + "\n"
    }

    /// A guest has one route at a time.
    private var hopsOverTime: String {
        let stretches = metrics.hops.stretches
        let most = stretches.map(\.hops).max() ?? 1
        var plot = Plot(seconds: metrics.seconds, height: 120, top: 20)
        func y(_ hops: Int) -> Double { plot.bottom - Double(hops) / Double(most) * (plot.bottom - plot.top) }
        shadeGaps(&plot)
        plot.rule(y(0), "0")
        plot.rule(y(most), Format.count(most, "hop"))
        // More points than a screen shows would overlap.
        var points: [(x: Double, y: Double)?] = []
        for stretch in stretches.suffix(FieldTestLimits.plotPoints) {
            points += [(plot.x(stretch.start), y(stretch.hops)), (plot.x(stretch.end), y(stretch.hops)), nil]
        }
        plot.line(points, class: "line delivered")
        plot.times()
        return plot.svg("Relays on the route over time, with gaps shaded")
    }

    private static func bars(_ rows: [(word: String, share: Double, value: String)], _ title: String) -> String {
        let height = Double(rows.count) * 22 + 4
        var plot = Plot(seconds: 1, height: height)
        for (index, row) in rows.enumerated() {
            let y = Double(index) * 22
            let width = min(max(row.share, 0), 1) * 46
            plot.label(row.word, x: 0, y: y + 15, anchor: "start")
            plot.add(
                "<rect class=\"bar\" x=\"38%\" y=\"\(Format.number(y + 3, digits: 0))\" "
                    + "width=\"\(Format.number(width, digits: 2))%\" height=\"15\" rx=\"2\"/>")
            plot.label(row.value, x: 39 + width, y: y + 15, anchor: "start")
        }
        return plot.svg(title)
    }
}
