// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import MusicPlayer

@Suite("A player's reaction to failures of mpv")
struct PlayerTroubleTests {
    private func playing(limits: PlayerLimits = .standard, at place: Double = 0) -> PlayerStory {
        var story = PlayerStory(limits: limits)
        _ = story.want("a", next: "b", at: place)
        _ = story.begin(1)
        _ = story.place(place)
        return story
    }

    @Test("after mpv dies it is started at once at the song's position, and the next song is appended again")
    func dies() {
        var story = playing(at: 30)
        _ = story.tick(1)
        _ = story.place(31)
        story.at(1.4)
        #expect(story.die() == ["launch", "load /a at 31.4", "append /b"])
        _ = story.begin(3)
        #expect(story.place(31.4) == ["a is at 31.4"])
    }

    @Test("an mpv that dies in a pause is started paused")
    func diesInPause() {
        var story = playing(at: 30)
        _ = story.want("a", next: "b", plays: false, at: 30)
        story.at(500)
        #expect(story.die() == ["launch", "pause", "load /a at 30.0", "append /b"])
    }

    @Test("a song that kills mpv twice is skipped")
    func poison() {
        var story = playing()
        story.at(1)
        #expect(story.die().contains("launch"))
        _ = story.begin(3)
        story.at(2)
        #expect(story.die() == ["a has failed"])
        #expect(story.want("b").contains("load /b at 0.0"))
    }

    @Test("a death after five good seconds is not counted")
    func rareDeaths() {
        var story = playing()
        for turn in 1...10 {
            story.at(Double(turn) * 6)
            _ = story.tick(Double(turn) * 6)
            _ = story.place(Double(turn) * 6)
            #expect(story.die().contains("launch"))
            _ = story.begin(turn * 2 + 1)
            _ = story.place(Double(turn) * 6)
        }
    }

    @Test("starts of mpv that fail are repeated less and less often, and a person is notified once")
    func cannotStart() {
        var story = PlayerStory()
        story.hang()
        #expect(story.want("a").first == "launch")
        #expect(story.die(couldStart: false).first == "tell cannotStart(\"signal 9\")")
        var waits: [Double] = []
        for _ in 0..<8 {
            let before = story.now / .seconds(1)
            if let deadline = story.policy.deadline { _ = story.tick(deadline / .seconds(1)) }
            waits.append(story.now / .seconds(1) - before)
            #expect(!story.die(couldStart: false).contains { $0.hasPrefix("tell") })
        }
        #expect(waits.last == 15)
    }

    @Test("an mpv that does not answer is killed after five seconds")
    func hangs() {
        var story = playing(at: 30)
        story.hang()
        #expect(story.tick(1) == [])
        #expect(story.tick(5.9) == [])
        #expect(story.tick(6) == ["kill"])
        #expect(story.die().prefix(2) == ["launch", "load /a at 31.0"])
    }

    @Test("an mpv that answers, but makes no progress, is killed after ten seconds")
    func stalls() {
        var story = playing(at: 30)
        for second in 1...9 {
            #expect(story.tick(Double(second)) == [])
            _ = story.place(30)
        }
        #expect(story.tick(10) == ["kill"])
    }

    @Test("a file that neither begins nor fails is skipped after twenty seconds")
    func neverBegins() {
        var story = PlayerStory()
        _ = story.want("a")
        #expect(story.tick(19.9) == [])
        #expect(story.tick(20) == ["stop", "a has failed"])
    }

    @Test("without an audio output the song waits and is tried again, and a notice stays until it plays")
    func noSound() {
        var story = playing(at: 30)
        #expect(story.end(1, .noSound) == ["stop", "a waits at 30.0", "tell noSound"])
        #expect(story.tick(0.5).prefix(1) == ["load /a at 30.0"])
        _ = story.begin(3)
        #expect(story.noPlace() == [])
        #expect(story.end(3, .noSound) == ["stop", "a waits at 30.0"])
        #expect(story.tick(1.4) == [])
        #expect(story.tick(1.5).prefix(1) == ["load /a at 30.0"])
        _ = story.begin(5)
        #expect(story.place(30) == ["cured", "a is at 30.0"])
    }

