// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import MusicPlayer
import Subprocess
import TestSupport
import Testing

@testable import MusicLibrary

/// Files of many formats, which mpv makes.
private struct Studio {
    let shelf: MusicShelf
    let player: [String]

    init() throws {
        shelf = try MusicShelf()
        player = [try MPVPlayer.find()] + MPVPlayer.measuringArguments(filter: MusicLibrary.measuringFilter)
    }

    var probe: PlayerProbe { PlayerProbe(player, limits: .standard) }

    /// A tone of so many seconds. `level` is its largest sample. Piped, its headers say no length.
    func make(
        _ name: String, codec: String, seconds: Double = 3, level: Double = 0.5, format: String? = nil,
        isPiped: Bool = false, tags: String? = nil
    )
        async throws
    {
        let tone = "av://lavfi:aevalsrc=exprs=\(level)*sin(880*PI*t):d=\(seconds):s=44100"
        var words = [
            player[0], "--no-config", "--really-quiet", "--no-video", tone, "--oac=\(codec)", "--oacopts=strict=-2",
            "--o=" + (isPiped ? "-" : shelf.path(name)),
        ]
        if let tags { words.append("--oset-metadata=\(tags)") }
        if let format { words.append("--of=\(format)") }
        let script = isPiped ? "\"$@\" | cat > \"$0\"" : "\"$@\""
        let result = try await run(
            .path("/bin/sh"), arguments: Arguments(["-c", script, shelf.path(name)] + words), output: .discarded,
            error: .discarded)
        #expect(result.terminationStatus.isSuccess)
    }
}

@Suite("Files that only the player knows", .serialized, .timeLimit(.minutes(3)))
struct PlayedFilesTests {
    /// Names, codecs and formats.
    private static let formats: [(String, String, String?, Bool)] = [
        ("piped.flac", "flac", "flac", true), ("piped.wav", "pcm_s16le", "wav", true),
        ("a.au", "pcm_s16be", nil, false),
        ("a.caf", "alac", nil, false), ("a.w64", "pcm_s16le", nil, false), ("a.ac3", "ac3", nil, false),
        ("a.mka", "flac", nil, false), ("a.weba", "libopus", "webm", false), ("a.tta", "tta", nil, false),
        ("a.mp2", "mp2", nil, false), ("a.spx", "libspeex", nil, false), ("a.m4b", "aac", "mp4", false),
        ("a.dts", "dca", nil, false),
    ]

    @Test("a file that the player plays is a song, with its length")
    func formats() async throws {
        let studio = try Studio()
        defer { studio.shelf.clear() }
        for (name, codec, format, isPiped) in Self.formats {
            try await studio.make(name, codec: codec, format: format, isPiped: isPiped)
        }
        try studio.shelf.put("broken.flac", Array("no music at all".utf8))
        try studio.shelf.put("score.mid", Array("MThd".utf8))
        try await studio.shelf.withLibrary(player: studio.player) { library, updates in
            let songs = try await updates.songs { $0.count >= Self.formats.count }
            var wrong: [String] = []
            for song in songs where !(2.7...3.6).contains(song.duration) { wrong.append("\(song)") }
            #expect(wrong == [])
            let names = Self.formats.map(\.0)
            var files: [String] = []
            for song in songs { files.append(await library.file(of: song.id) ?? "") }
            #expect(files.sorted() == names.map(studio.shelf.path).sorted())
            let problem = try await updates.problem()
            #expect(problem == .unreadableFiles(count: 2, example: "broken.flac, score.mid"))
        }
        // The index keeps the result.
        try await studio.shelf.withLibrary(player: ["/does/not/exist"]) { _, updates in
            let songs = try await updates.songs()
            #expect(songs.count == Self.formats.count)
        }
    }

