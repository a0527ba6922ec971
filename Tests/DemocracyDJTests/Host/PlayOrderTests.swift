// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import DemocracyDJ

@Suite("The order in which songs play")
struct PlayOrderTests {
    private static let askers = ["host", "ana", "bob", "cat"]

    private func songs(_ count: Int, using dice: inout Dice) -> [QueuedSong] {
        (0..<count).map { number in
            let voters = RandomState.peers.prefix(dice.below(4)).map(\.id)
            let song = RandomState.songs[number]
            return QueuedSong(
                QueueItem(song: song, addedBy: dice.pick(Self.askers) ?? "host", voters: voters), added: number)
        }.shuffled(using: &dice)
    }

    @Test(
        "votes and the order of adding decide, except for a guest that has had its turn while others wait",
        arguments: [nil, 1, 2, 3] as [Int?])
    func properties(songsInARow: Int?) {
        var dice = Dice(seed: UInt64(songsInARow ?? 0))
        for _ in 0..<400 {
            let waiting = songs(dice.below(13), using: &dice)
            let played = (0..<dice.below(4)).compactMap { _ in dice.pick(Self.askers) }
            var order = PlayOrder(after: played, host: "host", songsInARow: songsInARow)
            let arranged = order.arrange(waiting)
            #expect(Set(arranged) == Set(waiting))
            #expect(arranged.count == waiting.count)
            let fault = OrderCheck(host: "host", songsInARow: songsInARow).fault(arranged, after: played)
            #expect(fault == nil, "after \(played): \(arranged.map { ($0.item.addedBy, $0.item.votes, $0.added) })")
        }
    }

    private func arranged(_ askers: [Peer.ID], after played: [Peer.ID] = []) -> [Int] {
        let songs = askers.enumerated().map {
            QueuedSong(QueueItem(song: RandomState.songs[$0], addedBy: $1), added: $0)
        }
        var order = PlayOrder(after: played, host: "host", songsInARow: 2)
        return order.arrange(songs).map(\.added)
    }

    @Test("two songs of one guest play in a row while another guest's wait")
    func turns() {
        #expect(arranged(["ana", "ana", "ana", "ana", "bob"]) == [0, 1, 4, 2, 3])
        #expect(arranged(["ana", "ana", "ana", "bob", "bob", "bob"]) == [0, 1, 3, 2, 4, 5])
    }

    @Test("the last played songs count")
    func justPlayed() {
        #expect(arranged(["ana", "bob"], after: ["ana", "ana"]) == [1, 0])
        #expect(arranged(["ana", "bob"], after: ["ana", "bob"]) == [0, 1])
    }

    @Test("all songs of the only guest play, since no other guest waits")
    func alone() {
        #expect(arranged(["ana", "ana", "ana", "ana", "host"]) == [0, 1, 2, 3, 4])
    }

    @Test("the host's songs belong to no guest's turn, and do not give way")
    func hostSongs() {
        #expect(arranged(["host", "host", "host", "ana"]) == [0, 1, 2, 3])
        #expect(arranged(["ana", "ana", "host", "ana", "bob"]) == [0, 1, 2, 3, 4])
    }

    @Test("votes come before turns: two favourites of one guest play first")
    func votes() {
        var order = PlayOrder(after: [], host: "host", songsInARow: 2)
        let songs = ["bob", "ana", "ana", "ana"].enumerated().map { place, asker in
            QueuedSong(
                QueueItem(song: RandomState.songs[place], addedBy: asker, voters: asker == "ana" ? ["x"] : []),
                added: place)
        }
        #expect(order.arrange(songs).map(\.added) == [1, 2, 0, 3])
    }
}
