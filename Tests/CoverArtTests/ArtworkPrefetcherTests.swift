// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import TestSupport
import Testing

@testable import CoverArt

@Suite("Covers in advance")
struct ArtworkPrefetcherTests {
    private func song(_ id: String, _ url: String) -> Song {
        Song(id: id, title: "T", artist: "A", duration: 1, albumArtURL: url)
    }

    /// An output as a word, since errors cannot be compared.
    private func word(_ output: ArtworkPrefetcher.Output) -> String {
        switch output {
        case .artwork(let song, _): song
        case .failed(let error, let isExpected): (isExpected ? "expected " : "") + error.caseName
        case .recovered(let error): "over \(error.caseName)"
        }
    }

    @Test("a host has the pictures of its songs, and gets one report of a failure, with being offline as expected")
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
        for _ in 0..<4 {
            words.insert(try await output.first { word($0) })
        }
        #expect(words == ["a", "c", "httpError(statusCode: 404)", "expected offline"])
        await prefetcher.shutdown()
        await #expect(throws: EventQueue<ArtworkPrefetcher.Output>.Ended.self) { try await output.first { $0 } }
        try await server.close()
    }

    @Test("Try Again asks a server at once that wanted an hour's pause, and the notice about it ends")
    func triesAgain() async throws {
        let server = try await PictureServer(["/a": .status(503, fields: "Retry-After: 3600\r\n")])
        let prefetcher = ArtworkPrefetcher(loader: ArtworkLoader(cache: newFolder()))
        let output = EventQueue(prefetcher.output)
        await prefetcher.show([song("a", server.url("/a"))])
        #expect(try await output.first { word($0) } == "serverMaintenance")
        server.change("/a", to: .ok())
        await prefetcher.retry()
        #expect(try await output.first { word($0) } == "a", "and not the old failure once more")
        #expect(try await output.first { word($0) } == "over serverMaintenance")
        await prefetcher.shutdown()
        #expect(try await server.requests("/a") == 2)
    }

    @Test("a host that ends does not wait for pictures")
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
