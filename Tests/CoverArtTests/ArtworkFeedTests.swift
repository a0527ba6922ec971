// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import CoverArt

@Suite("Cover art of the next songs")
struct ArtworkFeedTests {
    private func song(_ id: String, _ url: String? = nil) -> Song {
        Song(id: id, title: "T", artist: "A", duration: 1, albumArtURL: url)
    }

    /// Actions as words, since errors cannot be compared.
    private func words(_ actions: [ArtworkFeed.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .load(let url): "load \(url)"
            case .show(let id, let path): "show \(id) \(path)"
            case .fails(let error, isExpected: false): "tell \(error.caseName)"
            case .fails(let error, isExpected: true): "expect \(error.caseName)"
            case .recovered(let error): "over \(error.caseName)"
            }
        }
    }

    private func handle(_ feed: inout ArtworkFeed, _ event: ArtworkFeed.Event, at seconds: Int = 0) -> [String] {
        words(feed.handle(event, now: .seconds(seconds)))
    }

    @Test("the pictures of the current song and the next five are loaded, each once, and shown when they arrive")
    func prefetch() {
        var feed = ArtworkFeed()
        let songs = (0..<8).map { song("s\($0)", "u\($0)") }
        #expect(handle(&feed, .songs(songs)) == (0..<6).map { "load u\($0)" })
        #expect(handle(&feed, .songs(songs)) == [])
        #expect(handle(&feed, .loaded(url: "u0", path: "p")) == ["show s0 p"])
        #expect(handle(&feed, .songs(songs)) == [])
        #expect(handle(&feed, .songs(Array(songs.dropFirst()))) == ["load u6"])
    }

    @Test("two songs of one album share a picture, and a song without a URL has none")
    func shared() {
        var feed = ArtworkFeed()
        #expect(handle(&feed, .songs([song("a", "u"), song("b", "u"), song("c")])) == ["load u"])
        #expect(handle(&feed, .loaded(url: "u", path: "p")) == ["show a p", "show b p"])
    }

    @Test("the picture of a song that is gone is not shown")
    func gone() {
        var feed = ArtworkFeed()
        _ = handle(&feed, .songs([song("a", "u")]))
        _ = handle(&feed, .songs([song("b")]))
        #expect(handle(&feed, .loaded(url: "u", path: "p")) == [])
        #expect(handle(&feed, .failed(url: "u", .noData)) == [])
    }

    @Test("a failure is reported once, and requested again after a pause; another cause replaces it")
    func told() {
        var feed = ArtworkFeed()
        _ = handle(&feed, .songs([song("a", "u")]))
        #expect(handle(&feed, .failed(url: "u", .noData)) == ["tell noData"])
        #expect(feed.deadline == .seconds(15))
        #expect(handle(&feed, .tick, at: 14) == [])
        #expect(handle(&feed, .tick, at: 15) == ["load u"])
        #expect(feed.deadline == nil)
        #expect(handle(&feed, .failed(url: "u", .noData), at: 16) == [])
        _ = handle(&feed, .tick, at: 31)
        #expect(
            handle(&feed, .failed(url: "u", .serverMaintenance), at: 32) == ["over noData", "tell serverMaintenance"])
    }

    @Test("pictures that fail for one cause are reported once, until the last of them has arrived or is gone")
    func oneCause() {
        var feed = ArtworkFeed()
        let songs = (0..<5).map { song("s\($0)", "u\($0)") }
        _ = handle(&feed, .songs(songs))
        let told = (0..<5).map { handle(&feed, .failed(url: "u\($0)", .serverMaintenance)) }
        #expect(told == [["tell serverMaintenance"], [], [], [], []])
        #expect(handle(&feed, .tick, at: 15) == (0..<5).map { "load u\($0)" })
        #expect(handle(&feed, .loaded(url: "u0", path: "p"), at: 16) == ["show s0 p"], "four still fail")
        #expect(handle(&feed, .songs(Array(songs.prefix(2))), at: 17) == [])
        #expect(handle(&feed, .songs(Array(songs.prefix(1))), at: 18) == ["over serverMaintenance"])
        // This is another time, and its server's notice is shown until it is over.
        #expect(handle(&feed, .songs(Array(songs.prefix(2))), at: 19) == ["load u1"])
        #expect(handle(&feed, .failed(url: "u1", .serverMaintenance), at: 20) == ["tell serverMaintenance"])
        _ = handle(&feed, .tick, at: 35)
        #expect(handle(&feed, .loaded(url: "u1", path: "q"), at: 36) == ["show s1 q", "over serverMaintenance"])
    }

    @Test("a person who retries gets the result at once, even without Internet")
    func askedFor() {
        var feed = ArtworkFeed()
        _ = handle(&feed, .songs([song("a", "u")]))
        #expect(handle(&feed, .failed(url: "u", .rateLimited)) == ["tell rateLimited"])
        #expect(handle(&feed, .retry, at: 1) == ["load u"])
        #expect(handle(&feed, .failed(url: "u", .offline), at: 2) == ["over rateLimited", "tell offline"])
        // An automatic attempt is not reported again.
        #expect(handle(&feed, .tick, at: 20) == ["load u"])
        #expect(handle(&feed, .failed(url: "u", .offline), at: 21) == [])
        #expect(handle(&feed, .retry, at: 22) == ["load u"])
        #expect(handle(&feed, .failed(url: "u", .offline), at: 23) == ["tell offline"], "asked again, told again")
    }

    @Test("being offline is reported only to a person who has asked, and a later failure is reported")
    func offline() {
        var feed = ArtworkFeed()
        _ = handle(&feed, .songs([song("a", "u")]))
        #expect(handle(&feed, .failed(url: "u", .offline)) == ["expect offline"])
        _ = handle(&feed, .tick, at: 15)
        #expect(handle(&feed, .failed(url: "u", .rateLimited), at: 16) == ["over offline", "tell rateLimited"])
    }

    @Test("a shown failure is remembered for a drive, and not forever")
    func boundedMemory() {
        var limits = ArtworkLimits()
        limits.toldFailures = 2
        var feed = ArtworkFeed(limits: limits)
        for name in ["u", "v", "w", "u"] {
            _ = handle(&feed, .songs([song("a", name)]))
            #expect(handle(&feed, .failed(url: name, .noData)) == ["tell noData"])
        }
        _ = handle(&feed, .songs([song("a", "w")]))
        #expect(handle(&feed, .failed(url: "w", .noData)) == ["expect noData"])
    }
}
