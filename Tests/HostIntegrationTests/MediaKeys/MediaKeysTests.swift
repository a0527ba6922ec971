// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc
import MeshProtocol
import TestSupport
import Testing

@testable import HostIntegration

@Suite("Media keys, on a session bus with playerctl", .timeLimit(.minutes(5)))
struct MediaKeysTests {
    private static func song(
        _ id: String = "tunnel/07", title: String = "Tunnel of Lights", artist: String = "Night Drivers",
        art: String? = nil
    ) -> Song {
        Song(id: id, title: title, artist: artist, duration: 215.5, albumArtURL: art)
    }

    /// Two from one plane, and one from another. Swift has no literal for them.
    private static let noncharacters = String(decoding: [0xFFFE, 0xFDD0, 0xDBFF, 0xDFFF] as [UInt16], as: UTF16.self)

    private func with(
        _ bus: SessionBus, _ body: (MediaKeys, EventQueue<MediaCommand>, EventQueue<Bool>) async throws -> Void
    ) async throws {
        var limits = MediaKeysLimits()
        (limits.firstPause, limits.longestPause) = (.milliseconds(20), .milliseconds(20))
        let keys = MediaKeys(address: { [address = bus.address] in address }, limits: limits)
        let (commands, presence) = (EventQueue(keys.commands), EventQueue(keys.presence))
        let running = Task { try await keys.run() }
        do {
            try await body(keys, commands, presence)
        } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        try await running.value
        await commands.end()
    }

    private func present(_ presence: EventQueue<Bool>) async throws {
        try await presence.first { $0 ? () : nil }
    }

    @Test("every button sends its command")
    func buttons() async throws {
        let bus = try SessionBus()
        try bus.start()
        try await with(bus) { keys, commands, presence in
            try await present(presence)
            await keys.show(
                Playback(
                    song: Self.song(), isPlaying: true, volume: 70, canGoBack: true, elapsed: .zero, next: nil))
            let buttons: [(String, MediaCommand)] = [
                ("play", .play), ("pause", .pause), ("play-pause", .playPause), ("next", .next), ("stop", .pause),
                ("previous", .previous),
            ]
            for (button, command) in buttons {
                #expect(try await bus.playerctl(button) != nil)
                #expect(try await commands.first { $0 } == command)
            }
            // This has no effect: the next button is the next command.
            _ = try await bus.playerctl("open", "file:///etc/passwd")
            _ = try await bus.playerctl("next")
            #expect(try await commands.first { $0 } == .next)
            #expect(try await bus.playerctl("volume") == "0.700000")
            _ = try await bus.playerctl("volume", "0.35")
            #expect(try await commands.first { $0 } == .volume(35))
            _ = try await bus.playerctl("volume", "7")
            #expect(try await commands.first { $0 } == .volume(100))
        }
    }

    @Test("a program that moves the position sends the new one, and is shown the jump")
    func seeks() async throws {
        let bus = try SessionBus()
        try bus.start()
        try await with(bus) { keys, commands, presence in
            try await present(presence)
            func show(at seconds: Double) async {
                await keys.show(
                    Playback(song: Self.song(), isPlaying: false, elapsed: .seconds(seconds), next: nil))
            }
            await show(at: 65)
            _ = try await bus.playerctl("position", "20")
            #expect(try await commands.first { $0 } == .seek(.seconds(20)))
            await show(at: 20)
            _ = try await bus.playerctl("position", "10+")
            #expect(try await commands.first { $0 } == .seek(.seconds(30)))
            await show(at: 30)
            #expect(try await bus.playerctl("position") == "30.000000")
            _ = try await bus.playerctl("position", "10-")
            #expect(try await commands.first { $0 } == .seek(.seconds(20)))
            // Beyond the end.
            _ = try await bus.playerctl("position", "500+")
            #expect(try await commands.first { $0 } == .next)
        }
    }

