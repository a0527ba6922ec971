// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import DemocracyDJTesting
import MeshProtocol
import Testing

@Suite("A guest's requests on a link: searches, and the full state")
struct RequestTests {
    private var guest = GuestFeature(local: Example.ana)

    init() {
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        _ = receive(.stateUpdate(Example.snapshot(5)))
    }

    private mutating func receive(_ message: MeshMessage) -> [GuestFeature.Effect] {
        guest.handle(.multipeerEvent(.messageReceived(message, from: Example.host)))
    }

    private func asked(_ message: MeshMessage) -> [GuestFeature.Effect] { [.request(message, from: Example.host.id)] }

    // MARK: Searches

    @Test("a search is sent to the host, and its results are shown with its words")
    func search() async {
        let store = TestStore(guest)
        await store.send(
            .search("song 3"), effects: asked(.search(SearchRequest(number: 1, words: "song 3")))
        ) {
            $0.search = search(1, "song 3", isOpen: true)
        }
        let results = SearchResults(number: 1, songs: [Example.songs[2]])
        await store.send(
            .multipeerEvent(.messageReceived(.searchResults(results), from: Example.host)),
            effects: [.showResults(results.found, for: "song 3")]
        ) {
            $0.search = search(1, "song 3", isOpen: false)
            $0.search?.found = results.songs
        }
        // The same results again change nothing.
        await store.send(.multipeerEvent(.messageReceived(.searchResults(results), from: Example.host)))
    }

    private func search(_ number: UInt32, _ words: String, isOpen: Bool) -> GuestFeature.Search? {
        var other = guest
        var search: GuestFeature.Search?
        for _ in 0..<number {
            _ = other.handle(.search(SongQuery(words)))
            search = other.state.search
        }
        search?.isOpen = isOpen
        return search
    }

    @Test("the answer to an earlier search is not shown as that to a later one")
    mutating func earlierAnswer() {
        _ = guest.handle(.search("one"))
        _ = guest.handle(.search("two"))
        #expect(receive(.searchResults(SearchResults(number: 1, songs: []))) == [])
        let refused = SearchResults(number: 2, songs: [], refused: .tooFast)
        #expect(receive(.searchResults(refused)) == [.notice(Notice(.searchRefused("two", .tooFast)))])
        #expect(receive(.searchResults(SearchResults(number: 2, songs: []))) == [])
        _ = guest.handle(.search("two"))
        #expect(receive(.searchResults(SearchResults(number: 3, songs: []))) == [.showResults([], for: "two")])
    }

    @Test("a search without a host, or longer than any title, is reported as such")
    mutating func impossible() {
        let long = String(repeating: "x", count: DJLimits.searchBytes)
        #expect(guest.handle(.search(SongQuery(long))).count == 1)
        #expect(guest.handle(.search(SongQuery(long + "x"))) == [.notice(Notice(.searchTooLong))])
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        #expect(guest.handle(.search("one")) == [.notice(Notice(.notConnected))])
    }

    @Test("a search ends with its link: an answer on the next one is not shown")
    mutating func newLink() {
        _ = guest.handle(.search("one"))
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        #expect(receive(.searchResults(SearchResults(number: 1, songs: []))) == [])
    }

    // MARK: Heartbeats

    @Test("a guest that missed a change without notice requests the full state at the next heartbeat, once")
    mutating func missed() {
        #expect(receive(.stateHeartbeat(epoch: 1, revision: 5)) == [], "it has that one")
        #expect(receive(.stateHeartbeat(epoch: 1, revision: 6)) == asked(.stateRequest))
        #expect(receive(.stateHeartbeat(epoch: 1, revision: 6)) == [])
        let whole = Example.snapshot(6)
        #expect(receive(.stateUpdate(whole)) == [.show(whole)])
        #expect(receive(.stateHeartbeat(epoch: 1, revision: 6)) == [])
        #expect(receive(.stateHeartbeat(epoch: 2, revision: 6)) == asked(.stateRequest), "another run of the host")
    }

    @Test("before the first state on a link, a heartbeat causes no request: the full state is in transit")
    mutating func beforeTheFirst() {
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
        #expect(receive(.stateHeartbeat(epoch: 1, revision: 6)) == [])
    }

    @Test("a search request includes the state, and a state request the search")
    mutating func oneRequest() {
        _ = receive(.stateHeartbeat(epoch: 1, revision: 6))
        #expect(
            guest.handle(.search("one")) == asked(.search(SearchRequest(number: 1, words: "one", asksForState: true))))
        _ = receive(.stateUpdate(Example.snapshot(6)))
        #expect(
            receive(.stateHeartbeat(epoch: 1, revision: 7))
                == asked(.search(SearchRequest(number: 1, words: "one", asksForState: true))))
    }

    @Test("a host's heartbeat comes every five seconds, whatever plays")
    func everyFiveSeconds() async {
        let store = TestStore(Example.hostFeature())
        for beat in 1...3 {
            await store.advance(by: .seconds(5))
            await store.send(.tick, effects: [.heartbeat]) { $0.nextHeartbeat = .seconds(5 * (beat + 1)) }
        }
        await store.advance(by: .seconds(4))
        await store.send(.tick)
    }

    // MARK: Skipping

    @Test("a skip names the current song; without a host or a song nothing can be skipped")
    mutating func skip() {
        #expect(guest.handle(.skip) == [.send(.skip(songID: "s1"), to: Example.host.id)])
        #expect(
            receive(.rejection(.skip(songID: "s1"), .notPlaying)) == [.notice(Notice(.cannotAdd("s1", .notPlaying)))])
        #expect(
            receive(.rejection(.skip(songID: "s1"), .skippingNotAllowed))
                == [.notice(Notice(.cannotAdd("s1", .skippingNotAllowed)))]
        )
        var silent = Example.snapshot(6)
        silent.nowPlaying = nil
        _ = receive(.stateUpdate(silent))
        #expect(guest.handle(.skip) == [.notice(Notice(.nothingPlays))])
        _ = guest.handle(.multipeerEvent(.peerDisconnected(Example.host)))
        #expect(guest.handle(.skip) == [.notice(Notice(.notConnected))])
    }
}
