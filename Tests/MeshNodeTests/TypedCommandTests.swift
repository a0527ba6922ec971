// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Foundation
import MeshProtocol
import NodeCore
import Testing

@Suite("What people type at the prompt")
struct TypedCommandTests {
    private static let dad = Peer(id: "dad", name: "Dad's Car")
    private static let guests = [Peer(id: "ana", name: "Ana"), Peer(id: "bob", name: "Bob")]

    private static let songs = [
        Song(id: "s1", title: "Open Road", artist: "The Milestones", duration: 214),
        Song(id: "s2", title: "Road Trip", artist: "Night Drivers", duration: 187),
        Song(id: "3", title: "Rest Stop", artist: "Paper Maps", duration: 241),
        Song(id: "s4", title: "Road", artist: "Coastline", duration: 198),
    ]

    private static let found = [
        Song(id: "x7", title: "Hotel", artist: "A", duration: 1),
        Song(id: "x8", title: "Motel", artist: "B", duration: 1),
    ]

    /// The first song plays, and the others are queued.
    private static func snapshot(_ songs: [Song] = songs, guests: [Peer] = guests) -> HostSnapshot {
        HostSnapshot(
            epoch: 1, revision: 1, nowPlaying: songs.first.map { QueueItem(song: $0, addedBy: dad.id) },
            isPlaying: true, queue: songs.dropFirst().map { QueueItem(song: $0, addedBy: dad.id) },
            connectedPeers: guests)
    }

    private static let inCar = SongChoice(shown: snapshot(), library: songs)

    private func read(
        _ line: String, _ choice: SongChoice = inCar, as user: NodeCommand.User = .guest
    ) -> NodeCommand.Meaning? {
        CommandReader(user).meaning(ofTyped: line, choice)
    }

