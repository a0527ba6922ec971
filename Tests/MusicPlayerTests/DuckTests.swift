// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import MeshProtocol
import TestSupport
import Testing

@testable import MusicPlayer

@Suite("A player that is ducked")
struct DuckTests {
    private func playing(volume: Int = 100) -> PlayerStory {
        var story = PlayerStory()
        #expect(story.want("a", volume: volume) == ["launch", "volume \(volume)", "load /a at 0.0"])
        _ = story.begin(1)
        _ = story.place(0)
        return story
    }

    /// The steps from now on, until no step is due any more.
    private func steps(_ story: inout PlayerStory, from start: Double) -> [String] {
        var said: [String] = []
        for step in 1...20 { said += story.tick(start + 0.021 * Double(step)).filter { !$0.hasPrefix("a is at") } }
        return said
    }

    @Test("a duck and its end are fades of 0.3 s in steps of 20 ms, and each ends exactly at its volume")
    func fade() {
        var story = playing()
        story.at(1)
        #expect(story.want("a", at: 1, volume: 100, ducked: 20) == [])
        let down = steps(&story, from: 1)
        let levels = down.compactMap { Double($0.dropFirst("level ".count)) }
        #expect(down.count == 15 && levels.count == 15 && levels == levels.sorted(by: >))
        #expect(levels.last == 46.4, "a gain of the third power: 20 dB less")
        #expect(zip([100] + levels, levels).allSatisfy { $0 - $1 < 4 })
        #expect(story.want("a", at: 1.4, volume: 100, ducked: 20) == [])
        #expect(story.want("a", at: 1.4, volume: 100) == [])
        let back = steps(&story, from: 1.4)
        #expect(back.last == "volume 100" && back.count == 15)
    }

    @Test("a fade that is reversed goes on from where it is")
    func reversed() {
        var story = playing()
        story.at(1)
        _ = story.want("a", at: 1, volume: 100, ducked: 60)
        #expect(story.tick(1.15) == ["level 55.0"])
        _ = story.want("a", at: 1.15, volume: 100)
        #expect(story.tick(1.17) == ["level 58.0"])
        #expect(steps(&story, from: 1.17).last == "volume 100")
    }

    @Test("a volume that the driver sets counts at once, and stays ducked")
    func volume() {
        var story = playing()
        story.at(1)
        _ = story.want("a", at: 1, volume: 100, ducked: 20)
        #expect(story.tick(1.1).count == 1)
        #expect(story.want("a", at: 1.1, volume: 50, ducked: 20) == ["level 26.9"])
        #expect(steps(&story, from: 1.1) == [], "the fade is over")
    }

    @Test("a paused song and an mpv that was started again have the ducked volume at once")
    func atOnce() {
        var story = playing(volume: 50)
        story.at(1)
        #expect(story.want("a", plays: false, at: 1, volume: 50) == ["pause"])
        #expect(story.want("a", plays: false, at: 1, volume: 50, ducked: 20) == ["level 26.9"])
        let again = story.die()
        #expect(again.prefix(2) == ["launch", "level 26.9"])
    }

    @Test("mpv plays 20 dB lower, without a jump, and as loud as before afterwards")
    func heard() async throws {
        let heard = newFolder()
        defer { unlink(heard) }
        let output = ["--ao=pcm", "--ao-pcm-waveheader=no", "--ao-pcm-file=\(heard)"]
        var limits = PlayerLimits()
        (limits.askEvery, limits.reportEvery) = (.milliseconds(20), .zero)
        // Written as fast as the disk takes it, a song would be over at once: this filter makes it last.
        try await PlayerRig.with(output + ["--af=lavfi=[arealtime]"], limits: limits) { rig in
            try rig.folder.write("a", seconds: 3, sample: 20_000)
            await rig.want("a", volume: 100)
            try await rig.place("a", after: .milliseconds(600))
            await rig.want("a", at: .milliseconds(600), volume: 100, ducked: 20)
            try await rig.place("a", after: .milliseconds(1_600))
            await rig.want("a", at: .milliseconds(1_600), volume: 100)
            try await rig.report(.ended("a"))
        }
        let samples = try Data(contentsOf: URL(filePath: heard)).withUnsafeBytes {
            Array($0.bindMemory(to: Int16.self))
        }
        let quiet = samples.filter { abs(Int($0) - 2_000) < 60 }.count
        let loud = samples.filter { $0 >= 19_900 }.count
        let steps = zip(samples, samples.dropFirst()).map { abs(Int($0) - Int($1)) }.max() ?? 0
        print(
            "duck: \(samples.count) samples, \(quiet) of them 20 dB lower, \(loud) loud, the largest step is \(steps)")
        #expect(quiet > 44_100 && loud > 2 * 44_100 / 2)
        #expect(samples.first == 20_000 && samples.last == 20_000)
        #expect(steps < 20_000 / 5, "a jump would be 18000")
    }
}

extension PlayerRig {
    /// Waits until a song is reported at a place or later.
    fileprivate func place(_ song: Song.ID, after place: MeshInstant) async throws {
        try await reports.first { report in
            if case .elapsed(song, let elapsed) = report, elapsed >= place { () } else { nil }
        }
    }
}
