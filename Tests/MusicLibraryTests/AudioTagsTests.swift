// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import MusicLibrary

@Suite("Reading audio files")
struct AudioTagsTests {
    private static let names = [
        "mp3", "flac", "ogg", "oga", "opus", "m4a", "mp4", "aac", "wav", "aiff", "wma", "ape", "mpc", "wv",
    ].map { "song." + $0 }

    private func fixture(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: MusicShelf.fixtures + name)))
    }

    @Test("every format's title, artist, album, track, length and cover are read", arguments: names)
    func everyFormat(name: String) throws {
        let tags = try #require(AudioTags(of: MusicShelf.fixtures + name, limits: .standard))
        #expect(tags.title == "Émile’s Song")
        #expect(tags.artists == ["Sigur Rós"])
        #expect(tags.album == "Début")
        #expect(tags.track == 7)
        #expect((450...6_000).contains(tags.milliseconds), "\(tags.milliseconds) ms")
        // Raw AAC has a tag of another format before it. Whether its picture is found is random.
        #expect(tags.hasCover)
        let cover = try #require(Cover(of: MusicShelf.fixtures + name, limits: .standard))
        #expect(cover.mediaType == "image/png")
        #expect(cover.bytes.count == 67 && cover.bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }

    @Test("the format of a file comes from its bytes, even if its name differs")
    func wrongName() throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("song.mp3", try fixture("song.flac"))
        let tags = try #require(AudioTags(of: shelf.path("song.mp3"), limits: .standard))
        #expect(tags.title == "Émile’s Song" && tags.milliseconds > 0)
    }

    @Test("a WAV's tags are read if it has only those of RIFF")
    func riffTags() throws {
        func size(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } }
        func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] { Array(name.utf8) + size(body.count) + body }
        let format: [UInt8] = [1, 0, 1, 0, 0x40, 0x1F, 0, 0, 0x80, 0x3E, 0, 0, 2, 0, 16, 0]
        let info = Array("INFO".utf8) + chunk("INAM", Array("Song 1\0\0".utf8)) + chunk("IART", Array("Ana\0".utf8))
        let wave = chunk("fmt ", format) + chunk("LIST", info) + chunk("data", [UInt8](repeating: 0, count: 16_000))
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("song.wav", chunk("RIFF", Array("WAVE".utf8) + wave))
        let tags = try #require(AudioTags(of: shelf.path("song.wav"), limits: .standard))
        #expect(tags.title == "Song 1" && tags.artists == ["Ana"])
    }

    @Test("a cover that is too large, or not a picture, is ignored")
    func coverLimits() throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        var limits = LibraryLimits()
        limits.coverBytes = 66
        #expect(Cover(of: MusicShelf.fixtures + "song.flac", limits: limits) == nil)
        try shelf.put("a.mp3", MP3(title: "A", cover: Array("<html>no picture".utf8)).bytes)
        #expect(Cover(of: shelf.path("a.mp3"), limits: .standard) == nil)
    }

    @Test("an extremely long text is cut, and an endless file is given up")
    func longText() throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", MP3(title: String(repeating: "é", count: 1_000_000), artist: "A").bytes)
        let tags = try #require(AudioTags(of: shelf.path("a.mp3"), limits: .standard))
        #expect((1_000...1_030).contains(tags.title.utf8.count))
        var limits = LibraryLimits()
        limits.tagBytes = 64 << 10
        #expect(AudioTags(of: shelf.path("a.mp3"), limits: limits)?.artists != ["A"])
    }

    /// Each of the fixtures, with random bytes and cut anywhere, is read to an end. The result does not matter.
    @Test("damaged files are read without harm", arguments: names)
    func rubbish(name: String) throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        let whole = try fixture(name)
        var random = SplitMix(state: UInt64(name.utf8.reduce(7) { $0 &* 31 &+ Int($1) }))
        for round in 0..<60 {
            var bytes = whole
            switch round % 3 {
            case 0: bytes = Array(bytes.prefix(Int(random.next() % UInt64(bytes.count))))
            case 1:
                for _ in 0..<(1 + random.next() % 24) {
                    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                }
            default:
                // The head identifies the format, and contains lengths.
                let start = Int(random.next() % 64)
                for index in start..<min(start + 400, bytes.count) {
                    bytes[index] = UInt8(truncatingIfNeeded: random.next())
                }
            }
            try shelf.put(name, bytes)
            let wanted = LibraryScan.ToRead(
                file: .init(path: name, bytes: Int64(bytes.count), modifiedNanoseconds: 0, inode: 0), number: nil)
            let tags = AudioTags(of: shelf.path(name), limits: .standard)
            let song = SongFile(wanted, content: "", tags: tags, limits: .standard)
            #expect((1...160).contains(song.text.title.utf8.count) && song.text.artist.utf8.count <= 160)
            #expect(!song.isMusic || song.milliseconds > 0)
            _ = Cover(of: shelf.path(name), limits: .standard)
        }
    }

    @Test("an MP4 file with endless nesting is given up before the stack overflows")
    func nested() throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        var bytes: [UInt8] = [0, 0, 0, 16] + Array("ftypM4A \0\0\0\0".utf8)
        let levels = 200_000
        for level in 0..<levels {
            let size = (levels - level) * 8
            bytes += [24, 16, 8, 0].map { UInt8(size >> $0 & 0xFF) } + Array("moov".utf8)
        }
        try shelf.put("a.m4a", bytes)
        #expect((AudioTags(of: shelf.path("a.m4a"), limits: .standard)?.milliseconds ?? 0) == 0)
    }

    @Test("a path that is not a file, a missing file and an empty one have no tags")
    func noFile() throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", [])
        for path in [shelf.folder, shelf.path("none.mp3")] {
            #expect(AudioTags(of: path, limits: .standard) == nil)
            #expect(ContentID.read(path, limits: .standard) == nil)
        }
        #expect((AudioTags(of: shelf.path("a.mp3"), limits: .standard)?.milliseconds ?? 0) == 0)
    }

    @Test("the length of raw AAC comes from its frames")
    func adts() throws {
        // Two frames of 100 bytes at 44.1 kHz, in a file of a hundred such frames.
        let frame: [UInt8] = [0xFF, 0xF1, 0x50, 0x80, 0x0C, 0x9F, 0xFC] + Array(repeating: 0, count: 93)
        #expect(ADTSLength(head: frame + frame, bytes: 10_000)?.milliseconds == 2_321)
        #expect(ADTSLength(head: frame + frame.dropFirst(), bytes: 10_000) == nil)
        #expect(ADTSLength(head: [], bytes: 0) == nil)
    }
}

/// Pseudorandom numbers, the same each time (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
