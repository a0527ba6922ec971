// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("Covers between two nodes")
struct CoverOverAirTests {
    private func picture() throws -> SmallCover {
        try #require(SmallCover((0..<5_000).map { UInt8(truncatingIfNeeded: $0) }, version: 3))
    }

    private func made(_ actions: [NodeCore.Action]) -> [Song.ID] {
        actions.compactMap { if case .makeCover(let songID) = $0 { songID } else { nil } }
    }

    private func kept(_ actions: [NodeCore.Action]) -> [Song.ID: [UInt8]] {
        let all = actions.compactMap { if case .keepCover(let songID, let bytes) = $0 { (songID, bytes) } else { nil } }
        return Dictionary(all) { $1 }
    }

    @Test("a guest with a page gets the covers of its songs, and one without gets none", arguments: [true, false])
    func withPage(hasPage: Bool) throws {
        var pair = try PairOfCores(songs: 9)
        if hasPage { pair.showPage(of: .guest) }
        pair.meet()
        var given = 0
        for _ in 0..<40 {
            let asked = made(pair.performed[0])
            for songID in asked.dropFirst(given) { pair.feed(.coverMade(songID, try picture()), to: .host) }
            given = asked.count
            pair.pass(.milliseconds(250))
        }
        let kept = kept(pair.performed[1])
        #expect(kept.count == (hasPage ? DJLimits.coveredSongs : 0))
        #expect(try kept.values.allSatisfy { try $0 == picture().bytes })
        #expect(Array(made(pair.performed[0]).prefix(1)) == (hasPage ? ["s1"] : []), "what plays comes first")
    }

    @Test("a vote that waits for its answer pauses the covers, and they continue after it")
    func vote() throws {
        var pair = try PairOfCores(songs: 9)
        pair.showPage(of: .guest)
        pair.meet()
        pair.feed(.coverMade("s1", try picture()), to: .host)
        pair.disks[0] = .hangs
        pair.feed(.input(.guest(.vote("s3"))), to: .guest)
        pair.pass(.seconds(3))
        let before = kept(pair.performed[1]).count
        let songs = made(pair.performed[0]).count
        for songID in made(pair.performed[0]) { pair.feed(.coverMade(songID, try picture()), to: .host) }
        pair.pass(.seconds(2))
        #expect(kept(pair.performed[1]).count <= before + 1 && made(pair.performed[0]).count <= songs + 1)
        pair.goOn(.host)
        pair.pass(.seconds(1))
        #expect(made(pair.performed[0]).count > songs)
    }
}
