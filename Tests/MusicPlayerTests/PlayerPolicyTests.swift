// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import MusicPlayer

@Suite("The decisions of a player")
struct PlayerPolicyTests {
    /// Song a plays, and b is next.
    private func playing(limits: PlayerLimits = .standard, at place: Double = 0) -> PlayerStory {
        var story = PlayerStory(limits: limits)
        #expect(story.want("a", next: "b", at: place) == ["launch", "load /a at \(place)", "append /b"])
        #expect(story.begin(1) == [])
        #expect(story.place(place) == ["a is at \(place)"])
        return story
    }

    @Test("the next song continues without loading if the host wants it")
    func gapless() {
        var story = playing()
        story.at(60)
        #expect(story.end(1) == ["a has ended"])
        #expect(story.begin(2) == [])
        #expect(story.want("b", next: "c") == ["append /c"])
        #expect(story.place(0) == ["b is at 0.0"])
    }

    @Test("a song that plays beyond its length, or ends before it, has another length; this is reported once")
    func wrongLength() {
        var story = playing(at: 58)
        story.at(5)
        #expect(story.tick(5) == [])
        #expect(story.place(62.9) == [])
        _ = story.tick(6)
        #expect(story.place(63.9) == ["a has another length"])
        _ = story.tick(7)
        #expect(story.place(64.9) == [])
        #expect(story.end(1) == ["a has ended"])
        story = playing(at: 56)
        #expect(story.end(1) == ["a has another length", "a has ended"])
        story = playing(at: 58)
        #expect(story.end(1) == ["a has ended"])
    }

    @Test("the host's song plays even if another one was next")
    func reordered() {
        var story = playing()
        #expect(story.want("a", next: "c") == ["drop", "append /c"])
        #expect(story.want("a", next: nil) == ["drop"])
        #expect(story.want("a", next: "b") == ["append /b"])
        story.at(60)
        #expect(story.end(1) == ["a has ended"])
        #expect(story.begin(4) == [])
        #expect(story.want("z") == ["stop", "load /z at 0.0"])
    }

    @Test("a song continues at the position that the driver has chosen, and only once")
    func sought() {
        var story = playing()
        story.at(10)
        #expect(story.want("a", next: "b", at: 42, seeks: 1) == ["load /a at 42.0", "append /b"])
        #expect(story.begin(3) == [])
        #expect(story.place(42) == ["a is at 42.0"])
        #expect(story.want("a", next: "b", at: 42, seeks: 1) == [])
    }

    @Test("a song that was dropped too late is stopped at once")
    func droppedTooLate() {
        var story = playing()
        _ = story.want("a", next: "c")
        story.at(60)
        #expect(story.end(1) == ["a has ended"])
        #expect(story.begin(2) == ["stop"])
        #expect(story.want("c") == ["load /c at 0.0"])
    }

    @Test("a skip stops the old song even if the new one's file is not found yet")
    func skip() {
        var policy = PlayerPolicy()
        func handle(_ event: PlayerPolicy.Event) -> [MPVCommand] {
            policy.handle(event, now: .zero).compactMap { if case .send(let command, _) = $0 { command } else { nil } }
        }
        _ = handle(.wanted(playback("a")))
        _ = handle(.found("a", path: "/a"))
        #expect(handle(.answered(1, .done)) == [.load(path: "/a", from: .zero)])
        #expect(handle(.wanted(playback("x"))) == [.stop])
        #expect(handle(.found("x", path: "/x")) == [.load(path: "/x", from: .zero)])
    }

    @Test("the only song of a library starts again when it ends, and when it is skipped")
    func sameSongAgain() {
        var story = PlayerStory()
        #expect(story.want("a", next: "a") == ["launch", "load /a at 0.0", "append /a"])
        _ = story.begin(1)
        story.at(60)
        #expect(story.end(1) == ["a has ended"])
        #expect(story.begin(2) == [])
        // Sent before the host knew that it has ended.
        #expect(story.want("a", next: "a", at: 60) == [])
        #expect(story.want("a", next: "a", at: 0) == ["append /a"])
        _ = story.place(0)
        story.at(70)
        #expect(story.want("a", next: "a", at: 0) == ["load /a at 0.0", "append /a"])
    }

