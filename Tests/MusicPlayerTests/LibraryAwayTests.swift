// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import MusicPlayer

@Suite("A player without its library folder")
struct LibraryAwayTests {
    /// Song a plays, and b is next.
    private func playing(at place: Double = 0) -> PlayerStory {
        var story = PlayerStory()
        _ = story.want("a", next: "b", at: place)
        _ = story.begin(1)
        _ = story.place(place)
        return story
    }

    @Test("the player closes its files, and continues at its position when they are back")
    func pulled() {
        var story = playing(at: 20)
        story.at(1)
        #expect(story.handle(.library(isAway: true)) == ["stop"])
        #expect(story.want("a", next: "b", plays: false, at: 21) == [])
        story.at(100)
        #expect(
            story.handle(.library(isAway: false)) == ["renew", "launch", "pause", "load /a at 21.0", "append /b"])
        #expect(story.want("a", next: "b", at: 21) == ["go on"])
    }

    @Test("mpv may not open files of a new mount, so a new mpv plays them, and the old one is not at fault")
    func renewed() {
        var story = playing(at: 20)
        for round in 1...20 {
            story.at(Double(round))
            _ = story.handle(.library(isAway: true))
            #expect(story.handle(.library(isAway: false)).prefix(2) == ["renew", "launch"])
        }
    }

    @Test("a song does not fail because the folder is missing")
    func fails() {
        var story = PlayerStory()
        story.isAway = true
        #expect(story.want("a", next: "b") == ["launch", "load /a at 0.0", "append /b"])
        #expect(story.end(1, .failed("loading failed")) == ["stop"])
        #expect(story.tick(9) == [])
        #expect(story.tick(25) == [])
        story.isAway = false
        // No event reports that the folder is back, so the player checks from time to time.
        #expect(story.tick(35) == ["renew", "launch", "load /a at 0.0", "append /b"])
    }

    @Test("a song that ends far from its end counts as a missing file")
    func endsEarly() {
        var story = playing(at: 20)
        story.isAway = true
        #expect(story.end(1) == ["a has another length", "stop"])
        story.isAway = false
        #expect(story.handle(.library(isAway: false)) == ["renew", "launch", "load /a at 20.0", "append /b"])
    }

    @Test("a song that ends early has ended if its folder is in order, and one at its end needs no check")
    func ends() {
        var story = playing(at: 20)
        #expect(story.end(1) == ["a has another length", "a has ended"])
        story = playing(at: 58)
        story.isAway = true
        #expect(story.end(1) == ["a has ended"])
    }

    @Test("a folder that does not answer counts as missing")
    func noAnswer() {
        var policy = PlayerPolicy()
        _ = policy.handle(.wanted(playback("a")), now: .zero)
        for number in 1...2 { _ = policy.handle(.answered(number, .done), now: .zero) }
        #expect(policy.handle(.found("a", path: nil), now: .zero).contains(.check("a")))
        #expect(policy.deadline == .seconds(20))
        #expect(policy.handle(.tick, now: .seconds(20)) == [])
        #expect(policy.deadline == .seconds(30))
        #expect(policy.handle(.tick, now: .seconds(30)) == [.check("a")])
        #expect(policy.handle(.checked("a", isAway: false), now: .seconds(30)) == [.renew, .find("a")])
    }

    @Test("another song that is wanted in the meantime also waits")
    func skipped() {
        var story = playing(at: 20)
        _ = story.handle(.library(isAway: true))
        #expect(story.want("b", next: "c", plays: false) == [])
        #expect(story.handle(.library(isAway: false)) == ["renew", "launch", "pause", "load /b at 0.0", "append /c"])
        #expect(story.want("b", next: "c") == ["go on"])
    }

    @Test("a player that hangs may hang because of the disk, so the folder is checked")
    func hangs() {
        var story = playing(at: 20)
        story.isAway = true
        story.hang()
        _ = story.tick(1)
        #expect(story.tick(6) == ["kill"])
        #expect(story.policy.awaySince != nil)
        #expect(story.die() == [])
        story.isAway = false
        #expect(story.handle(.library(isAway: false)) == ["launch", "load /a at 21.0", "append /b"])
    }
}
