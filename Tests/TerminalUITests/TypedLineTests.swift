// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import Testing

@testable import TerminalUI

@Suite("What people type at the prompt")
struct TypedLineTests {
    private static let inCar = SongChoice(shown: Car.snapshot(guests: [Car.ana, Car.bob]), library: Car.songs)

    private func read(_ line: String, _ choice: SongChoice = inCar) -> TypedLine? { TypedLine(line, .guest, choice) }

    private func notice(_ line: String, _ choice: SongChoice = inCar) -> Notice? {
        if case .input(.notice(let notice)) = read(line, choice) { notice } else { nil }
    }

    @Test(
        "a song of the queue goes by its number, its id, its title, or the beginning of it",
        arguments: [
            ("vote 1", "s2"), ("vote s2", "s2"), ("vote road t", "s2"), ("Vote ROAD TRIP", "s2"), ("vote\trest", "3"),
            ("vote 2", "3"),
        ])
    func song(line: String, id: String) {
        #expect(read(line) == .input(.guest(.vote(id))))
    }

    @Test func anIdThatIsANumberGoesBeforeTheLineOfThatNumber() {
        #expect(read("vote 3") == .input(.guest(.vote("3"))))
    }

    @Test func aWholeTitleGoesBeforeTheBeginningOfALongerOne() {
        #expect(read("unvote road") == .input(.guest(.takeBackVote("s4"))))
    }

    @Test func aBeginningOfSeveralTitlesChangesNothingAndSaysWhichAreMeant() {
        let notice = notice("vote r")
        #expect(notice?.code == "severalMeant")
        #expect(notice?.message == "\"r\" may be \"Road Trip\", \"Rest Stop\", \"Road\".")
    }

    @Test func aLineThatIsNotThereChangesNothingAndSaysWhichAre() {
        #expect(notice("vote 4")?.message == "There is no line 4.")
        #expect(notice("vote 4")?.suggestion == "Use a number from 1 to 3.")
        #expect(notice("vote 0")?.code == "noSuchLine")
        #expect(notice("vote 1", SongChoice(shown: Car.snapshot([])))?.message == "The list is empty.")
    }

    @Test func aSongThatIsNotQueuedGetsNoVoteThatWouldOnlyBeRefusedLater() {
        #expect(notice("vote jazz")?.code == "notQueued")
    }

    @Test func beforeAnyQueueIsKnownAVoteIsTakenAsItIsTyped() {
        #expect(read("vote s9", SongChoice()) == .input(.guest(.vote("s9"))))
        #expect(read("vote 2", SongChoice()) == .input(.guest(.vote("2"))))
    }

    @Test func aSuggestionCountsInWhatWasFound() {
        var choice = Self.inCar
        choice.found = [
            Song(id: "x7", title: "Hotel", artist: "A", duration: 1),
            Song(id: "x8", title: "Motel", artist: "B", duration: 1),
        ]
        #expect(read("suggest 2", choice) == .input(.guest(.suggest("x8"))))
        #expect(read("suggest hot", choice) == .input(.guest(.suggest("x7"))))
        #expect(notice("suggest 5", choice)?.code == "noSuchLine")
        // A library has songs that this guest has never seen.
        #expect(read("suggest x9", choice) == .input(.guest(.suggest("x9"))))
        #expect(notice("suggest grand hotel", choice)?.suggestion == "Look for it first: search grand hotel")
    }

    @Test func aHostAddsFromItsLibraryAndKicksByTheBeginningOfAName() {
        let choice = SongChoice(shown: Car.snapshot([], guests: [Car.ana, Car.bob]), library: Car.songs)
        #expect(TypedLine("add open", .host, choice) == .input(.host(.add("s1"))))
        guard case .input(.notice(let notice)) = TypedLine("add no such song", .host, choice) else {
            Issue.record("it was added")
            return
        }
        #expect(notice.code == "unknownSong")
        #expect(TypedLine("kick bo", .host, choice) == .input(.host(.kick("bob"))))
        #expect(TypedLine("kick Carl", .host, choice) == .input(.host(.kick("Carl"))))
    }

    @Test(
        "a slip of the fingers is answered with the command that was meant",
        arguments: [
            ("vot 2", "Try: vote SONG, or help."), ("ovte 2", "Try: vote SONG, or help."),
            ("serach road", "Try: search WORDS, or help."), ("xylophone", "Try: help."), ("vote", "Try: vote SONG."),
            ("skip now", "Try: skip."), ("play", "Try: help."),
        ])
    func slips(line: String, suggestion: String) {
        #expect(notice(line)?.code == "badCommand")
        #expect(notice(line)?.suggestion == suggestion)
    }

    @Test func whatAnArrowKeyTypesIsShownWithoutItsEscapeCode() {
        #expect(notice("\u{1B}[Avote 2")?.message == "\"[Avote 2\" is not a command.")
    }

    @Test(arguments: ["help", "?", "Help"])
    func helpIsTheScreensOwn(word: String) {
        #expect(read(word) == .help)
    }

    @Test(arguments: [NodeDescription.Role.host, .guest])
    func helpIsALineForEachCommandAndIsSeenWholeOnAnOldTerminal(role: NodeDescription.Role) {
        let vocabulary = Vocabulary(role)
        #expect(vocabulary.help.count == vocabulary.commands.count + 1)
        #expect(vocabulary.help.count + 12 <= 24)
        #expect(vocabulary.help.allSatisfy { ShownText.width($0) < 80 })
    }

    @Test(arguments: [NodeDescription.Role.host, .guest])
    func aMomentCanBeMarkedWhereTheDriveIsRecorded(role: NodeDescription.Role) {
        #expect(TypedLine("mark tunnel in", role, Self.inCar, isRecorded: true) == .input(.mark("tunnel in")))
        #expect(TypedLine("mark tunnel in", role, Self.inCar) != .input(.mark("tunnel in")))
        #expect(Vocabulary(role, isRecorded: true).help.contains { $0.contains("mark WORDS") })
    }

    @Test(arguments: [NodeDescription.Role.host, .guest])
    func everyCommandThatIsExplainedIsOneThatTheNodeTakes(role: NodeDescription.Role) {
        for command in Vocabulary(role).commands {
            let line = command.usage.replacing("SONG", with: "s2")
            if case .input(.notice(let notice)) = TypedLine(line, role, Self.inCar) {
                Issue.record("\(line): \(notice.message)")
            }
        }
    }
}
