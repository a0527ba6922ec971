// SPDX-License-Identifier: Apache-2.0

/// Describes in words how drives differ from the first of them.
struct Comparison {
    let entries: [Report.Entry]

    var sentence: String {
        guard let first = entries.first else { return "" }
        return entries.dropFirst().map { sentence($0, first) }.joined(separator: " ")
    }

    private func sentence(_ entry: Report.Entry, _ first: Report.Entry) -> String {
        let differences = [
            reconnects(entry.metrics, first.metrics), signal(entry.metrics, first.metrics),
            away(entry.metrics, first.metrics),
        ].compactMap(\.self)
        let start = "Compared with \"\(first.name)\", \"\(entry.name)\""
        return differences.isEmpty ? "\(start) was much the same." : "\(start) \(Format.list(differences))."
    }

    private func reconnects(_ metrics: DriveMetrics, _ first: DriveMetrics) -> String? {
        guard let time = metrics.reconnects.median, let before = first.reconnects.median else { return nil }
        // People do not notice less than a tenth of a second, and random variation is larger.
        guard abs(time - before) >= 0.1 else { return "was back as soon" }
        return "was back \(Format.time(abs(time - before))) \(time < before ? "sooner" : "later")"
    }

    private func signal(_ metrics: DriveMetrics, _ first: DriveMetrics) -> String? {
        guard let strength = metrics.signal.median, let before = first.signal.median else { return nil }
        guard abs(strength - before) >= 3 else { return "had much the same signal" }
        return "had \(abs(strength - before)) dB \(strength > before ? "more" : "less") signal"
    }

    private func away(_ metrics: DriveMetrics, _ first: DriveMetrics) -> String? {
        guard metrics.seconds > 0, first.seconds > 0 else { return nil }
        let share = Format.share(metrics.awayShare, of: 1)
        let earlier = Format.share(first.awayShare, of: 1)
        guard share != earlier else { return "was out of range for the same share of the time" }
        return "was out of range for \(share) of the time instead of \(earlier)"
    }
}