    @Test("the playback is shown, and its absence too")
    func shows() async throws {
        let bus = try SessionBus()
        try bus.start()
        try await with(bus) { keys, _, presence in
            await keys.show(
                Playback(
                    song: Self.song(art: "https://a.example/c.jpg"), isPlaying: false, elapsed: .seconds(65), next: nil)
            )
            try await present(presence)
            #expect(try await bus.playerctl("status") == "Paused")
            let format = "{{title}}|{{artist}}|{{mpris:length}}|{{mpris:trackid}}|{{mpris:artUrl}}|{{position}}"
            let shown = try await bus.playerctl("metadata", "--format", format)
            let song = "Tunnel of Lights|Night Drivers|215500000|'/org/roadmesh/song/tunnel_2f07'"
            #expect(shown == song + "|https://a.example/c.jpg|65000000")
            await keys.show(Playback(song: Self.song(), isPlaying: true, elapsed: .seconds(65), next: nil))
            #expect(try await bus.playerctl("status") == "Playing")
            let text = try await bus.playerctl("position")
            let place = try #require(Double(text ?? ""))
            #expect(place >= 65 && place < 70)
            await keys.show(Playback(song: nil, isPlaying: false, elapsed: .zero, next: nil))
            #expect(try await bus.playerctl("status") == "Stopped")
        }
    }

    @Test(
        "unusual titles are shown as far as possible, and do not cause a disconnection",
        arguments: [
            ("A\u{0}B", "AB"), ("non\(Self.noncharacters)characters", "noncharacters"),
            ("\u{202E}drawkcab", "drawkcab"), ("two\nlines", "twolines"), ("👩‍👩‍👧 ünïcödé", "👩‍👩‍👧 ünïcödé"),
            (String(repeating: "ü", count: 5_000), String(repeating: "ü", count: 512)), ("", ""), ("%s %n", "%s %n"),
        ])
    func oddTitles(title: String, shown: String) async throws {
        let bus = try SessionBus()
        try bus.start()
        try await with(bus) { keys, _, presence in
            await keys.show(
                Playback(
                    song: Self.song(title, title: title, artist: title), isPlaying: true, elapsed: .zero, next: nil))
            try await present(presence)
            #expect(try await bus.playerctl("metadata", "--format", "{{title}}|{{artist}}") == "\(shown)|\(shown)")
            #expect(try await bus.playerctl("status") == "Playing")
        }
    }

    @Test("the album and the cover of a song are shown, and only those of that song")
    func details() async throws {
        let bus = try SessionBus()
        try bus.start()
        try await with(bus) { keys, _, presence in
            try await present(presence)
            let playback = Playback(song: Self.song(), isPlaying: true, elapsed: .zero, next: nil)
            let details = SongDetails(songID: "tunnel/07", album: "Night Roads", cover: "file:///run/cover.jpeg")
            await keys.show(playback, details)
            #expect(try await bus.playerctl("metadata", "xesam:album") == "Night Roads")
            #expect(try await bus.playerctl("metadata", "mpris:artUrl") == "file:///run/cover.jpeg")
            await keys.show(playback, SongDetails(songID: "other", album: "Another"))
            #expect(try await bus.playerctl("metadata", "xesam:album") != "Another")
        }
    }

    @Test("a second head unit in one session has a name of its own")
    func secondOne() async throws {
        let bus = try SessionBus()
        try bus.start()
        try await with(bus) { _, first, presence in
            try await present(presence)
            try await with(bus) { _, second, presence in
                try await present(presence)
                _ = try await bus.playerctl("next", player: "roadmesh.instance\(getpid())")
                #expect(try await second.first { $0 } == .next)
                _ = try await bus.playerctl("pause", player: "roadmesh")
            }
            #expect(try await first.first { $0 } == .pause)
        }
    }

    @Test("a bus that starts later is found, and so is one that comes back, with the current playback")
    func busComesAndGoes() async throws {
        let bus = try SessionBus()
        try await with(bus) { keys, commands, presence in
            await keys.show(Playback(song: Self.song(), isPlaying: true, elapsed: .zero, next: nil))
            for title in ["One", "Two", "Three"] {
                try bus.start()
                try await present(presence)
                await keys.show(Playback(song: Self.song(title: title), isPlaying: true, elapsed: .zero, next: nil))
                #expect(try await bus.playerctl("metadata", "title") == title)
                _ = try await bus.playerctl("next")
                #expect(try await commands.first { $0 } == .next)
                bus.stop()
                try await presence.first { $0 ? nil : () }
            }
        }
    }
}