    @Test(
        "a sound server's dummy does not count as an output, and a new device is tried at once",
        arguments: ["pulse", "pipewire"])
    func dummy(server: String) {
        var story = PlayerStory(driver: server)
        _ = story.want("a")
        _ = story.devices("auto", "\(server)/auto_null")
        #expect(story.begin(1) == ["stop", "a waits at 0.0", "tell noSound"])
        #expect(story.place(0.1) == [], "a song without sound has no position")
        story.at(0.2)
        #expect(story.devices("auto", "\(server)/auto_null") == [])
        #expect(story.devices("auto", "\(server)/usb") == ["load /a at 0.0"])
        #expect(story.begin(2) == [])
        #expect(story.place(0) == ["cured", "a is at 0.0"])
        story.at(0.4)
        #expect(story.devices("auto", "\(server)/auto_null").contains("tell noSound"), "it was unplugged")
    }

    @Test("a dummy of an unused sound server causes no notice")
    func otherServer() {
        var story = PlayerStory(driver: "alsa")
        _ = story.want("a")
        _ = story.devices("auto", "pulse/auto_null", "alsa/hw:0")
        #expect(story.begin(1) == [])
        #expect(story.place(0) == ["a is at 0.0"])
    }

    @Test("too many unanswered questions end mpv")
    func questions() {
        var limits = PlayerLimits()
        limits.waitingRequests = 8
        var story = playing(limits: limits)
        story.hang()
        for turn in 0..<10 { _ = story.want("a", next: "b", plays: turn % 2 == 1) }
        #expect(story.tick(0.1) == ["kill"])
    }

    @Test(
        "time always advances: no deadline is set for work that is done", arguments: 0..<200 as Range<UInt64>
    )
    func storm(seed: UInt64) {
        var random = Numbers(state: seed &+ 1)
        var policy = PlayerPolicy()
        var now: MeshInstant = .zero
        var numbers = 0
        for _ in 0..<300 {
            for action in policy.handle(random.event(numbers), now: now) {
                if case .send(_, let number) = action { numbers = number }
            }
            #expect(policy.requests.count <= policy.limits.waitingRequests + 8)
            #expect(policy.files.count <= 2)
            guard let deadline = policy.deadline, random.next() % 3 == 0 else { continue }
            now = max(now, deadline)
            _ = policy.handle(.tick, now: now)
            // The due work is done, except once: a repeated report comes first.
            _ = policy.handle(.tick, now: now)
            if let next = policy.deadline { #expect(next > now) }
        }
    }
}

/// Pseudorandom numbers that are the same each time (Knuth's generator).
private struct Numbers {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }

    mutating func event(_ lastNumber: Int) -> PlayerPolicy.Event {
        let songs = ["a", "b", "c"]
        let song = songs[Int(next() % 3)]
        let number = max(0, lastNumber - Int(next() % 3)), entry = Int(next() % 12)
        switch next() % 12 {
        case 0, 1:
            return .wanted(
                playback(
                    next() % 8 == 0 ? nil : song, next: songs[Int(next() % 3)], plays: next() % 4 != 0,
                    at: .seconds(Double(next() % 3) * 20)))
        case 2, 3: return .found(song, path: next() % 6 == 0 ? nil : "/\(song)")
        case 4: return .answered(number, .entry(entry))
        case 5: return .answered(number, .place(.seconds(Double(next() % 60))))
        case 6: return .answered(number, next() % 2 == 0 ? .done : .refused("error"))
        case 7: return .said(.began(entry))
        case 8: return .said(.sounding)
        case 9:
            let endings: [MPVEnding] = [.atItsEnd, .failed("x"), .noSound, .stopped]
            return .said(.ended(entry, endings[Int(next() % 4)]))
        case 10: return next() % 5 == 0 ? .died("x", couldStart: next() % 2 == 0) : .tick
        default: return .tick
        }
    }
}
