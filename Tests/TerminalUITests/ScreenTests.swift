// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol
import Testing

@testable import TerminalUI

@Suite("What people see on a terminal")
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
                "Now playing: Open Road – The Milestones  0:00 / 3:34 · 1 wants to skip it",
                "Guests: Ana, Bob",
                " 1. Road Trip – Night Drivers  2 votes (yours too)",
                " 2. Rest Stop – Paper Maps  1 vote (yours) · Bob asked",
                " 3. Road – Coastline  you asked",
            ])
    }

    @Test(
        "bars say how strong a signal is, where the radio knows",
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
        "a wish to skip is told from the others'",
        arguments: [
            (["ana"], "you want to skip it"), (["bob"], "1 wants to skip it"),
            (["bob", "ana"], "2 want to skip it, you too"), (["bob", "dee"], "2 want to skip it"),
        ])
    func skips(voters: [String], words: String) {
        let screen = Car.anasScreen(.snapshot(Car.snapshot { $0.skipVoters = voters }, isStale: false))
        let wide = screen.panel(TerminalSize(columns: 100, rows: 24))
        #expect(wide[1] == "Now playing: Open Road – The Milestones  0:00 / 3:34 · \(words)")
    }

    @Test func aHostSeesTheLinkToEachGuest() {
        var screen = Screen(Car.description(.host, Car.dad), .abovePanel)
        _ = screen.show(.snapshot(Car.snapshot(guests: [Car.ana, Car.bob]), isStale: false), now: .zero)
        _ = screen.show(.link(Car.ana, LinkReport(rssi: -55, roundTrip: .milliseconds(30))), now: .zero)
        #expect(screen.panel()[2] == "Guests: Ana ▂▄▆█ -55 dBm 30 ms · Bob")
        _ = screen.show(.peerDisconnected(Car.ana, .linkLost), now: .zero)
        #expect(screen.panel()[2] == "Guests: Ana · Bob")
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

    @Test func whatWasKnownBeforeThisRunIsStaleFromTheStart() {
        var screen = Screen(Car.description(.guest, Car.ana), .abovePanel)
        _ = screen.show(.snapshot(Car.snapshot(), isStale: true), now: .zero)
        #expect(screen.panel(now: .seconds(5))[0] == "Looking for a host; the queue is stale")
    }

    @Test func aWishIsMarkedInTheQueueUntilTheHostHasAnswered() {
        var screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        _ = screen.show(.wish("s2", .vote, .queued), now: .zero)
        #expect(screen.panel()[3] == " 1. Road Trip – Night Drivers  your vote is kept")
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

    @Test func aSuggestionIsShownBelowTheQueueUntilItIsInIt() {
        var screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        _ = screen.show(
            .searchResults([Song(id: "x", title: "Motel", artist: "B", duration: 1)], query: "mo"), now: .zero)
        _ = screen.show(.wish("x", .suggest, .queued), now: .zero)
        #expect(screen.panel().last == " –  \"Motel\"  your suggestion is kept")
        _ = screen.show(.wish("x", .suggest, .rejected(.queueFull)), now: .zero)
        #expect(screen.panel().last == " 3. Road – Coastline")
    }

    @Test func aNoticeIsSaidWithWhatToDoAndTheCommandThatDoesIt() throws {
        var screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        let lost = Notice(.connectionLost(host: Car.dad))
        #expect(
            screen.show(.notice(lost), now: .zero) == [
                "! Connection to Dad's Car lost. Trying to reconnect. You see the last known queue, and what you vote is sent "
                    + "when the connection is back."
            ])
        #expect(screen.panel()[1] == "! Connection to Dad's Car lost. Trying to reconnect.")
        let later = try #require(lost.followedUp)
        #expect(screen.show(.notice(later), now: .zero)[0].hasSuffix("[retry]"))
        #expect(screen.panel()[1] == "! Dad's Car is still out of reach. [retry]")
        _ = screen.show(.noticeCleared(code: "connectionLost"), now: .zero)
        #expect(!screen.panel()[1].hasPrefix("!"))
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
            + plain.show(.searchResults(songs, query: "x"), now: .zero)
        for line in panel + said { #expect(line == UntrustedText.shown(line)) }
        #expect(panel.last == " 1. Ro[2Jad31mpirTx – Ro[2Jad31mpirTx  Ro[2Jad31mpirTx asked")
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
        let screen = Car.anasScreen(.snapshot(Car.snapshot(songs), isStale: false))
        #expect(
            screen.take("queue") == [.say(["Now playing: Mile 0 – M"] + (1...40).map { "  \($0). Mile \($0) – M" })])
        #expect(Car.anasScreen().take("queue") == [.say(["No queue is known yet."])])
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

    @Test func whatATypedLineIsAboutIsShownAndNotSent() {
        let screen = Car.anasScreen(.snapshot(Car.snapshot(), isStale: false))
        #expect(screen.take("help leave") == [.say(["  leave  leaves the host and stays alone, until retry"])])
        #expect(screen.take("vote road t\t") == [.say(["  vote Road Trip"])])
        #expect(screen.take("vote x\t") == [.say(["Nothing begins so."])])
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
        let hint = "The queue is empty. Type search and a word of a title, then suggest 1."
        #expect(Car.anasScreen(nothing).panel().last == hint)
        #expect(
            Car.anasScreen(nothing).take("queue").contains(.say(["Now playing: Open Road – The Milestones", hint])))
        var host = Screen(Car.description(.host, Car.dad), .abovePanel)
        _ = host.show(nothing, now: .zero)
        #expect(host.panel().last == "The queue is empty. Type search and a word of a title, then add 1.")
    }

    @Test func aNarrowWindowKeepsTheTitle() {
        let screen = Car.anasScreen(
            .snapshot(Car.snapshot { $0.queue[0].voters = ["bob", "ana"] }, isStale: false),
            .wish("s2", .takeBack, .sent))
        for line in screen.panel(TerminalSize(columns: 34, rows: 24)).suffix(3) {
            #expect(["Road Trip", "Rest Stop", "Road"].contains { line.contains($0) }, "\(line)")
        }
        #expect(screen.panel(TerminalSize(columns: 34, rows: 24))[1].hasPrefix("Now playing: Open Ro"))
    }
    @Test(arguments: [(0, "0 hosts are in reach."), (1, "1 host is in reach."), (2, "2 hosts are in reach.")])
    func aScanEndsWithHowManyHostsThereAre(count: Int, sentence: String) {
        var screen = Screen(Car.description(.scan, Car.ana), .lines)
        for number in 0..<count {
            _ = screen.show(
                .peerDiscovered(Peer(id: "h\(number)", name: "Car \(number)"), rssi: nil, hops: 0), now: .zero)
        }
        #expect(screen.show(.bye(.quit), now: .zero) == [sentence])
    }
}