    private func notice(
        _ line: String, _ choice: SongChoice = inCar, as user: NodeCommand.User = .guest
    ) -> Notice? {
        if case .input(.notice(let notice)) = read(line, choice, as: user) { notice } else { nil }
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

    @Test(
        "a position in the song and a choice are typed as people say them",
        arguments: [
            ("seek 1:30", NodeInput.host(.seek(90))), ("seek 95", .host(.seek(95))),
            ("seek 1:02:03", .host(.seek(3723))),
            ("shuffle on", .host(.shuffle(true))), ("Shuffle OFF", .host(.shuffle(false))),
            ("playlist", .host(.choosePlaylist(""))),
            ("playlist Road Trip.m3u", .host(.choosePlaylist("Road Trip.m3u"))),
        ])
    func places(line: String, input: NodeInput) {
        #expect(read(line, as: .host) == .input(input))
    }

    @Test("a typing error is marked as one, so that the car's screen does not show it")
    func typedErrors() {
        for line in ["kik Bob", "add xyz", "remove 99", "kick", "seek 1:70", "shuffle maybe", "seek"] {
            #expect(notice(line, as: .host)?.isTyped == true, "\(line)")
        }
        let request = try? JSONDecoder().decode(PageRequest.self, from: Data(#"{"command":"invite","span":"2y"}"#.utf8))
        guard let request, case .notice(let notice)? = CommandReader(.driverPage).input(of: request) else {
            Issue.record("a page's own error is not shown")
            return
        }
        #expect(!notice.isTyped)
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
        for number in ["4", "0", "-1"] { #expect(notice("vote \(number)")?.code == "noSuchLine") }
        #expect(notice("vote 4")?.message == "There is no line 4.")
        #expect(notice("vote 4")?.suggestion == "Use a number from 1 to 3.")
    }

    @Test(
        "with an empty queue a person sees what to type",
        arguments: ["vote 1", "vote", "unvote", "unvote 3"])
    func empty(line: String) {
        let nothing = SongChoice(shown: Self.snapshot([]))
        #expect(notice(line, nothing)?.message == "The queue is empty.")
        #expect(notice(line, nothing)?.suggestion == "Find a song first: type search and a word of its title.")
        #expect(notice("suggest", nothing)?.message == "You have not searched for songs yet.")
        #expect(notice("remove", nothing, as: .host)?.message == "The queue is empty.")
        #expect(
            notice("kick", SongChoice(shown: Self.snapshot(guests: [])), as: .host)?.message == "There are no guests.")
    }

    @Test(
        "a command without its argument says what to type after it",
        arguments: [
            ("vote", "\"vote\" needs a song.", "Type vote and a number of the list, or the beginning of a title."),
            (
                "Unvote", "\"unvote\" needs a song.",
                "Type unvote and a number of the list, or the beginning of a title."
            ),
            ("search", "\"search\" needs a word or two.", "Type search and the words."),
        ])
    func incomplete(line: String, message: String, suggestion: String) {
        #expect(notice(line)?.message == message && notice(line)?.suggestion == suggestion)
        #expect(notice("kick", as: .host)?.message == "\"kick\" needs a guest.")
    }

    @Test func aSongThatIsNotQueuedGetsNoVoteThatWouldOnlyBeRefusedLater() {
        #expect(notice("vote jazz")?.code == "notQueued")
    }

    @Test(arguments: ["vote 1", "vote open", "vote s9", "unvote 2"])
    func beforeAnyQueueWasSeenNoNumberAndNoTitleIsTakenForAnId(line: String) {
        #expect(notice(line, SongChoice())?.code == "noQueueYet")
    }

    @Test func aSuggestionCountsInWhatWasFound() {
        var choice = Self.inCar
        choice.found = Self.found
        #expect(read("suggest 2", choice) == .input(.guest(.suggest("x8"))))
        #expect(read("suggest hot", choice) == .input(.guest(.suggest("x7"))))
        #expect(notice("suggest 5", choice)?.code == "noSuchLine")
        // A library has songs that this guest has never seen.
        #expect(read("suggest x9", choice) == .input(.guest(.suggest("x9"))))
        #expect(notice("suggest grand hotel", choice)?.suggestion == "Search for it first: type search grand hotel")
    }

    @Test func anEmptyPageAfterTheLastResultsLeavesThemOnView() {
        var choice = SongChoice(shown: Self.snapshot([]))
        choice.take(FoundSongs(Self.found, total: 2), for: SongQuery("hot"))
        choice.take(FoundSongs(total: 2), for: SongQuery("hot", from: 20))
        #expect(read("suggest 2", choice) == .input(.guest(.suggest("x8"))))
        let album = SongGroup(id: "x7", name: "Hot", songs: 2)
        choice.take(FoundSongs(groups: [album], total: 1), for: SongQuery(on: .albums))
        choice.take(FoundSongs(total: 1), for: SongQuery(on: .albums, from: 20))
        #expect(choice.groups == [album])
        choice.take(FoundSongs(total: 0), for: SongQuery("cold"))
        #expect(choice.found.isEmpty && choice.groups.isEmpty)
    }

    @Test func aTitleThatIsANumberIsFoundWhereNoLineHasThatNumber() {
        var choice = SongChoice(shown: Self.snapshot([]))
        choice.library = [Song(id: "x1", title: "1999", artist: "A", duration: 200)]
        #expect(read("add 1999", choice, as: .host) == .input(.host(.add("x1"))))
        #expect(notice("add 22", choice, as: .host)?.code == "noSuchLine")
    }

    @Test func aNumberOfAListOfResultsThatIsEmptyIsNoSong() {
        for (line, user) in [("suggest 1", NodeCommand.User.guest), ("add 1", .host)] {
            #expect(notice(line, as: user)?.message == "There is no result 1.")
            #expect(notice(line, as: user)?.suggestion == "Find a song: type search and a word of its title.")
        }
        #expect(read("suggest 3") == .input(.guest(.suggest("3"))), "an id that is on view")
    }

    @Test func aHostSearchesAndAddsByTheNumberOfWhatItHasFound() {
        var choice = Self.inCar
        #expect(read("search hot", choice, as: .host) == .input(.host(.search("hot"))))
        choice.found = Self.found
        #expect(read("add 2", choice, as: .host) == .input(.host(.add("x8"))))
        #expect(read("add mot", choice, as: .host) == .input(.host(.add("x8"))))
        #expect(notice("add 4", choice, as: .host)?.suggestion == "Use a number from 1 to 2.")
    }

    @Test func anArtistOrAlbumThatASearchHasFoundIsOpenedByItsNumberOrName() {
        var choice = Self.inCar
        choice.take(
            FoundSongs(
                Self.found, artists: [SongGroup(id: "s1", name: "Queen", songs: 9)],
                albums: [SongGroup(id: "s1", name: "Queen II", artist: "Queen", songs: 4)]), for: "queen")
        #expect(read("open 1", choice) == .input(.guest(.search(SongQuery("s1", on: .artist)))))
        #expect(read("open 2", choice, as: .host) == .input(.host(.search(SongQuery("s1", on: .album)))))
        #expect(read("open queen", choice) == .input(.guest(.search(SongQuery("s1", on: .artist)))))
        #expect(read("open queen i", choice) == .input(.guest(.search(SongQuery("s1", on: .album)))))
        #expect(notice("open 3", choice)?.code == "noSuchLine")
        // Further results do not replace the first ones, and a song keeps its number.
        choice.take(FoundSongs([Self.songs[0]]), for: SongQuery("queen", from: Self.found.count))
        #expect(read("open 1", choice) == .input(.guest(.search(SongQuery("s1", on: .artist)))))
        #expect(read("add 1", choice, as: .host) == .input(.host(.add(Self.found[0].id))))
    }

    @Test func aHostAddsFromItsLibraryByTheBeginningOfATitle() {
        let choice = SongChoice(shown: Self.snapshot([]), library: Self.songs)
        #expect(read("add open", choice, as: .host) == .input(.host(.add("s1"))))
        #expect(notice("add no such song", choice, as: .host)?.code == "unknownSong")
    }

    @Test(
        "a song and a guest are named without capitals and accents, and with any apostrophe",
        arguments: [
            ("deja vu", "Déjà Vu"), ("im'", "Im’ Wunderschönen Monat Mai"), ("strasse nach", "Straße nach Süden"),
            ("for elise", "Før Elise"), ("el nino", "El Niño"), ("L'AMOUR", "L’amour"), ("elka", "Ëlka"),
        ])
    func typedAsPeopleType(typed: String, title: String) {
        let songs = [
            Song(id: "x1", title: title, artist: "", duration: 1),
            Song(id: "x2", title: "Zebra", artist: "", duration: 1),
        ]
        #expect(SongChoice(library: songs).song(typed, for: .added) == .id("x1"))
        let twin = Song(id: "x3", title: title.uppercased(), artist: "", duration: 1)
        #expect(SongChoice(library: songs + [twin]).song(typed, for: .added) == .several([title, twin.title]))
        let guests = Self.snapshot(guests: [Peer(id: "0a0a0a0a", name: title), Peer(id: "0b0b0b0b", name: "Bob")])
        #expect(SongChoice(shown: guests).guest(title.lowercased()) == .id("0a0a0a0a"))
    }

    @Test("a guest goes by the whole name or the digits, and the beginning of a name is asked about")
    func guests() {
        let ids = ["a", "b", "c"].map { String(repeating: $0, count: 32) }
        let guests = [Peer(id: ids[0], name: "Ana"), Peer(id: ids[1], name: "Ana 🎸"), Peer(id: ids[2], name: "Bob")]
        let all = SongChoice(shown: Self.snapshot(guests: guests))
        #expect(read("ban Ana", all, as: .host) == .input(.ban("Ana", seconds: nil)))
        #expect(read("ban ana 2h", all, as: .host) == .input(.ban(ids[0], seconds: 7_200)))
        #expect(read("kick bbbbbbbb", all, as: .host) == .input(.host(.kick("bbbbbbbb"))))
        #expect(read("kick Carl", all, as: .host) == .input(.host(.kick("Carl"))))
        // Ana has left.
        let left = SongChoice(shown: Self.snapshot(guests: Array(guests.dropFirst())))
        for line in ["ban Ana", "ban Ana 2h", "kick Ana", "kick an", "driver Ana"] {
            let asked = notice(line, left, as: .host)
            #expect(asked?.code == "severalMeant" && asked?.message.contains("may be \"Ana 🎸\".") == true)
            #expect(asked?.suggestion == "Type the full name, or the first digits of the id.")
        }
        #expect(read("ban Ana 🎸", left, as: .host) == .input(.ban("Ana 🎸", seconds: nil)))
    }

    @Test(
        "a command with an argument of another form says what it needs",
        arguments: [
            ("seek later", "Type seek and a time such as 1:30."), ("shuffle maybe", "Type shuffle and on or off."),
            ("volume loud", "Type volume and a number from 0 to 100."),
            ("move 1", "Type move and two numbers of the list: the song, and its new place."),
            ("move 1 999", "Type move and two numbers of the list: the song, and its new place."),
        ])
    func otherForm(line: String, suggestion: String) {
        #expect(notice(line, as: .host)?.code == "incompleteCommand")
        #expect(notice(line, as: .host)?.suggestion == suggestion)
    }

    @Test("help of a command explains the commands that its line mentions")
    func relatedCommands() {
        let lines = CommandReader(.host).help(CommandReader(.host).commands.first { $0.word == "play" })
        #expect(lines.map { $0.split(separator: " ").first } == ["play", "shuffle", "playlist", "The"])
    }

    @Test(
        "a typing error is answered with the command that was meant",
        arguments: [
            ("vot 2", "Try: vote SONG, or help."), ("ovte 2", "Try: vote SONG, or help."),
            ("serach road", "Try: search WORDS, or help."), ("xylophone", "Try: help."), ("skip now", "Try: skip."),
            ("play", "Try: help."), ("help vot", "Try: help vote."),
        ])
    func slips(line: String, suggestion: String) {
        #expect(notice(line)?.code == "badCommand")
        #expect(notice(line)?.suggestion == suggestion)
    }

    @Test func whatAnArrowKeyTypesIsShownWithoutItsEscapeCode() {
        #expect(notice("\u{1B}[Avote 2")?.message == "\"[Avote 2\" is not a command.")
    }

    @Test(arguments: ["quit", "exit", "Exit"])
    func aPersonStopsWithTheWordThatComesToMind(word: String) {
        #expect(read(word) == .input(.quit(.quit)))
    }

    @Test(arguments: ["help", "?", "Help"])
    func helpIsTheScreensOwn(word: String) {
        #expect(read(word) == .lines(CommandReader(.guest).help()))
    }

    @Test func helpExplainsOneCommandWhereOneIsNamed() {
        #expect(
            read("help vote")
                == .lines([
                    "  vote SONG  votes for a song in the queue; once is enough",
                    "SONG is a number of the list, the beginning of a title, or an id.",
                ]))
    }

    @Test(arguments: [NodeCommand.User.host, .guest])
    func helpIsALineForEachCommandAndIsSeenWholeOnAnOldTerminal(user: NodeCommand.User) {
        let reader = CommandReader(user)
        #expect(reader.help().count == reader.commands.count { $0.explainedBy == nil })
        for command in reader.commands {
            guard let word = command.explainedBy else { continue }
            let explaining = reader.commands.first { $0.word == word }
            #expect(explaining?.does.contains(command.word) == true, "no help line names \(command.word)")
            #expect(explaining?.explainedBy == nil)
        }
        #expect(reader.help().count + 12 <= 24)
        #expect(reader.help().allSatisfy { $0.count < 80 })
    }

    @Test(
        "Tab completes commands, titles and names",
        arguments: [
            ("s", ["search ", "suggest ", "skip"]), ("vote r", ["vote Road Trip", "vote Rest Stop", "vote Road"]),
            ("vote ", ["vote Road Trip", "vote Rest Stop", "vote Road", "vote Open Road"]), ("vote x", []),
            ("help un", ["help unvote"]), ("search ", []),
        ])
    func completions(line: String, lines: [String]) {
        #expect(CommandReader(.guest).completions(of: line, Self.inCar) == lines)
        #expect(CommandReader(.host).completions(of: "kick ", Self.inCar) == ["kick Ana", "kick Bob"])
    }

    @Test(arguments: [NodeCommand.User.host, .guest])
    func aMomentCanBeMarkedWhereTheDriveIsRecorded(user: NodeCommand.User) {
        let recorded = CommandReader(user, isRecorded: true)
        #expect(recorded.meaning(ofTyped: "mark tunnel in", Self.inCar) == .input(.mark("tunnel in")))
        #expect(read("mark tunnel in", as: user) != .input(.mark("tunnel in")))
        #expect(recorded.help().contains { $0.contains("mark WORDS") })
    }

    @Test(arguments: [NodeCommand.User.host, .guest])
    func everyCommandThatIsExplainedIsOneThatTheNodeTakes(user: NodeCommand.User) {
        for command in CommandReader(user).commands {
            let line = command.usage().replacing("SONG", with: "s2").replacing("COMMAND", with: "quit")
                .replacing("DIGITS", with: "314159").replacing("[TIME]", with: "2h").replacing("PLACE", with: "2")
                .replacing("TIME", with: "1:30").replacing("on|off", with: "on").replacing("[DB|off]", with: "12")
                .replacing("PERCENT", with: "40").replacing("NUMBER", with: "1").replacing("[NAME]", with: "Ana")
            var choice = Self.inCar
            choice.groups = [SongGroup(id: "s1", name: "Ana", songs: 1)]
            if let notice = notice(line, choice, as: user) { Issue.record("\(line): \(notice.message)") }
        }
    }
}