    @Test("tags that TagLib does not read are the player's")
    func tags() async throws {
        let studio = try Studio()
        defer { studio.shelf.clear() }
        let names = ["a.mka", "b.weba", "c.tta", "d.caf"]
        for (name, codec) in zip(names, ["flac", "libopus", "tta", "alac"]) {
            try await studio.make(
                name, codec: codec, format: name.hasSuffix("weba") ? "webm" : nil,
                tags: "title=Title \(name),artist=Ana;Bo,album=Début")
        }
        try await studio.shelf.withLibrary(player: studio.player) { library, updates in
            let songs = try await updates.songs { $0.count == names.count }
            #expect(songs.map(\.title).sorted() == names.map { "Title " + $0 })
            #expect(songs.allSatisfy { $0.artist == "Ana, Bo" })
            let albums = await library.find(SongQuery(on: .albums), atMost: 9).groups
            #expect(albums.map(\.name) == ["Début"])
        }
    }

    @Test("without a player such files are not songs, and with one they are")
    func later() async throws {
        let studio = try Studio()
        defer { studio.shelf.clear() }
        try await studio.make("piped.flac", codec: "flac", format: "flac", isPiped: true)
        try await studio.shelf.withLibrary { _, updates in
            let problem = try await updates.problem()
            #expect(problem == .unreadableFiles(count: 1, example: "piped.flac"))
        }
        try await studio.shelf.withLibrary(player: studio.player) { _, updates in
            _ = try await updates.songs { $0.count == 1 }
        }
    }

