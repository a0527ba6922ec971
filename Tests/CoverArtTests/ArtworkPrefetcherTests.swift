// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import TestSupport
import Testing

@testable import CoverArt

@Suite("Cover art at hand")
struct ArtworkPrefetcherTests {
    private func song(_ id: String, _ url: String) -> Song {
        Song(id: id, title: "T", artist: "A", duration: 1, albumArtURL: url)
    }

    @Test("a host has the pictures of its songs, hears once of one that cannot be had, and nothing of being offline")
    func prefetches() async throws {
        let server = try await PictureServer(["/a": .ok(), "/c": .ok()])
        let prefetcher = ArtworkPrefetcher(loader: ArtworkLoader(cache: newFolder()))
        let output = EventQueue(prefetcher.output)
        let songs = [
            song("off", "http://224.0.0.1/"), song("a", server.url("/a")), song("b", server.url("/b")),
            song("c", server.url("/c")),
        ]
        await prefetcher.show(songs)
        await prefetcher.show(songs)
        var words: Set<String> = []
        for _ in 0..<3 {
            words.insert(
                try await output.first { event in
                    switch event {
                    case .artwork(let song, _): song
                    case .failed(let error, _): error.caseName
                    }
                })
        }
        #expect(words == ["a", "c", "httpError(statusCode: 404)"])
        await prefetcher.shutdown()
        await #expect(throws: EventQueue<ArtworkPrefetcher.Output>.Ended.self) { try await output.first { $0 } }
        try await server.close()
    }

    @Test("a host that ends waits for no picture")
    func ends() async throws {
        let server = try await PictureServer(["/a": .silence])
        let prefetcher = ArtworkPrefetcher(loader: ArtworkLoader(cache: newFolder()))
        let output = EventQueue(prefetcher.output)
        await prefetcher.show([song("a", server.url("/a"))])
        try await server.request("/a")
        await prefetcher.shutdown()
        await output.end()
        _ = try await server.events.first { $0 == .connectionClosed ? true : nil }
        try await server.close()
    }
}
