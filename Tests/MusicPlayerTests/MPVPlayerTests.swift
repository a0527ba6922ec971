// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import MeshProtocol
import TestSupport
import Testing

@testable import MusicPlayer

@Suite("Music with mpv", .serialized, .timeLimit(.minutes(2)))
struct MPVPlayerTests {
    /// Seconds of a song that is to wait while it is paused. mpv's output to a file takes the first 65,536 frames of
    /// it, and from mpv 0.39 on a song that this output has taken completely is over, also while it is paused.
    private static let longerThanBuffer = 3.0

    @Test("a song plays from its start, and its end is reported in time")
    func playsToItsEnd() async throws {
        try await PlayerRig.with { rig in
            try rig.folder.write("a", seconds: 1.5)
            let asked = ContinuousClock.now
            await rig.want("a")
            let begin = try await rig.heard("a")
            // From its start: it has not played for longer than since the request.
            #expect(begin.elapsed <= ContinuousClock.now - asked)
            try await rig.report(.ended("a"))
            let told = ContinuousClock.now
            // mpv reports the end when it has passed on the last data, while up to 0.4 s still wait in the output. The
            // song began between the request and its report, which is late on a busy machine.
            print("song of 1.5 s, over after \((told - asked) / .seconds(1)) s; begin \(begin.elapsed)")
            #expect(told - asked > .seconds(0.9) && told - (begin.at - begin.elapsed) < .seconds(5))
        }
    }

    @Test("no sample is missing or added between two songs")
    func gaplessToTheSample() async throws {
        let heard = newFolder()
        defer { unlink(heard) }
        try await PlayerRig.with(["--ao=pcm", "--ao-pcm-waveheader=no", "--ao-pcm-file=\(heard)"]) { rig in
            try rig.folder.write("a", seconds: Self.longerThanBuffer, sample: 1_000)
            try rig.folder.write("b", seconds: 0.5, sample: 2_000)
            // The output to a file never waits: both songs must be there before it may begin.
            await rig.want("a", next: "b", plays: false)
            try await rig.heard("a")
            await rig.want("a", next: "b")
            try await rig.report(.ended("a"))
            await rig.want("b")
            try await rig.report(.ended("b"))
        }
        let samples = try Data(contentsOf: URL(filePath: heard)).withUnsafeBytes {
            Array($0.bindMemory(to: Int16.self))
        }
        let second = samples.firstIndex(of: 2_000) ?? samples.count
        let frames = Int(Self.longerThanBuffer * 44_100)
        print("gapless: \(second / 2) frames of \(frames) of the first song, \((samples.count - second) / 2) of 22050")
        #expect(samples.count == 2 * (frames + 22_050))
        #expect(samples.prefix(second).allSatisfy { $0 == 1_000 } && second == 2 * frames)
        #expect(samples.suffix(from: second).allSatisfy { $0 == 2_000 })
    }

    @Test("the loudness is the driver's setting", arguments: [100, 50, 10, 1, 0])
    func loudness(percent: Int) async throws {
        let heard = newFolder()
        defer { unlink(heard) }
        try await PlayerRig.with(["--ao=pcm", "--ao-pcm-waveheader=no", "--ao-pcm-file=\(heard)"]) { rig in
            try rig.folder.write("a", seconds: 0.5, sample: 20_000)
            await rig.want("a", volume: percent)
            try await rig.report(.ended("a"))
        }
        let samples = try Data(contentsOf: URL(filePath: heard)).withUnsafeBytes {
            Array($0.bindMemory(to: Int16.self))
        }
        // mpv's gain follows the ear: the third power of its percentage, in 256 steps for 16-bit output.
        let share = PlayerLimits.playersVolume(percent) / 100
        let wanted = 20_000 * share * share * share
        #expect(samples.count == 2 * 22_050)
        #expect(samples.allSatisfy { abs(Double($0) - wanted) <= 20_000 / 512 + 1 })
        #expect(samples.allSatisfy { ($0 == 0) == (percent == 0) }, "what is not 0 is heard")
        print("loudness: \(percent) % is \(samples.first ?? 0) of 20000")
    }

