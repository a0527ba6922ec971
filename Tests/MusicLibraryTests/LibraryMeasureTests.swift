// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import TestSupport
import Testing

@testable import MusicLibrary

/// The cost of ten thousand songs: `ROADMESH_MEASURE=1` prints it. The files are 100 MB in the folder of temporary
/// files.
private let isMeasured = ProcessInfo.processInfo.environment["ROADMESH_MEASURE"] != nil

@Suite("Measuring the music library", .serialized, .enabled(if: isMeasured))
struct LibraryMeasureTests {
    private static let words = [
        "open", "road", "tunnel", "lights", "rest", "stop", "serenade", "windows", "down", "mountain", "pass", "last",
        "exit", "home", "über", "nacht", "été", "ciel", "rainy", "señor",
    ]

    private static func text(_ number: Int) -> String {
        [number % 20, number / 20 % 20, number / 400 % 20].map { words[$0] }.joined(separator: " ") + " \(number)"
    }

    /// Memory of this process, in MiB.
    private static var resident: Double {
        let statm = (try? String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8)) ?? ""
        return (statm.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) * 4_096 / 1_048_576
    }

    private func milliseconds(_ duration: Duration) -> Double { duration / .milliseconds(1) }

    @Test("ten thousand songs are read once, available at once the next time, and searched in less than 20 ms")
    func tenThousand() async throws {
        let count = 10_000
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        let cover: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 7, count: 8_000)
        for number in 0..<count {
            let song = MP3(
                title: Self.text(number), artist: Self.text(number / 40), album: Self.text(number / 10),
                track: number % 10 + 1, cover: cover)
            try shelf.put("\(number / 40)/\(number / 10)/\(number).mp3", song.bytes)
        }
        let before = Self.resident
        let clock = ContinuousClock()
        var start = clock.now
        try await shelf.withLibrary { _, updates in
            try await updates.songs { $0.count == count }
            print("library: \(count) songs read in \(milliseconds(clock.now - start)) ms")
            print("library: resident \(before) MiB before, \(Self.resident) MiB after")
        }
        start = clock.now
        try await shelf.withLibrary { library, updates in
            try await updates.songs { $0.count == count }
            print("library: songs after a repeated start in \(milliseconds(clock.now - start)) ms")
            let times = try await searchTimes(library)
            print("library: search median \(times[times.count / 2]) ms, maximum \(times[times.count - 1]) ms")
            print("library: resident \(Self.resident) MiB after \(times.count) searches")
            #expect(times[times.count / 2] < 20 && times[times.count - 1] < 20)
            start = clock.now
            try shelf.put("new.mp3", title: "Brand New", artist: "A")
            try await updates.songs { $0.count == count + 1 }
            print("library: a new song is there after \(milliseconds(clock.now - start)) ms")
        }
    }

    /// Times of searches, the shortest first: from one letter that all songs have to several words.
    private func searchTimes(_ library: MusicLibrary) async throws -> [Double] {
        let clock = ContinuousClock()
        var times: [Double] = []
        for round in 0..<10 {
            for typed in Self.words + ["o", "r", "1", "ro", "un sto", "op ro 1", "r e s t", "nothing", "\(round)"] {
                let start = clock.now
                let found = await library.find(SongQuery(typed), atMost: 20).songs
                times.append(milliseconds(clock.now - start))
                #expect(found.isEmpty == ["nothing", "r e s t", "un sto"].contains(typed) || typed.contains(" "))
            }
        }
        return times.sorted()
    }
}