    @Test("a file is played to its end, and how loud it is is measured")
    func measured() async throws {
        let studio = try Studio()
        defer { studio.shelf.clear() }
        try await studio.make("loud.flac", codec: "flac", seconds: 5, level: 0.8)
        try await studio.make("soft.flac", codec: "flac", seconds: 5, level: 0.08)
        try studio.shelf.put("nothing.wav", [])
        let probe = studio.probe
        defer { probe.close() }
        var found: [PlayedFile] = []
        for name in ["loud.flac", "soft.flac"] {
            guard case .plays(let file) = try probe.play(studio.shelf.path(name)) else {
                Issue.record("\(name) does not play")
                return
            }
            found.append(file)
        }
        #expect(found.allSatisfy { (4_900...5_200).contains($0.milliseconds) })
        let (loud, soft) = (try #require(found[0].loudness), try #require(found[1].loudness))
        #expect(abs(loud - soft - 20) < 0.3, "a tenth is 20 dB: \(loud), \(soft)")
        #expect(abs((found[0].peak ?? 0) - 0.8) < 0.02)
        guard case .fails = try probe.play(studio.shelf.path("nothing.wav")) else {
            Issue.record("an empty file plays")
            return
        }
        // It plays on after one that failed.
        guard case .plays = try probe.play(studio.shelf.path("soft.flac")) else {
            Issue.record("nothing plays any more")
            return
        }
    }

    @Test("songs without a gain are measured once, wrong lengths are corrected, and both are kept")
    func background() async throws {
        let studio = try Studio()
        defer { studio.shelf.clear() }
        try await studio.make("long.flac", codec: "flac", seconds: 30, level: 0.8)
        // The header says 30 s.
        let whole = try Data(contentsOf: URL(filePath: studio.shelf.path("long.flac")))
        try studio.shelf.put("long.flac", Array(whole.prefix(whole.count / 3)))
        try studio.shelf.put("tagged.mp3", MP3(title: "Tagged", artist: "A", gain: "-4.5 dB").bytes)
        try await studio.shelf.withLibrary(player: studio.player, loudness: .track) { library, updates in
            let first = try await updates.songs { $0.count == 2 }
            #expect(first.contains { abs($0.duration - 30) < 1 })
            let songs = try await updates.songs { $0.contains { (8...12).contains($0.duration) } }
            let long = try #require(songs.first { $0.title == "long" }),
                tagged = try #require(songs.first { $0.title == "Tagged" })
            let gain = await library.gain(of: long.id)
            // A sine of 0.8 has about -5 LUFS in two channels, and -8 in one.
            #expect((-14 ... -8).contains(gain), "\(gain)")
            #expect(await library.gain(of: tagged.id) == -4.5)
            #expect(try await library.index.unmeasured(loudness: true).isEmpty)
        }
        try await studio.shelf.withLibrary(player: ["/does/not/exist"], loudness: .album) { library, updates in
            let songs = try await updates.songs()
            let long = try #require(songs.first { $0.title == "long" })
            #expect((8...12).contains(long.duration))
            #expect(await library.gain(of: long.id) < -8)
        }
    }

    @Test("a length that playing shows to be wrong is measured, and the next start knows the right one")
    func doubted() async throws {
        let studio = try Studio()
        defer { studio.shelf.clear() }
        try await studio.make("long.mp3", codec: "libmp3lame", seconds: 10)
        // The header states three times as many frames as there are, and the right size of the file.
        var bytes = try Array(Data(contentsOf: URL(filePath: studio.shelf.path("long.mp3"))))
        let marks = ["Xing", "Info"].map { Array($0.utf8) }
        let header = try #require(bytes.indices.first { marks.contains(Array(bytes[$0..<min($0 + 4, bytes.count)])) })
        let frames = bytes[(header + 8)..<(header + 12)].reduce(0) { $0 << 8 | UInt32($1) } * 3
        for place in 0..<4 { bytes[header + 8 + place] = UInt8(truncatingIfNeeded: frames >> (24 - 8 * place)) }
        try studio.shelf.put("long.mp3", bytes)
        try await studio.shelf.withLibrary(player: studio.player) { library, updates in
            let song = try #require(try await updates.songs { $0.count == 1 }.first)
            #expect((28...33).contains(song.duration))
            await library.doubtLength(of: song.id)
            _ = try await updates.songs { $0.contains { (9...11).contains($0.duration) } }
        }
        try await studio.shelf.withLibrary(player: ["/does/not/exist"]) { _, updates in
            let songs = try await updates.songs()
            #expect(songs.allSatisfy { (9...11).contains($0.duration) })
        }
    }

    @Test("a player that dies or says nothing harms one file, and one that does not start harms none")
    func hostile() throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        let script = """
            import json, os, socket, sys, time
            talk = socket.socket(fileno=0)
            for line in talk.makefile("r"):
                asked = json.loads(line)
                command, number = asked["command"], asked["request_id"]
                say = lambda **what: talk.sendall((json.dumps(what) + "\\n").encode())
                if isinstance(command, dict):
                    if "dies" in command["url"]: os.abort()
                    if "hangs" in command["url"]: time.sleep(1000)
                    if "endless" in command["url"]: talk.sendall(b"x" * (2 << 20))
                    say(request_id=number, error="success", data={"playlist_entry_id": number})
                    say(event="start-file", playlist_entry_id=number)
                elif command[1] == "eof-reached": say(request_id=number, error="success", data=True)
                elif command[1] == "pid": say(request_id=number, error="success", data=1)
                elif command[1] == "time-pos": say(request_id=number, error="success", data=1e300)
                else: say(request_id=number, error="success", data={"artist": "A", "lavfi.r128.I": "nan"})
            """
        try Data(script.utf8).write(to: URL(filePath: shelf.place + "/mpv.py"))
        var limits = LibraryLimits()
        limits.playTime = .seconds(2)
        let probe = PlayerProbe(["python3", shelf.place + "/mpv.py"], limits: limits)
        for name in ["dies", "hangs", "endless"] {
            guard case .fails = try probe.play("/music/" + name) else {
                Issue.record("\(name) plays")
                return
            }
            let after = try probe.play("/music/a")
            #expect(
                after == .plays(PlayedFile(milliseconds: 1_000_000_000, tags: ["artist": "A", "lavfi.r128.i": "nan"])))
        }
        probe.close()
        let missing = PlayerProbe(["/does/not/exist"], limits: limits)
        #expect(throws: FileReader.Unusable.self) { try missing.play("/music/a") }
    }
}