    @Test(
        "each song is as much louder or softer as its gain says, from its first sample to its last",
        arguments: [([-6.0, 3.5], [5_012, 14_962] as [Float]), ([3.5, 0], [14_962, 10_000])])
    func gain(gains: [Double], wanted: [Float]) async throws {
        let heard = newFolder()
        defer { unlink(heard) }
        let output = ["--ao=pcm", "--ao-pcm-waveheader=no", "--ao-pcm-file=\(heard)"]
        try await PlayerRig.with(output, gain: { gains[$0 == "a" ? 0 : 1] }) { rig in
            try rig.folder.write("a", seconds: Self.longerThanBuffer, sample: 10_000)
            try rig.folder.write("b", seconds: 0.5, sample: 10_000)
            // mpv has both songs before the first one plays, so a busy machine makes no gap.
            await rig.want("a", next: "b", plays: false)
            try await rig.heard("a")
            await rig.want("a", next: "b")
            try await rig.report(.ended("a"))
            await rig.want("b")
            try await rig.report(.ended("b"))
        }
        // The filter of the first song outputs floats, and mpv keeps this format.
        let samples = try Data(contentsOf: URL(filePath: heard)).withUnsafeBytes {
            Array($0.bindMemory(to: Float.self))
        }
        let first = 2 * Int(Self.longerThanBuffer * 44_100)
        try #require(samples.count == first + 2 * 22_050)
        for (song, wanted) in zip([samples.prefix(first), samples.suffix(from: first)], wanted) {
            let song = song.map { $0 * 32_768 }
            #expect(song.allSatisfy { abs($0 - wanted) < 20 }, "\(song.min() ?? 0) to \(song.max() ?? 0)")
        }
    }

    @Test("the second song begins when the first one ends, by mpv's own account of where it is")
    func gaplessInTime() async throws {
        var limits = PlayerLimits()
        (limits.reportEvery, limits.askEvery) = (.zero, .milliseconds(100))
        try await PlayerRig.with(limits: limits) { rig in
            let songs = ["a", "b", "c", "d", "e"]
            for song in songs { try rig.folder.write(song, seconds: 1) }
            var beginnings: [ContinuousClock.Instant?] = []
            for (index, song) in songs.enumerated() {
                await rig.want(song, next: songs.dropFirst(index + 1).first)
                beginnings.append(Self.beginning(try await rig.accounts(of: song)))
            }
            let gaps = zip(beginnings, beginnings.dropFirst()).compactMap { began, begins in
                began.flatMap { began in begins.map { $0 - began - .seconds(1) } }
            }
            print("gaps between songs: \(gaps.map { $0 / .milliseconds(1) }) ms")
            // A machine without time for mpv causes gaps itself: most of them may be late, but not all.
            #expect(gaps.count < 2 || gaps.contains { $0 > .milliseconds(-100) && $0 < .milliseconds(100) })
        }
    }

    /// The time at which a song began. Nil if the reports are too few or do not agree, since the machine is too busy.
    private static func beginning(
        _ accounts: [(elapsed: MeshInstant, at: ContinuousClock.Instant)]
    ) -> ContinuousClock.Instant? {
        // mpv's reports vary by some hundredths of a second, so the median is best.
        let told = accounts.filter { $0.elapsed > .milliseconds(200) }.map { $0.at - $0.elapsed }.sorted()
        guard told.count >= 3, told[told.count - 1] - told[0] < .milliseconds(100) else { return nil }
        return told[told.count / 2]
    }

    @Test("a pause holds the song at its position")
    func pauses() async throws {
        try await PlayerRig.with { rig in
            try rig.folder.write("a", seconds: 30)
            await rig.want("a", at: .seconds(3))
            let begin = try await rig.heard("a")
            #expect(begin.elapsed > .seconds(2.9) && begin.elapsed < .seconds(3.5))
            await rig.want("a", plays: false, at: .seconds(3.1))
            // The host's position is far off. It gets the song's position, which does not move.
            await rig.want("a", plays: false, at: .seconds(20))
            let first = try await rig.heard("a")
            #expect(first.elapsed < .seconds(5))
        }
    }

