// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import TerminalUI

/// Prints the demo's story: a line for each event, with the time since the start.
struct DemoStage {
    private let start = ContinuousClock.now
    /// The pause between two scenes, so that a person can read along.
    private let reading: Duration = .milliseconds(1_200)

    private var elapsed: String {
        let tenths = Int((ContinuousClock.now - start) / .milliseconds(100))
        let text = "\(tenths / 10).\(tenths % 10) s"
        return String(repeating: " ", count: max(7 - text.count, 0)) + text
    }

    /// Prints a heading between two scenes.
    func scene(_ title: String) {
        StandardOutput.write("\n\(title)")
    }

    /// Prints an event of one participant.
    func tell(_ who: String, _ what: String) {
        let name = who + String(repeating: " ", count: max(10 - who.count, 1))
        StandardOutput.write("\(elapsed)  \(name)\(what)")
    }

    /// Waits, so that a person can read.
    func pause() async throws {
        try await Task.sleep(for: reading)
    }

    /// Prints the queue that all participants see.
    func show(_ event: DemoEvent) {
        StandardOutput.write("           now playing  \(event.nowPlaying?.title ?? "nothing")")
        for (index, item) in (event.queue ?? []).enumerated().prefix(4) {
            let votes = String(repeating: "♥", count: item.votes)
            let gap = String(repeating: " ", count: item.votes == 0 ? 0 : max(20 - item.song.title.count, 1))
            StandardOutput.write("           \(index == 0 ? "next" : "    ")         \(item.song.title)\(gap)\(votes)")
        }
    }
}
