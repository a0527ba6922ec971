// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
@preconcurrency import Dispatch
import Glibc
import MeshProtocol
import Synchronization
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
        // mpv's gain is the third power of its volume.
        let decibels = zip([100] + levels, levels).map { 60 * log10($0 / $1) }
        #expect(decibels.allSatisfy { $0 > 0 && $0 < 1.7 }, "no step is louder than the others: \(decibels)")
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
        #expect(story.tick(1.15) == ["level 31.6"])
        _ = story.want("a", at: 1.15, volume: 100)
        #expect(story.tick(1.17) == ["level 34.1"])
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

    @Test("mpv plays 20 dB lower, and as loud as before afterwards")
    func heard() async throws {
        let pipe = newFolder()
        defer { unlink(pipe) }
        let loudspeaker = try #require(Loudspeaker(pipe))
        // A sound card of ALSA that writes to a file, with periods as short as those of a real one.
        let output = ["--ao=alsa", "--audio-device=alsa/file:FILE=\(pipe),FORMAT=raw", "--alsa-buffer-time=20000"]
        var limits = PlayerLimits()
        (limits.askEvery, limits.reportEvery) = (.milliseconds(20), .zero)
        try await PlayerRig.with(output, limits: limits) { rig in
            try rig.folder.write("a", seconds: 4, sample: 20_000)
            await rig.want("a", volume: 100)
            try await rig.place("a", after: .milliseconds(600))
            await rig.want("a", at: .milliseconds(600), volume: 100, ducked: 20)
            try await rig.place("a", after: .milliseconds(1_900))
            await rig.want("a", at: .milliseconds(1_900), volume: 100)
            try await rig.report(.ended("a"))
        }
        let samples = loudspeaker.samples
        let quiet = samples.count { abs(Int($0) - 2_000) < 60 }
        let loud = samples.count { $0 >= 19_900 }
        #expect(quiet > 44_100 && loud > 2 * 44_100)
        #expect(samples.first == 20_000 && samples.last == 20_000)
    }
}

/// Takes sound from a pipe as fast as a loudspeaker: 44,100 samples a second on two channels.
private final class Loudspeaker: Sendable {
    private struct Heard {
        var bytes: [UInt8] = []
        var start: ContinuousClock.Instant?
    }

    private let heard = Mutex(Heard())
    private let timer: any DispatchSourceTimer
    private let descriptor: Int32

    /// Makes the pipe. Nil if the system does not.
    init?(_ path: String) {
        guard mkfifo(path, 0o600) == 0 else { return nil }
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "loudspeaker"))
        timer.schedule(deadline: .now(), repeating: .milliseconds(5))
        timer.setEventHandler { [weak self] in self?.take() }
        timer.activate()
    }

    deinit {
        timer.cancel()
        close(descriptor)
    }

    /// All that was heard, with what is still in the pipe.
    var samples: [Int16] {
        heard.withLock { heard in
            read(&heard, upTo: .max)
            return heard.bytes.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        }
    }

    private func take() {
        heard.withLock { heard in
            let now = ContinuousClock.now
            let start = heard.start ?? now
            read(&heard, upTo: Int((now - start) / .milliseconds(1) * 176.4) + 3_528)
            if !heard.bytes.isEmpty { heard.start = start }
        }
    }

    private func read(_ heard: inout Heard, upTo limit: Int) {
        var piece = [UInt8](repeating: 0, count: 3_528)
        while heard.bytes.count < limit {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count > 0 else { return }
            heard.bytes += piece.prefix(count)
        }
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