    @Test("a skip takes effect at once, and the old song reports nothing more")
    func skips() async throws {
        try await PlayerRig.with { rig in
            try rig.folder.write("a", seconds: 20)
            try rig.folder.write("b", seconds: 20)
            let start = ContinuousClock.now
            await rig.want("a", next: "b")
            try await rig.heard("a")
            let began = ContinuousClock.now
            await rig.want("b")
            try await rig.reports.first { (report: PlayerReport) -> Void? in
                #expect(report != .ended("a") && report != .failed("a"))
                if case .elapsed("b", _) = report { return () }
                return nil
            }
            // A busy machine is late with both.
            #expect(ContinuousClock.now - began < max(.seconds(1), began - start))
            await rig.want("b", at: .seconds(19))
            try await rig.report(.ended("b"))
        }
    }

    @Test("when the queue changes during a song, the former next song is not played")
    func reorders() async throws {
        try await PlayerRig.with { rig in
            for song in ["a", "b", "c"] { try rig.folder.write(song, seconds: 1) }
            await rig.want("a", next: "b")
            try await rig.heard("a")
            await rig.want("a", next: "c")
            try await rig.report(.ended("a"))
            await rig.want("c")
            try await rig.reports.first { (report: PlayerReport) -> Void? in
                if case .elapsed("b", _) = report { Issue.record("b is heard") }
                return report == .ended("c") ? () : nil
            }
        }
    }

    @Test("a broken file and a missing one are skipped, and the next song plays")
    func passesOverBrokenFiles() async throws {
        try await PlayerRig.with { rig in
            try rig.folder.writeBroken("broken")
            try rig.folder.write("good", seconds: 1)
            await rig.want("broken", next: "nowhere")
            try await rig.report(.failed("broken"))
            await rig.want("nowhere", next: "good")
            try await rig.report(.failed("nowhere"))
            await rig.want("good")
            try await rig.report(.ended("good"))
        }
    }

    @Test("after twenty broken files in a row, with one notice, the next song plays")
    func passesOverMany() async throws {
        var limits = PlayerLimits()
        (limits.firstFailurePause, limits.longestFailurePause) = (.milliseconds(10), .milliseconds(50))
        try await PlayerRig.with(limits: limits) { rig in
            try rig.folder.write("good", seconds: 20)
            let broken = (0..<20).map { "broken\($0)" }
            for song in broken { try rig.folder.writeBroken(song) }
            let songs = broken + ["good"]
            for (song, next) in zip(songs, songs.dropFirst()) {
                await rig.want(song, next: next)
                try await rig.report(.failed(song))
            }
            await rig.want("good")
            try await rig.heard("good")
            var told: [PlayerProblem?] = []
            _ = try await rig.problems.first { (problem: PlayerProblem?) -> Void? in
                told.append(problem)
                return problem == nil ? () : nil
            }
            // A person who looks late sees the state at that time.
            #expect(told == [.songsFail, nil] || told == [nil])
        }
    }

    @Test("a playlist or a list for FFmpeg is not music, whatever its name")
    func playsNoLists() async throws {
        try await PlayerRig.with { rig in
            try rig.folder.write("good", seconds: 20)
            let lists = [
                "m3u": "#EXTM3U\n\(rig.folder.file("good"))\n",
                "hls": "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n\(rig.folder.file("good"))\n",
                "concat": "ffconcat version 1.0\nfile '\(rig.folder.file("good"))'\n",
                "edl": "# mpv EDL v0\n\(rig.folder.file("good"))\n",
                "cue": "FILE \"\(rig.folder.file("good"))\" WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00\n",
            ]
            for (song, text) in lists.sorted(by: { $0.key < $1.key }) {
                try Data(text.utf8).write(to: URL(filePath: rig.folder.file(song)))
                await rig.want(song)
                try await rig.reports.first { (report: PlayerReport) -> Void? in
                    if case .elapsed = report { Issue.record("\(song) is played") }
                    return report == .failed(song) ? () : nil
                }
            }
        }
    }
}
