// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import DemocracyDJ

@Suite("Songs that play without requests")
struct ShuffleTests {
    private static let songs = (0..<100).map {
        Song(id: "s\($0)", title: "Song \($0)", artist: "Artist \($0 / 10)", duration: 100)
    }

    private func played(_ count: Int, epoch: UInt32, shuffles: Bool = true) -> [Song.ID] {
        var host = HostFeature(
            local: Example.host, library: SongLibrary(Self.songs), opens: 0, shuffles: shuffles, epoch: epoch,
            now: .zero)
        return (0..<count).compactMap { _ in
            defer { _ = host.handle(.command(.skip), now: .zero) }
            return host.snapshot.nowPlaying?.id
        }
    }

    @Test("the order differs in each run, with every song once, and artists mixed")
    func shuffled() {
        let orders = (1...20).map { played(100, epoch: $0) }
        for order in orders { #expect(Set(order).count == 100) }
        #expect(Set(orders).count == 20)
        #expect(Set(orders.map { $0[0] }).count > 10, "the first song is not the same every morning")
        let artists = orders[0].prefix(20).compactMap { id in Self.songs.first { $0.id == id }?.artist }
        #expect(Set(artists).count > 5)
    }

    @Test(
        "a playlist's songs play, in random or their own order, and again when all were played",
        arguments: [true, false])
    func playlist(shuffles: Bool) {
        let listed = ["s7", "s93", "s12", "nowhere"]
        var host = HostFeature(
            local: Example.host, library: SongLibrary(Self.songs), opens: 0, shuffles: shuffles, playlist: listed,
            epoch: 5,
            now: .zero)
        var played: [Song.ID] = []
        for _ in 0..<6 {
            played.append(host.snapshot.nowPlaying?.id ?? "")
            _ = host.handle(.command(.skip), now: .zero)
        }
        #expect(Set(played) == ["s7", "s93", "s12"])
        #expect(Set(played.prefix(3)).count == 3)
        if !shuffles { #expect(played.prefix(3) == ["s7", "s93", "s12"]) }
        _ = host.handle(.playlist(["s50"]), now: .zero)
        _ = host.handle(.command(.skip), now: .zero)
        #expect(host.snapshot.nowPlaying?.id == "s50")
    }

    @Test("the library's order is used if it is wanted")
    func listed() {
        #expect(played(5, epoch: 3, shuffles: false) == ["s0", "s1", "s2", "s3", "s4"])
    }
}