    @Test("the host gets a song's position at its beginning, when it is wrong, and otherwise every ten seconds")
    func reports() {
        var story = playing()
        var told: [String] = []
        for second in 1...25 {
            #expect(story.tick(Double(second)) == [])
            told += story.place(Double(second))
        }
        #expect(told == ["a is at 10.0", "a is at 20.0"])
        _ = story.tick(26)
        #expect(story.place(25.4) == ["a is at 25.4"])
        _ = story.want("a", next: "b", at: 40)
        #expect(story.place(25.4) == ["a is at 25.4"])
    }

    @Test("a pause stops the questions, and the song continues at its position")
    func pause() {
        var story = playing()
        #expect(story.want("a", next: "b", plays: false) == ["pause"])
        #expect(story.place(0.2) == [])
        #expect(story.policy.deadline == nil)
        story.at(100)
        #expect(story.want("a", next: "b", at: 0.2) == ["go on"])
    }

    @Test("without a song the player stops, once")
    func silence() {
        var story = playing()
        #expect(story.want(nil) == ["stop"])
        #expect(story.want(nil) == [])
        #expect(story.policy.deadline == nil)
    }

    @Test("a song of which nothing is left at the chosen position has ended, and one without sound has failed")
    func soughtToItsEnd() {
        var story = PlayerStory()
        _ = story.want("a", next: "b", at: 180)
        _ = story.begin(1)
        #expect(story.end(1, .nothingPlayed) == ["a has ended"])
        var other = PlayerStory()
        _ = other.want("a", next: "b")
        _ = other.begin(1)
        #expect(other.end(1, .nothingPlayed) == ["a has failed"])
    }

    @Test("a failed song is reported once, and again only if the host still wants it")
    func fails() {
        var story = PlayerStory()
        _ = story.want("a", next: "b")
        #expect(story.end(1, .failed("unrecognized file format")) == ["a has failed"])
        #expect(story.want("a", next: "c") == [])
        #expect(story.tick(1) == [])
        #expect(story.tick(3) == ["a has failed"])
        #expect(story.want("b", next: "c") == ["append /c"])
    }

    @Test("a next song that fails before the host wants it is reported when the host does")
    func nextFailsEarly() {
        var story = playing(at: 58)
        #expect(story.end(1) == ["a has ended"])
        #expect(story.end(2, .failed("loading failed")) == [])
        #expect(story.want("b", next: "c") == ["stop", "b has failed"])
        #expect(story.want("c") == ["load /c at 0.0"])
    }

    @Test("a song without a file fails, and is looked for again when it comes again")
    func nowhere() {
        var story = PlayerStory(missing: ["a", "b"])
        #expect(story.want("a", next: "b") == ["launch", "a has failed"])
        #expect(story.want("b") == ["b has failed"])
    }

    @Test("an invalid path is refused", arguments: ["relative", "http://a.example/b", "/a\u{0}b", ""])
    func badPath(path: String) {
        var policy = PlayerPolicy()
        #expect(policy.handle(.wanted(playback("a")), now: .zero).first == .find("a"))
        #expect(policy.handle(.found("a", path: path), now: .zero).contains(.check("a")))
        #expect(policy.handle(.checked("a", isAway: false), now: .zero).contains(.report(.failed("a"))))
    }

    @Test("after three failures in a row each pause is longer than the last, so that the queue is not emptied")
    func manyFailures() {
        let missing = (0..<12).map { "s\($0)" }
        var story = PlayerStory(missing: Set(missing))
        var told: [Double] = []
        for song in missing {
            var words = story.want(song)
            while !words.contains("\(song) has failed"), let deadline = story.policy.deadline {
                words = story.tick(deadline / .seconds(1))
            }
            told.append(story.now / .seconds(1))
        }
        #expect(told == [0, 0, 0, 1, 3, 7, 15, 31, 61, 91, 121, 151])
    }
}
