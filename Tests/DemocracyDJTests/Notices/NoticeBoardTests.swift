// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("The notices on the screen")
struct NoticeBoardTests {
    var board = NoticeBoard()

    static let off = Notice(.radioOff)
    static let lost = Notice(.connectionLost(host: Example.host))
    /// With their own codes, none of which the tests name.
    static let passing = [
        Notice(.notConnected), Notice(.tooManyPendingVotes), Notice(.nothingPlays), Notice(.nothingToPlay),
        Notice(.nothingToRetry), Notice(.searchTooLong), Notice(.emptyQueue),
    ]
    static let staying = [
        Notice(.storageFull), Notice(.storageReadOnly), Notice(.storageBusy), Notice(.storageVanished),
        Notice(.offline),
        Notice(.hostFull), Notice(.refused),
    ]
    static let typo = Notice(.badCommand("vot", expected: "vote ID"))
    static let otherTypo = Notice(.badCommand("wote", expected: "vote ID"))

    /// An event at a second, and the resulting actions.
    typealias Row = (at: Double, event: NoticeBoard.Event, actions: [NoticeBoard.Action])

    @Test(
        "each event causes its actions",
        arguments: [
            ("without an event nothing is shown", [(0, .tick, []), (0, .clear("radioUnavailable"), [])]),
            (
                "a temporary notice goes after five seconds",
                [(1, .tell(typo), [.show(typo)]), (5.9, .tick, []), (6, .tick, [.clear("badCommand")]), (7, .tick, [])]
            ),
            (
                "a repeated temporary notice stays five seconds more",
                [
                    (0, .tell(typo), [.show(typo)]), (4, .tell(otherTypo), [.show(otherTypo)]), (5, .tick, []),
                    (8, .tell(otherTypo), [.show(otherTypo)]), (12.9, .tick, []), (13, .tick, [.clear("badCommand")]),
                ]
            ),
            (
                "a critical notice stays until it is solved, and goes once",
                [
                    (0, .tell(off), [.show(off)]), (3_600, .tick, []),
                    (3_601, .clear("radioUnavailable"), [.clear("radioUnavailable")]),
                    (3_602, .clear("radioUnavailable"), []),
                ]
            ),
            (
                "a repeated critical notice is not shown twice",
                [(0, .tell(off), [.show(off)]), (1, .tell(off), [])]
            ),
            (
                "a notice replaces an earlier one with the same code",
                [
                    (0, .tell(off), [.show(off)]), (1, .tell(Notice(.noAdapter)), [.show(Notice(.noAdapter))]),
                    (2, .clear("radioUnavailable"), [.clear("radioUnavailable")]),
                ]
            ),
            (
                "a lost connection gets a retry button after ten seconds, once",
                [
                    (2, .tell(lost), [.show(lost)]), (11.9, .tick, []),
                    (12, .tick, lost.followedUp.map { [.show($0)] } ?? []), (13, .tick, []),
                    (14, .clear("connectionLost"), [.clear("connectionLost")]),
                ]
            ),
            (
                "a connection that is back within ten seconds gets no retry button",
                [
                    (0, .tell(lost), [.show(lost)]), (9, .clear("connectionLost"), [.clear("connectionLost")]),
                    (10, .tick, []),
                ]
            ),
            (
                "a lost connection that is reported twice does not show its button later",
                [
                    (0, .tell(lost), [.show(lost)]), (9, .tell(lost), []),
                    (10, .tick, lost.followedUp.map { [.show($0)] } ?? []),
                ]
            ),
            (
                "a connection that is lost again starts over",
                [
                    (0, .tell(lost), [.show(lost)]), (10, .tick, lost.followedUp.map { [.show($0)] } ?? []),
                    (11, .tell(lost), [.show(lost)]), (20.9, .tick, []),
                    (21, .tick, lost.followedUp.map { [.show($0)] } ?? []),
                ]
            ),
        ] as [(String, [Row])])
    func table(name: String, rows: [Row]) {
        var board = NoticeBoard()
        for row in rows {
            #expect(board.handle(row.event, now: .seconds(row.at)) == row.actions, "\(name), at \(row.at) s")
        }
    }

    @Test("a person who looks later sees the current notices, oldest first, with their text at that time")
    mutating func current() throws {
        _ = board.handle(.tell(Self.lost), now: .zero)
        _ = board.handle(.tell(Self.typo), now: .seconds(9))
        _ = board.handle(.tell(Self.off), now: .seconds(9))
        #expect(board.current == [Self.lost, Self.typo, Self.off])
        _ = board.handle(.tick, now: .seconds(20))
        #expect(board.current == [try #require(Self.lost.followedUp), Self.off])
    }

    @Test("the next tick is due when the next notice changes or disappears, and never if none does")
    mutating func deadline() {
        #expect(board.deadline == nil)
        _ = board.handle(.tell(Self.off), now: .zero)
        #expect(board.deadline == nil)
        _ = board.handle(.tell(Self.lost), now: .seconds(1))
        #expect(board.deadline == .seconds(11))
        _ = board.handle(.tell(Self.typo), now: .seconds(2))
        #expect(board.deadline == .seconds(7))
        _ = board.handle(.tick, now: .seconds(7))
        #expect(board.deadline == .seconds(11))
        _ = board.handle(.tick, now: .seconds(11))
        #expect(board.deadline == nil)
    }

    @Test("on a full board the oldest temporary notice is removed")
    mutating func full() {
        _ = board.handle(.tell(Self.off), now: .zero)
        for notice in Self.passing.prefix(DJLimits.notices - 1) { _ = board.handle(.tell(notice), now: .zero) }
        #expect(board.current.count == DJLimits.notices)
        #expect(board.handle(.tell(Self.typo), now: .zero) == [.clear(Self.passing[0].code), .show(Self.typo)])
        #expect(board.handle(.tell(Self.lost), now: .zero) == [.clear(Self.passing[1].code), .show(Self.lost)])
        #expect(board.current.first == Self.off)
        #expect(board.current.count == DJLimits.notices)
    }

    @Test("if all notices on the board are permanent, the oldest is removed, and a temporary one still gets a slot")
    mutating func crowded() {
        for notice in Self.staying.prefix(DJLimits.notices - 1) { _ = board.handle(.tell(notice), now: .zero) }
        #expect(board.handle(.tell(Self.typo), now: .zero) == [.show(Self.typo)])
        #expect(board.handle(.tell(Self.off), now: .zero) == [.clear(Self.staying[0].code), .show(Self.off)])
        #expect(
            board.handle(.tell(Self.passing[0]), now: .zero) == [.clear("badCommand"), .show(Self.passing[0])])
        #expect(board.current.count == DJLimits.notices)
    }
}
