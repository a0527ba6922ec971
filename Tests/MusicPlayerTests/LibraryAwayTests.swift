// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import MusicPlayer

@Suite("A player whose library is away")
struct LibraryAwayTests {
    /// Song a is heard, and b comes next.
    private func playing(at place: Double = 0) -> PlayerStory {
        var story = PlayerStory()
        _ = story.want("a", next: "b", at: place)
        _ = story.begin(1)
        _ = story.place(place)
        return story
    }

    @Test("lets go of its files, and goes on at its place when they are back")
    func pulled() {
        var story = playing(at: 20)
        story.at(1)
        #expect(story.handle(.library(isAway: true)) == ["stop"])
        #expect(story.want("a", next: "b", plays: false, at: 21) == [])
        story.at(100)
        #expect(story.handle(.library(isAway: false)) == ["pause", "load /a at 21.0", "append /b"])
        #expect(story.want("a", next: "b", at: 21) == ["go on"])
    }

    @Test("does not fail a song for want of the folder")
    func fails() {
        var story = PlayerStory()
        story.isAway = true
        #expect(story.want("a", next: "b") == ["launch", "load /a at 0.0", "append /b"])
        #expect(story.end(1, .failed("loading failed")) == ["stop"])
        #expect(story.tick(9) == [])
        #expect(story.tick(25) == [])
        story.isAway = false
        // Nobody says that the folder is back; it is asked for now and then.
        #expect(story.tick(35) == ["load /a at 0.0", "append /b"])
    }

    @Test("takes the end of a song that is not near its end for that of its file")
    func endsEarly() {
        var story = playing(at: 20)
        story.isAway = true
        #expect(story.end(1) == ["stop"])
        story.isAway = false
        #expect(story.handle(.library(isAway: false)) == ["load /a at 20.0", "append /b"])
    }

    @Test("a song that ends early has ended if its folder is in order; one at its end is not asked about")
    func ends() {
        var story = playing(at: 20)
        #expect(story.end(1) == ["a has ended"])
        story = playing(at: 58)
        story.isAway = true
        #expect(story.end(1) == ["a has ended"])
    }

    @Test("takes a folder that gives no answer for one that is away")
    func noAnswer() {
        var policy = PlayerPolicy()
        _ = policy.handle(.wanted(playback("a")), now: .zero)
        for number in 1...2 { _ = policy.handle(.answered(number, .done), now: .zero) }
        #expect(policy.handle(.found("a", path: nil), now: .zero).contains(.check("a")))
        #expect(policy.deadline == .seconds(20))
        #expect(policy.handle(.tick, now: .seconds(20)) == [])
        #expect(policy.deadline == .seconds(30))
        #expect(policy.handle(.tick, now: .seconds(30)) == [.check("a")])
        #expect(policy.handle(.checked("a", isAway: false), now: .seconds(30)) == [.find("a")])
    }

    @Test("another song that is wanted meanwhile waits as well")
    func skipped() {
        var story = playing(at: 20)
        _ = story.handle(.library(isAway: true))
        #expect(story.want("b", next: "c", plays: false) == [])
        #expect(story.handle(.library(isAway: false)) == ["pause", "load /b at 0.0", "append /c"])
        #expect(story.want("b", next: "c") == ["go on"])
    }

    @Test("a player that hangs may hang with the disk, so that the folder is asked about")
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
