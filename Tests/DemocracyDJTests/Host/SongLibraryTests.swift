// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("The songs of a host")
struct SongLibraryTests {
    private let library = SongLibrary([
        Song(id: "1", title: "Blå himmel", artist: "The Roads", duration: 100),
        Song(id: "2", title: "Road Song", artist: "Ana", duration: 100),
        Song(id: "3", title: "Nowhere", artist: "Road Trip", duration: 100),
    ])

    private func found(_ words: String, atMost limit: Int = 20) -> [Song.ID] {
        library.songs(matching: words, atMost: limit).map(\.id)
    }

    @Test(
        "a search finds songs with all its words in title or artist, in any case and order",
        arguments: [
            ("road", ["1", "2", "3"]), ("ROAD", ["1", "2", "3"]), ("song ana", ["2"]), ("ana song", ["2"]),
            ("blå", ["1"]), ("BLÅ roads", ["1"]), ("  road \t trip ", ["3"]), ("road nothing", []), ("", []),
            ("  ", []),
        ] as [(String, [Song.ID])])
    func search(words: String, songs: [Song.ID]) {
        #expect(found(words) == songs)
    }

    @Test("a search finds a limited number of songs, the first ones of the library")
    func limit() {
        #expect(found("road", atMost: 2) == ["1", "2"])
    }

    @Test("a host performs a search without another change, and its results fit one message")
    func answer() {
        let songs = (0..<100).map { Song(id: "\($0)", title: "Road \($0)", artist: "", duration: 1) }
        var host = HostFeature(local: Example.host, library: SongLibrary(songs), epoch: 1, now: .zero)
        let before = host.snapshot
        let request = SearchRequest(number: 7, words: "road")
        #expect(
            host.handle(.multipeerEvent(.messageReceived(.search(request), from: Example.ana)), now: .zero) == [
                .search(request, for: Example.ana.id)
            ])
        #expect(host.snapshot == before)
        let results = SearchResults(
            number: 7, songs: host.library.songs(matching: "road", atMost: DJLimits.searchResults))
        #expect(results.songs.count == DJLimits.searchResults)
        #expect(MeshMessage(encoded: MeshMessage.searchResults(results).encoded) == .searchResults(results))
    }

    @Test("a guest that waits for the full state gets it before its search results")
    func stateFirst() {
        var host = Example.hostFeature()
        let request = SearchRequest(number: 1, words: "song 3", asksForState: true)
        #expect(
            host.handle(.multipeerEvent(.messageReceived(.search(request), from: Example.ana)), now: .zero) == [
                .send(host.snapshot, to: Example.ana.id),
                .search(request, for: Example.ana.id),
            ])
    }

    @Test(
        "a guest that searches constantly gets a few answers a second and the reason, and others are not affected"
    )
    func flood() {
        var host = Example.hostFeature()
        func answers(to guest: Peer, at now: MeshInstant) -> Int {
            let request = SearchRequest(number: 1, words: "song")
            let message = MeshMessage.search(request)
            let effects = host.handle(.multipeerEvent(.messageReceived(message, from: guest)), now: now)
            let refused = SearchResults(number: 1, songs: [], refused: .tooFast)
            #expect(effects == [.search(request, for: guest.id)] || effects == [.refuseSearch(refused, guest.id)])
            return effects.count { if case .search = $0 { true } else { false } }
        }
        let flood = (0..<500).map { answers(to: Example.ana, at: .milliseconds(2 * $0)) }.reduce(0, +)
        #expect(flood <= DJLimits.searchBurst + DJLimits.searchesPerSecond)
        #expect(answers(to: Example.bob, at: .seconds(1)) == 1)
        #expect(answers(to: Example.ana, at: .seconds(5)) == 1)
    }

    @Test("songs without a length do not keep a host busy: each takes a second")
    func noLength() {
        let songs = ["a", "b"].map { Song(id: $0, title: "", artist: "", duration: 0) }
        var host = HostFeature(local: Example.host, library: SongLibrary(songs), epoch: 1, now: .zero)
        for second in 1...4 {
            #expect(host.deadline == .seconds(second))
            _ = host.handle(.tick, now: .seconds(second))
        }
    }
}
