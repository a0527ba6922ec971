// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import TerminalUI

/// Where the demo tells its story: a line for each thing that happens, with the time since the start.
struct DemoStage {
    private let start = ContinuousClock.now
    /// What a pause between two scenes is, so that a person can read along.
    private let reading: Duration = .milliseconds(1_200)

    private var elapsed: String {
        let tenths = Int((ContinuousClock.now - start) / .milliseconds(100))
        let text = "\(tenths / 10).\(tenths % 10) s"
        return String(repeating: " ", count: max(7 - text.count, 0)) + text
    }

    /// A heading between two scenes.
    func scene(_ title: String) {
        StandardOutput.write("\n\(title)")
    }

    /// Something that happens to somebody.
    func tell(_ who: String, _ what: String) {
        let name = who + String(repeating: " ", count: max(10 - who.count, 1))
        StandardOutput.write("\(elapsed)  \(name)\(what)")
    }

    /// Time to read.
    func pause() async throws {
        try await Task.sleep(for: reading)
    }

    /// The queue as everybody sees it.
    func show(_ event: DemoEvent) {
        StandardOutput.write("           now playing  \(event.nowPlaying?.title ?? "nothing")")
        for (index, item) in (event.queue ?? []).enumerated().prefix(4) {
            let votes = String(repeating: "♥", count: item.votes)
            let gap = String(repeating: " ", count: item.votes == 0 ? 0 : max(20 - item.song.title.count, 1))
            StandardOutput.write("           \(index == 0 ? "next" : "    ")         \(item.song.title)\(gap)\(votes)")
        }
    }
}
