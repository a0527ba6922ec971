// SPDX-License-Identifier: Apache-2.0

/// Says in words how drives differ from the first of them.
struct Comparison {
    let entries: [Report.Entry]

    init(_ entries: [Report.Entry]) {
        self.entries = entries
    }

    var sentence: String {
        guard let first = entries.first else { return "" }
        return entries.dropFirst().map { sentence($0, first) }.joined(separator: " ")
    }

    private func sentence(_ entry: Report.Entry, _ first: Report.Entry) -> String {
        let differences = [
            reconnects(entry.figures, first.figures), signal(entry.figures, first.figures),
            away(entry.figures, first.figures),
        ].compactMap(\.self)
        let start = "Compared with \"\(first.name)\", \"\(entry.name)\""
        return differences.isEmpty ? "\(start) was much the same." : "\(start) \(differences.joined(separator: ", "))."
    }

    private func reconnects(_ figures: DriveFigures, _ first: DriveFigures) -> String? {
        guard let time = figures.reconnects.median, let before = first.reconnects.median else { return nil }
        // Less than a tenth of a second nobody notices, and what varies by itself is more.
        guard abs(time - before) >= 0.1 else { return "was back as soon" }
        return "was back \(Words.time(abs(time - before))) \(time < before ? "sooner" : "later")"
    }

    private func signal(_ figures: DriveFigures, _ first: DriveFigures) -> String? {
        guard let strength = figures.signal.median, let before = first.signal.median else { return nil }
        guard abs(strength - before) >= 3 else { return "had much the same signal" }
        return "had \(abs(strength - before)) dB \(strength > before ? "more" : "less") signal"
    }

    private func away(_ figures: DriveFigures, _ first: DriveFigures) -> String? {
        guard figures.seconds > 0, first.seconds > 0 else { return nil }
        let share = Words.share(figures.away, of: figures.seconds)
        return "was out of reach for \(share) of the time instead of \(Words.share(first.away, of: first.seconds))"
    }
}
