// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore
import Testing

@testable import TerminalUI

@Suite("The line that confirms a command")
struct ConfirmationTests {
    private static func screen(_ role: NodeDescription.Role, _ language: Language = .english) -> Screen {
        let peer = role == .host ? Car.dad : Car.ana
        var screen = Screen(Car.description(role, peer), .abovePanel, library: Car.songs, language: language)
        if role == .guest { _ = screen.show(.peerConnected(Car.dad), now: .zero) }
        _ = screen.show(.snapshot(Car.snapshot(guests: [Car.ana, Car.bob]), isStale: false), now: .zero)
        _ = screen.show(.bans([ShownBan(peer: Car.bob, until: nil, session: true)], isAnswer: false), now: .zero)
        return screen
    }

    /// What is said of an input, if it leads to these events.
    private static func said(
        _ input: NodeInput, _ role: NodeDescription.Role, _ events: [NodeEvent] = [], before: [NodeEvent] = [],
        language: Language = .english
    ) -> [String] {
        var screen = screen(role, language)
        for event in before { _ = screen.show(event, now: .zero) }
        let confirmation = Confirmation(input, screen)
        for event in events { _ = screen.show(event, now: .zero) }
        return confirmation.lines(events, screen, now: .zero)
    }

    private static func steering(_ undo: Steering.Undo?) -> NodeEvent { .steering(Steering(undo: undo)) }

    private static let cases: [(NodeInput, NodeDescription.Role, events: [NodeEvent], before: [NodeEvent], String)] = [
        (.host(.pause), .host, [], [], "Now playing: Open Road – The Milestones  0:00 / 3:34"),
        (.host(.add("s2")), .host, [], [], "\"Road Trip\" is in the queue, at place 1."),
        (.host(.add("s1")), .host, [], [], "\"Open Road\" plays."),
        (.host(.unpin("s4")), .host, [], [], "Votes decide the place of \"Road\" again."),
        (.host(.volume(40)), .host, [.steering(Steering(volume: 40, ducked: 0))], [], "The volume is 40 %."),
        (
            .host(.duck(20)), .host, [.steering(Steering(volume: 40, ducked: 20))], [],
            "The music is 20 dB quieter, until duck off."
        ),
        (.host(.duck(0)), .host, [.steering(Steering(volume: 40, ducked: 0))], [], "The music is as loud as before."),
        (.host(.shuffle(true)), .host, [], [], "Songs play in a random order while the queue is empty."),
        (.host(.shuffle(false)), .host, [], [], "Songs play in their order while the queue is empty."),
        (.host(.undo), .host, [], [steering(.remove(title: "Road"))], "\"Road\" is back in the queue."),
        (.host(.undo), .host, [], [steering(.clear)], "The queue is filled again."),
        (.host(.undo), .host, [], [steering(.move(title: "Road"))], "\"Road\" is back at its place."),
        (.host(.undo), .host, [], [steering(.kick(name: "Bob"))], "Bob may join again."),
        (.unban("Bob"), .host, [.bans([], isAnswer: true)], [], "Bob may join again."),
        (.retry, .host, [], [], "Trying again."),
        (.leave, .guest, [], [], "You have left Dad's Car. Type retry to look for it again."),
        (.join("Van"), .guest, [], [], "Looking for Van."),
        (.guest(.vote("s2")), .guest, [], [], "You have voted for \"Road Trip\" already."),
        (.guest(.takeBackVote("s2")), .guest, [], [], "You have no vote for \"Road Trip\"."),
        (.guest(.suggest("s2")), .guest, [], [], "You have asked for \"Road Trip\" already."),
        (.guest(.steer(.skip(songID: "s1"))), .guest, [], [], "The host is asked to skip the song."),
        (.guest(.steer(.remove(songID: "s2"))), .guest, [], [], "The host is asked to remove \"Road Trip\"."),
        (
            .guest(.steer(.move(songID: "s2", to: 1))), .guest, [], [],
            "The host is asked to put \"Road Trip\" at place 2."
        ),
        (.guest(.steer(.kick("bob"))), .guest, [], [], "The host is asked to kick Bob."),
        (.retry, .guest, [.noticeCleared(code: "hostEnded")], [], "The message is dismissed."),
    ]

    @Test("a command without a line of its own is confirmed", arguments: cases.indices)
    func confirmed(index: Int) {
        let (input, role, events, before, line) = Self.cases[index]
        #expect(Self.said(input, role, events, before: before) == [line])
    }

    @Test("every confirmation is in the person's language", arguments: cases.indices)
    func languages(index: Int) {
        let (input, role, events, before, line) = Self.cases[index]
        for language in Language.allCases where language != .english {
            let said = Self.said(input, role, events, before: before, language: language)
            #expect(said.count == 1 && said != [line] && !said[0].contains("{"), "\(language) lacks: \(line)")
        }
    }

    @Test("a command that a notice answers is not confirmed as well")
    func answered() {
        let notice = NodeEvent.notice(Notice(.nothingToUndo))
        #expect(Self.said(.host(.undo), .host, [notice], before: [Self.steering(.clear)]) == [])
        #expect(Self.said(.retry, .host, [.notice(Notice(.nothingToRetry))]) == [])
        // A notice that has nothing to do with it.
        let other = NodeEvent.notice(Notice(.noSound))
        #expect(
            Self.said(.host(.volume(40)), .host, [other, .steering(Steering(volume: 40))]) == ["The volume is 40 %."])
    }

    @Test("a title and a name from another device cannot control the terminal")
    func untrusted() {
        let title = "Ro\u{1B}[2Jad"
        #expect(
            Self.said(.host(.undo), .host, before: [Self.steering(.remove(title: title))]) == [
                "\"Ro[2Jad\" is back in the queue."
            ])
    }
}
