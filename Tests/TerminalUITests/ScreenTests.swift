// SPDX-License-Identifier: Apache-2.0

import NodeCore
import DemocracyDJ
import MeshProtocol
import Testing

@testable import TerminalUI

@Suite("The screen of a terminal")
struct ScreenTests {
    @Test func aGuestSeesTheLinkWhatPlaysWhoIsThereAndWhoseVotesAreInTheQueue() {
        let snapshot = Car.snapshot(guests: [Car.ana, Car.bob]) {
            $0.queue[0].voters = ["bob", "ana"]
            $0.queue[1].voters = ["ana"]
            $0.queue[1].addedBy = "bob"
            $0.queue[2].addedBy = "ana"
            $0.skipVoters = ["bob"]
        }
        let report = LinkReport(rssi: -68, roundTrip: .microseconds(12_400))
        let screen = Car.anasScreen(.snapshot(snapshot, isStale: false), .link(Car.dad, report))
        #expect(
            screen.panel() == [
                "Connected to \"Dad's Car\"  ▂▄▆· -68 dBm 12 ms",
                "Now playing: Open Road – The Milestones  0:00 / 3:34 · 1 of 2 votes to skip",
                "Guests: Ana, Bob",
                " 1. Road Trip – Night Drivers  2 votes (yours too)",
                " 2. Rest Stop – Paper Maps  1 vote (yours) · suggested by Bob",
                " 3. Road – Coastline  suggested by you",
            ])
    }

    @Test("a guest that was started for one host names it, until it has joined")
    func wantedHost() {
        var description = Car.description(.guest, Car.ana)
        description.wantedHost = "Nowhere"
        var screen = Screen(description, .abovePanel)
        let said = screen.show(.connection(.connecting), now: .zero)
        #expect(screen.panel()[0] == "Looking for \"Nowhere\"", "\(said)")
        _ = screen.show(.peerConnected(Car.dad), now: .zero)
        _ = screen.show(.connection(.connected), now: .zero)
        #expect(screen.panel()[0].hasPrefix("Connected to \"Dad's Car\""))
    }

    @Test("a guest sees some names of a crowd, and the number of others")
    func namesOfACrowd() {
        let snapshot = Car.snapshot(guests: [Car.ana, Car.bob]) { $0.unnamedGuests = 211 }
        #expect(Car.anasScreen(.snapshot(snapshot, isStale: false)).panel()[2] == "Guests: Ana, Bob and 211 more")
    }

    @Test("while a crowd votes, a stream of lines shows the newest queue once a second, and the last one at the end")
    func crowd() {
        func voted(_ count: Int) -> NodeEvent {
            .snapshot(Car.snapshot { $0.queue[0].voters = (0..<count).map { "voter \($0)" } }, isStale: false)
        }
        func votes(_ lines: [String]) -> [String] { lines.filter { $0.contains("[s2]") } }
        var screen = Screen(Car.description(.host, Car.dad), .lines)
        for count in 1...TerminalLimits.queuesAtOnce {
            #expect(votes(screen.show(voted(count), now: .zero)).count == 1, "a few taps are answered one by one")
        }
        #expect(screen.deadline == nil)
        for count in 11...30 { #expect(screen.show(voted(count), now: .milliseconds(count)) == []) }
        #expect(screen.deadline == .seconds(1))
        #expect(screen.overdue(now: .milliseconds(999)) == [])
        let later = votes(screen.overdue(now: .seconds(1)))
        #expect(later.count == 1 && later[0].contains("30 votes"))
        #expect(screen.deadline == nil)

        #expect(screen.show(voted(31), now: .seconds(1)) == [])
        #expect(screen.show(voted(30), now: .seconds(1)) == [], "the state is the same as shown")
        #expect(screen.deadline == nil)
        #expect(screen.show(voted(32), now: .seconds(1)) == [])
        let last = screen.show(.bye(.terminated), now: .seconds(1))
        #expect(votes(last).first?.contains("32 votes") == true)
        #expect(last.last == "Bye.")
    }

    @Test("a German user reads German, above the panel and in it")
    func german() {
        var screen = Screen(Car.description(.guest, Car.ana), .abovePanel, language: .german)
        let lost = Notice(.connectionLost(host: Car.dad))
        #expect(
            screen.show(.notice(lost), now: .zero) == [
                "! Verbindung zu Dad's Car verloren. Sie wird wiederhergestellt. "
                    + "Du siehst die zuletzt bekannte Liste. Deine Stimmen werden gesendet, "
                    + "wenn die Verbindung wieder da ist."
            ])
        let events: [NodeEvent] = [
            .peerConnected(Car.dad), .connection(.connected),
            .snapshot(Car.snapshot { $0.queue[0].voters = ["ana"] }, isStale: false),
        ]
        for event in events { _ = screen.show(event, now: .zero) }
        let panel = screen.panel()
        #expect(panel.contains { $0.hasPrefix("! Du siehst die zuletzt bekannte Liste. Deine Stimmen werden") })
        #expect(panel.contains("Jetzt läuft: Open Road – The Milestones  0:00 / 3:34"))
        #expect(panel.contains("Gäste: Ana"))
        #expect(panel.contains(" 1. Road Trip – Night Drivers  1 Stimme (deine)"))
    }

    @Test(
        "bars show the strength of a signal, if the radio knows it",
        arguments: [(-50, "▂▄▆█"), (-61, "▂▄▆·"), (-75, "▂▄··"), (-90, "▂···"), (-95, "····")])
    func bars(rssi: Int, bars: String) {
        #expect(LinkView.words(LinkReport(rssi: rssi)) == "\(bars) \(rssi) dBm")
        #expect(LinkView.words(LinkReport(roundTrip: .microseconds(600))) == "<1 ms")
        #expect(LinkView.words(LinkReport()) == "")
        let condition = LinkCondition(got: LinkParameters(phy: "2M", interval: 11.25))
        let tuned = LinkReport(roundTrip: .milliseconds(12), condition: condition)
        #expect(LinkView.longWords(tuned) == "12 ms, 2M every 11 ms")
        #expect(LinkView.longWords(LinkReport()) == "")
    }

    @Test(
        "the user's own vote to skip is marked",
        arguments: [
            (["ana"], "1 of 3 votes to skip (yours)"), (["bob"], "1 of 3 votes to skip"),
            (["bob", "ana"], "2 of 3 votes to skip (yours too)"), (["bob", "dee"], "2 of 3 votes to skip"),
        ])
    func skips(voters: [String], words: String) {
        let guests = [Car.ana, Car.bob, Peer(id: "dee", name: "Dee"), Peer(id: "eve", name: "Eve")]
        let snapshot = Car.snapshot(guests: guests) { $0.skipVoters = voters }
        let screen = Car.anasScreen(.snapshot(snapshot, isStale: false))
        let wide = screen.panel(TerminalSize(columns: 100, rows: 24))
        #expect(wide[1] == "Now playing: Open Road – The Milestones  0:00 / 3:34 · \(words)")
    }

    @Test func aVoteToSkipIsAnsweredWithHowManyAreNeeded() {
        func said(_ voters: [Peer.ID], _ events: NodeEvent...) -> [Screen.Action] {
            var screen = Car.anasScreen(
                .snapshot(Car.snapshot(guests: [Car.ana, Car.bob]) { $0.skipVoters = voters }, isStale: false))
            for event in events { _ = screen.show(event, now: .zero) }
            return screen.take("skip")
        }
        let sent = Screen.Action.send(.guest(.skip))
        #expect(said([]) == [.say(["Vote to skip \"Open Road\" sent (1 of 2)."]), sent])
        #expect(said(["bob"]) == [.say(["Vote to skip \"Open Road\" sent (2 of 2)."]), sent])
        #expect(said(["ana"]) == [.say(["You have voted to skip \"Open Road\" already (1 of 2)."]), sent])
        // The node itself reports why this fails.
        #expect(said([], .notice(Notice(.cannotAdd("s1", .skippingNotAllowed)))) == [sent])
        #expect(said([], .connection(.reconnecting(attempt: 1))) == [sent])
        var silent = Car.anasScreen(.snapshot(Car.snapshot([]), isStale: false))
        #expect(silent.take("skip") == [sent])
    }

    @Test func aHostSeesTheLinkToEachGuest() {
        var screen = Screen(Car.description(.host, Car.dad), .abovePanel)
        _ = screen.show(.snapshot(Car.snapshot(guests: [Car.ana, Car.bob]), isStale: false), now: .zero)
        _ = screen.show(.link(Car.ana, LinkReport(rssi: -55, roundTrip: .milliseconds(30))), now: .zero)
        #expect(screen.panel()[2] == "Guests: Ana ▂▄▆█ -55 dBm 30 ms · Bob")
        _ = screen.show(.peerDisconnected(Car.ana, .linkLost), now: .zero)
        #expect(screen.panel()[2] == "Guests: Ana · Bob")
    }

    @Test(
        "a guest that changes its bearer is not reported to the driver, and one that stays away is",
        arguments: [
            DisconnectReason.linkLost, .replaced,
        ])
    func changeOfBearer(reason: DisconnectReason) {
        var screen = Screen(Car.description(.host, Car.dad), .abovePanel)
        #expect(screen.show(.peerConnected(Car.ana), now: .zero) == ["Ana has joined."])
        #expect(screen.show(.peerDisconnected(Car.ana, reason), now: .seconds(1)) == [])
        #expect(screen.show(.peerConnected(Car.ana), now: .seconds(2)) == [])
        #expect(screen.deadline == nil && screen.overdue(now: .seconds(9)) == [])
        _ = screen.show(.peerDisconnected(Car.ana, reason), now: .seconds(10))
        #expect(screen.deadline == .seconds(10) + TerminalLimits.quietLoss)
        #expect(screen.overdue(now: .seconds(12)) == [])
        #expect(screen.overdue(now: .seconds(13)) == ["Ana is out of reach."])
        #expect(screen.show(.peerConnected(Car.ana), now: .seconds(14)) == ["Ana has joined."])
    }

    @Test("a guest's person who has read that the host is lost reads that it is back")
    func hostIsBack() {
        var screen = Screen(Car.description(.guest, Car.ana), .abovePanel)
        #expect(screen.show(.peerConnected(Car.dad), now: .zero) == ["Joined \"Dad's Car\"."])
        _ = screen.show(.peerDisconnected(Car.dad, .linkLost), now: .seconds(1))
        #expect(screen.show(.peerConnected(Car.dad), now: .seconds(2)) == [])
        _ = screen.show(.peerDisconnected(Car.dad, .linkLost), now: .seconds(3))
        _ = screen.show(.notice(Notice(.connectionLost(host: Car.dad))), now: .seconds(4))
        #expect(screen.show(.peerConnected(Car.dad), now: .seconds(5)) == ["Joined \"Dad's Car\"."])
    }

    @Test("a person reads that the radio works again")
    func radioWorks() {
        var screen = Screen(Car.description(.host, Car.dad), .abovePanel)
        _ = screen.show(.notice(Notice(NetworkError.radioOff)), now: .zero)
        #expect(screen.show(.noticeCleared(code: Notice.outageCode), now: .zero) == ["The radio works again."])
        #expect(screen.show(.noticeCleared(code: "hostFull"), now: .zero) == [])
    }

    @Test func outOfReachTheQueueIsMarkedStaleAndTheSecondsAreCounted() {
        var screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        _ = screen.show(.connection(.reconnecting(attempt: 1)), now: .seconds(100))
        _ = screen.show(.connection(.reconnecting(attempt: 2)), now: .seconds(103))
        #expect(screen.panel(now: .seconds(107))[0] == "Reconnecting to \"Dad's Car\", 7 s; the queue is stale")
        #expect(screen.panel().contains(" 1. Road Trip – Night Drivers"))
        _ = screen.show(.connection(.connected), now: .seconds(108))
        #expect(screen.panel()[0].hasSuffix("stale"))
        _ = screen.show(.snapshot(Car.snapshot(), isStale: false), now: .seconds(108))
        #expect(!screen.panel()[0].contains("stale"))
    }

    @Test func aGuestThatHasLeftReadsFirstHowToComeBack() {
        var screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        _ = screen.show(.connection(.disconnected), now: .zero)
        #expect(screen.panel()[0] == "Not connected; type retry. The queue is stale")
        #expect(screen.panel(TerminalSize(columns: 40, rows: 24))[0].hasPrefix("Not connected; type retry"))
    }

    @Test func whatWasKnownBeforeThisRunIsStaleFromTheStart() {
        var screen = Screen(Car.description(.guest, Car.ana), .abovePanel)
        _ = screen.show(.snapshot(Car.snapshot(), isStale: true), now: .zero)
        #expect(screen.panel(now: .seconds(5))[0] == "Looking for a host; the queue is stale")
    }

    @Test func aWishIsMarkedInTheQueueUntilTheHostHasAnswered() {
        var screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        _ = screen.show(.wish("s2", .vote, .queued), now: .zero)
        #expect(screen.panel()[3] == " 1. Road Trip – Night Drivers  your vote is waiting")
        _ = screen.show(.wish("s2", .vote, .sent), now: .zero)
        #expect(screen.panel()[3] == " 1. Road Trip – Night Drivers  your vote is on its way")
        _ = screen.show(.wish("s2", .takeBack, .sent), now: .zero)
        #expect(screen.panel()[3] == " 1. Road Trip – Night Drivers  your vote is being taken back")
        #expect(
            screen.show(.wish("s2", .takeBack, .confirmed), now: .zero) == [
                "Your vote for \"Road Trip\" is taken back."
            ])
        #expect(screen.panel()[3] == " 1. Road Trip – Night Drivers")
    }

    @Test func aSearchShowsArtistsAndAlbumsAboveTheSongs() {
        var screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        let found = FoundSongs(
            [Song(id: "x", title: "Air", artist: "Bach", duration: 1)],
            artists: [SongGroup(id: "x", name: "Bach", songs: 12)],
            albums: [SongGroup(id: "x", name: "Suites", artist: "Bach", songs: 6)])
        #expect(
            screen.show(.searchResults(found, query: "bach"), now: .zero) == [
                "Artists; open 1 shows the songs of the first:", "  1. Bach  (12)",
                "Albums; open 2 shows the songs of the first:", "  2. Suites – Bach  (6)",
                "1 song found for \"bach\":", "  1. Air – Bach",
            ])
    }

    @Test func aSuggestionIsShownBelowTheQueueUntilItIsInIt() {
        var screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        _ = screen.show(
            .searchResults([Song(id: "x", title: "Motel", artist: "B", duration: 1)], query: "mo"), now: .zero)
        _ = screen.show(.wish("x", .suggest, .queued), now: .zero)
        #expect(screen.panel().last == " –  \"Motel\"  your suggestion is waiting")
        _ = screen.show(.wish("x", .suggest, .rejected(.queueFull)), now: .zero)
        #expect(screen.panel().last == " 3. Road – Coastline")
    }

    @Test func aNoticeIsSaidWithWhatToDoAndTheCommandThatDoesIt() throws {
        var screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        let lost = Notice(.connectionLost(host: Car.dad))
        #expect(
            screen.show(.notice(lost), now: .zero) == [
                "! Connection to Dad's Car lost. Trying to reconnect. You see the last known queue. Your votes "
                    + "are sent when the connection is back."
            ])
        #expect(screen.panel()[1] == "! You see the last known queue. Your votes are sent when the connection is bac…")
        let later = try #require(lost.followedUp)
        #expect(screen.show(.notice(later), now: .zero)[0].hasSuffix("[retry]"))
        #expect(screen.panel()[1] == "! You rejoin automatically when it is in range. Make sure Bluetooth is… [retry]")
        let narrow = TerminalSize(columns: 30, rows: Car.size.rows)
        #expect(screen.panel(narrow)[1] == "! You rejoin automat… [retry]")
        _ = screen.show(.noticeCleared(code: "connectionLost"), now: .zero)
        #expect(!screen.panel()[1].hasPrefix("!"))
    }

    @Test func aNoticeThatIsOnlyDismissedNamesTheCommandOK() {
        var screen = Car.anasScreen()
        let said = screen.show(.notice(Notice(.hostEnded(host: Car.dad))), now: .zero)
        #expect(said.count == 1 && said[0].hasSuffix(" Unsent votes are saved. [ok]"))
        #expect(screen.panel()[1].hasSuffix(" [ok]"))
    }

    @Test("the host says whether a guest was kicked or banned", arguments: [true, false])
    func removed(session: Bool) {
        var screen = Screen(Car.description(.host, Car.dad), .abovePanel, library: Car.songs)
        _ = screen.show(.peerConnected(Car.bob), now: .zero)
        _ = screen.show(.bans([ShownBan(peer: Car.bob, until: nil, session: session)], isAnswer: false), now: .zero)
        let said = screen.show(.peerDisconnected(Car.bob, .refused), now: .zero)
        #expect(said == [session ? "Bob was kicked." : "Bob was banned."])
    }

    @Test func aNoticeThatGoesByItselfIsSaidAndDoesNotStay() {
        var screen = Car.anasScreen()
        #expect(screen.show(.notice(Notice(.notConnected)), now: .zero).count == 1)
        #expect(screen.panel().count == 1)
    }

    @Test(arguments: [5, 6, 8, 12, 24, 60])
    func thePanelLeavesRoomForThePromptOnTerminalsOfAnyHeight(rows: Int) {
        let songs = (0...40).map { Song(id: "n\($0)", title: "Mile \($0)", artist: "M", duration: 1) }
        let screen = Car.anasScreen(.snapshot(Car.snapshot(songs), isStale: false))
        let panel = screen.panel(TerminalSize(columns: 80, rows: rows))
        #expect((1...max(min(rows / 2 - 1, rows - 5), 1)).contains(panel.count))
        if rows > 11 { #expect(panel.last == "      … and \(40 - (panel.count - 4)) more") }
    }

    @Test(arguments: [20, 33, 80])
    func noLineOfThePanelIsWiderThanTheTerminal(columns: Int) {
        let songs = [
            Song(id: "a", title: String(repeating: "very long ", count: 20), artist: "A", duration: 1),
            Song(id: "b", title: String(repeating: "夜の道", count: 20), artist: "🚗🚙", duration: 1),
            Song(id: "c", title: String(repeating: "e\u{301}", count: 60), artist: "C", duration: 1),
        ]
        let screen = Car.anasScreen(.snapshot(Car.snapshot(songs) { $0.queue[0].voters = ["ana"] }, isStale: false))
        for line in screen.panel(TerminalSize(columns: columns, rows: 24)) {
            #expect(ShownText.width(line) < columns)
        }
    }

    @Test func whatATitleHidesReachesNoTerminal() {
        let evil = "Ro\u{1B}[2Jad\u{9B}31m\u{202E}pirT\u{2066}\u{7}\r\n\u{2028}x"
        let songs = [Car.songs[0], Song(id: "e\u{1B}[H", title: evil, artist: evil, duration: 1)]
        let snapshot = Car.snapshot(songs, guests: [Peer(id: "b", name: evil)]) { $0.queue[0].addedBy = "b" }
        let panel = Car.anasScreen(.snapshot(snapshot, isStale: false)).panel()
        var plain = Screen(Car.description(.guest, Car.ana), .lines)
        let said =
            plain.show(.snapshot(snapshot, isStale: false), now: .zero)
            + plain.show(.searchResults(FoundSongs(songs, lookedFor: evil), query: "x"), now: .zero)
        for line in panel + said { #expect(line == UntrustedText.shown(line)) }
        #expect(panel.last == " 1. Ro[2Jad31mpirTx – Ro[2Jad31mpirTx  suggested by Ro[2Jad31mpirTx")
    }

    @Test func whatATitleHidesReachesNoPipeByANoticeEither() {
        var plain = Screen(Car.description(.host, Car.dad), .lines)
        let evil = Notice(.cannotAdd("Ro\u{1B}[2Jad – \u{202E}\u{7}“Trip”\n", .cannotBePlayed))
        #expect(
            plain.show(.notice(evil), now: .zero) == [
                "! \"Ro[2Jad – “Trip”\" cannot be played: its file is damaged or of an unknown kind. Choose another song."
            ])
    }

    @Test func withoutATerminalTheQueueIsToldWithIdsWheneverItChanges() {
        var screen = Screen(Car.description(.guest, Car.ana), .lines)
        let snapshot = Car.snapshot { $0.queue[0].voters = ["ana"] }
        let told = [
            "", "Now playing: Open Road – The Milestones", "Guests: Ana",
            "  1. [s2] Road Trip – Night Drivers  1 vote (yours)", "  2. [3] Rest Stop – Paper Maps",
            "  3. [s4] Road – Coastline", "",
        ]
        #expect(screen.show(.snapshot(snapshot, isStale: false), now: .zero) == told)
        #expect(screen.show(.snapshot(snapshot, isStale: false), now: .zero) == [])
    }

    @Test func theWholeQueueIsShownWhenAskedFor() {
        let songs = (0...40).map { Song(id: "n\($0)", title: "Mile \($0)", artist: "M", duration: 1) }
        var screen = Car.anasScreen(.snapshot(Car.snapshot(songs), isStale: false))
        #expect(
            screen.take("queue") == [.say(["Now playing: Mile 0 – M"] + (1...40).map { "  \($0). Mile \($0) – M" })])
        var other = Car.anasScreen()
        #expect(other.take("view") == [.say(["No queue is known yet."])])
    }
    @Test func aHostReadsTheTitleOfWhatIsSuggestedAndNotItsId() {
        var screen = Screen(Car.description(.host, Car.dad), .lines, library: Car.songs)
        #expect(
            screen.show(.intent(.suggestSong(songID: "s4"), from: Car.ana, rejected: nil), now: .zero)
                == ["Ana suggests \"Road\"."])
    }

    @Test func aSuggestionThatIsRefusedIsToldOnce() {
        var screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        let told =
            screen.show(.wish("x", .suggest, .rejected(.tooManySuggestions)), now: .zero)
            + screen.show(.notice(Notice(.cannotAdd("Motel", .tooManySuggestions, waiting: 5))), now: .zero)
        #expect(told == ["! You already have 5 songs waiting. Suggest again when one of them has played."])
    }

    @Test func endSaysWhatItDoesAndDoesItWhenItIsTypedAgain() {
        var screen = Screen(Car.description(.host, Car.dad), .abovePanel)
        let explained = Screen.Action.say([
            "This ends the session for everybody and deletes the queue and its votes. Type end again to do it, or quit "
                + "to stop and keep them."
        ])
        #expect(screen.take("End") == [explained])
        #expect(screen.take("pause") == [.send(.host(.pause))])
        #expect(screen.take("end") == [explained], "something else was typed since")
        #expect(screen.take("end") == [.send(.end)])
        var pipe = Screen(Car.description(.host, Car.dad), .lines)
        #expect(pipe.take("end") == [.send(.end)], "a pipe has no person to ask")
    }

    @Test func whatATypedLineIsAboutIsShownAndNotSent() {
        var screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        #expect(screen.take("help leave") == [.say(["  leave  leaves the host and joins none until retry"])])
        #expect(screen.completions(of: "vote road t") == ["vote Road Trip"])
        #expect(screen.take("vote 1") == [.send(.guest(.vote("s2")))])
    }
    @Test func howFarTheSongIsGoesOnByItselfAndStopsInAPause() {
        func playing(_ seconds: Double, isPlaying: Bool = true) -> Screen {
            Car.anasScreen(
                .snapshot(
                    Car.snapshot {
                        $0.elapsed = seconds
                        $0.isPlaying = isPlaying
                    }, isStale: false))
        }
        #expect(playing(61).panel(now: .seconds(8))[1] == "Now playing: Open Road – The Milestones  1:09 / 3:34")
        #expect(playing(61, isPlaying: false).panel(now: .seconds(8))[1].hasSuffix("1:01 / 3:34"))
        #expect(playing(61).panel(now: .seconds(900))[1].hasSuffix("3:34 / 3:34"))
    }

    @Test func anEmptyQueueSaysWhatToType() {
        let nothing = NodeEvent.snapshot(Car.snapshot([Car.songs[0]]), isStale: false)
        let hint = "The queue is empty. Type search WORD, then suggest 1."
        var ana = Car.anasScreen(nothing)
        #expect(ana.panel().last == hint)
        #expect(
            ana.take("queue").contains(.say(["Now playing: Open Road – The Milestones", hint])))
        var host = Screen(Car.description(.host, Car.dad), .abovePanel)
        _ = host.show(nothing, now: .zero)
        #expect(host.panel().last == "The queue is empty. Type search WORD, then add 1.")
    }

    @Test func aNarrowWindowDropsTheArtistFirstAndCutsATitleLast() {
        let songs = [
            Song(id: "s1", title: "Rest Stop Serenade", artist: "Paper Maps", duration: 241),
            Song(id: "s2", title: "Tunnel of Lights", artist: "Night Drivers", duration: 187),
            Song(id: "s3", title: "Are We There Yet", artist: "Backseat Choir", duration: 176),
            Song(id: "s4", title: "Road", artist: "Odometer", duration: 252),
            Song(id: "s5", title: "The Longest Night Drive of the Year", artist: "Coastline", duration: 1),
            Song(id: "s6", title: "The Longest Night Drive of All the Years", artist: "Coastline", duration: 1),
        ]
        let snapshot = Car.snapshot(songs) {
            $0.queue[0].voters = ["bob", "ana"]
            $0.queue[1].voters = ["ana"]
            for index in $0.queue.indices.dropFirst(2) { $0.queue[index].voters = ["bob"] }
        }
        let screen = Car.anasScreen(.snapshot(snapshot, isStale: false))
        #expect(
            screen.panel(TerminalSize(columns: 40, rows: 24)).filter { !$0.hasPrefix("Guests") }.dropFirst() == [
                "Now playing: Rest Stop Serenade  0:00 …",
                " 1. Tunnel of Lights  2 votes (yours t…",
                " 2. Are We There Yet  1 vote (yours)",
                " 3. Road – Odometer  1 vote",
                " 4. The Longest Night Drive of the Year",
                " 5. The Longest Night Drive of…  1 vote",
            ])
        #expect(screen.panel(TerminalSize(columns: 43, rows: 24))[4] == " 2. Are We There Yet – Ba…  1 vote (yours)")
    }
    @Test func aProgramIsToldAnotherVersionWhereTheViewHasChangedAndOnlyThere() {
        var watch = NodeWatch(Car.description(.guest, Car.ana))
        var versions = ToldVersions()
        func version(_ now: MeshInstant) -> Int {
            _ = watch.tick(now: now)
            return versions.numbered(watch.view(now: now)).version
        }
        _ = watch.handle(.snapshot(Car.snapshot(), isStale: false), now: .zero)
        _ = watch.handle(.notice(Notice(.notConnected)), now: .zero)
        #expect(version(.zero) == 1)
        // The song continues.
        #expect(version(.seconds(1)) == 1)
        // The notice ends automatically.
        #expect(version(.seconds(60)) == 2)
        #expect(version(.seconds(61)) == 2)
        _ = watch.handle(.snapshot(Car.snapshot { $0.queue[0].voters = ["bob"] }, isStale: false), now: .seconds(61))
        #expect(version(.seconds(61)) == 3)
    }

    @Test(arguments: [(0, "0 hosts are in range."), (1, "1 host is in range."), (2, "2 hosts are in range.")])
    func aScanEndsWithHowManyHostsThereAre(count: Int, sentence: String) {
        var screen = Screen(Car.description(.scan, Car.ana), .lines)
        for number in 0..<count {
            _ = screen.show(
                .peerDiscovered(HeardNode(Peer(id: "h\(number)", name: "Car \(number)"))), now: .zero)
        }
        #expect(screen.show(.bye(.quit), now: .zero) == [sentence])
    }

    private static func link(_ rssi: Int?, hops: Int = 0, via: String? = nil, circuits: Int? = nil) -> LinkReport {
        var report = LinkReport(rssi: rssi, roundTrip: .milliseconds(12 + 30 * hops))
        (report.relays, report.via, report.circuits) = (hops, via, circuits)
        return report
    }

    @Test func aHostSeesWhoHangsOnWhomAndWhatARelayCarries() {
        var screen = Screen(Car.description(.host, Car.dad), .abovePanel)
        let (one, two) = (Peer(id: "one00000", name: "One"), Peer(id: "two00000", name: "Two"))
        func link(_ peer: Peer, _ report: LinkReport) { _ = screen.show(.link(peer, report), now: .zero) }
        _ = screen.show(.snapshot(Car.snapshot(guests: [Car.ana, two, one, Car.bob]), isStale: false), now: .zero)
        link(Car.bob, Self.link(-60))
        #expect(screen.take("view").count == 1)
        link(one, Self.link(-68, circuits: 2))
        link(two, Self.link(nil, hops: 1, via: "one00000"))
        link(Car.ana, Self.link(nil, hops: 2, via: "two00000"))
        #expect(
            screen.panel(TerminalSize(columns: 150, rows: 24))[2]
                == "Guests: One ▂▄▆· -68 dBm 12 ms (relay for 2) · Two 42 ms through One (relay for 1) · "
                + "Ana 72 ms through Two (2 hops) · Bob ▂▄▆█ -60 dBm 12 ms")
        guard case .say(let lines)? = screen.take("view").first else { return #expect(Bool(false)) }
        #expect(
            lines.suffix(5) == [
                "Guests:", "  One  ▂▄▆· -68 dBm 12 ms  (relay for 2)", "    Two  42 ms through One  (relay for 1)",
                "      Ana  72 ms through Two (2 hops)", "  Bob  ▂▄▆█ -60 dBm 12 ms",
            ])
    }

    @Test func aGuestSeesTheRelayThatItIsJoinedThroughWithItsSignal() {
        let one = Peer(id: "one00000", name: "One")
        let screen = Car.anasScreen(
            .snapshot(Car.snapshot(guests: [Car.ana, one]), isStale: false), .link(one, Self.link(-68, circuits: 1)),
            .link(Car.dad, Self.link(nil, hops: 2, via: one.id)))
        #expect(screen.panel()[0] == "Connected to \"Dad's Car\"  ▂▄▆· -68 dBm 72 ms through One (2 hops)")
    }

    @Test func toAGuestAHostIsOneHoweverManyWaysLeadToIt() {
        var screen = Screen(Car.description(.guest, Car.ana), .lines)
        func show(_ event: NodeEvent) -> [String] { screen.show(event, now: .zero) }
        #expect(show(.peerDiscovered(HeardNode(Car.dad, relay: "cafe", hops: 1, rssi: -60))).count == 1)
        #expect(show(.peerDiscovered(HeardNode(Car.dad, relay: "f00d", hops: 2, rssi: -70))) == [])
        #expect(show(.peerLost(Car.dad, via: "cafe")) == [])
        #expect(show(.peerLost(Car.dad, via: "f00d")) == ["\"Dad's Car\" is not heard through a relay any more."])
    }

    @Test func aScanGroupsRelaysUnderTheHostThatTheyLeadTo() {
        var screen = Screen(Car.description(.scan, Car.ana), .lines)
        let (car, quiz) = (Peer(id: "h0", name: "Dad's Car"), Peer(id: "h1", name: "Quiz Bus"))
        func show(_ event: NodeEvent) -> [String] { screen.show(event, now: .zero) }
        #expect(
            show(.peerDiscovered(HeardNode(car, relay: "f00d", hops: 1, rssi: -60, hasRoom: true)))
                == ["Heard \"Dad's Car\", through a relay (1 hop), -60 dBm."])
        #expect(
            show(.peerDiscovered(HeardNode(quiz, relay: "beef", hops: 2, hasRoom: false)))
                == ["Heard \"Quiz Bus\", through a relay (2 hops, no room)."])
        let van = Peer(id: "h2", name: "Mom's Van")
        #expect(
            show(.peerDiscovered(HeardNode(van, relay: nil, hops: 1, rssi: -70)))
                == ["Heard \"Mom's Van\", through a relay (1 hop), -70 dBm."]
        )
        _ = show(.peerLost(van))
        #expect(show(.peerDiscovered(HeardNode(car, rssi: -81))) == ["Heard \"Dad's Car\", -81 dBm."])
        _ = show(.peerDiscovered(HeardNode(car, relay: "cafe", hops: 1, rssi: -70, hasRoom: true)))
        #expect(show(.peerLost(car, via: "cafe")) == ["\"Dad's Car\" is not heard through a relay any more."])
        #expect(
            show(.bye(.quit)) == [
                "2 hosts are in range:", "  \"Dad's Car\", -81 dBm", "    through relay f00d (1 hop), -60 dBm",
                "  \"Quiz Bus\", through relays only", "    through relay beef (2 hops, no room)",
            ])
    }
}
