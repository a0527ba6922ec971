// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import MusicLibrary

/// A temporary folder of music, and the index next to it.
struct MusicShelf {
    let place = newFolder()
    var folder: String { place + "/music" }
    var database: String { place + "/library.sqlite" }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().path + "/Fixtures/"

    /// Limits without pauses.
    static var limits: LibraryLimits {
        var limits = LibraryLimits()
        limits.settle = .milliseconds(10)
        limits.restFactor = 0
        limits.awayPause = .milliseconds(20)
        return limits
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// Writes a file and its parent folders.
    func put(_ name: String, _ bytes: [UInt8]) throws {
        let url = URL(filePath: path(name))
        try FileManager.default.createDirectory(
            atPath: url.deletingLastPathComponent().path, withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    func put(
        _ name: String, title: String = "", artist: String = "", album: String = "", track: Int = 0, disc: Int = 0,
        albumArtist: String = ""
    ) throws {
        let file = MP3(
            title: title, artist: artist, album: album, albumArtist: albumArtist, track: track, disc: disc)
        try put(name, file.bytes)
    }

    func move(_ name: String, to other: String) { #expect(rename(path(name), path(other)) == 0) }
    func remove(_ name: String) { #expect(unlink(path(name)) == 0) }
    func clear() { try? FileManager.default.removeItem(atPath: place) }

    /// Runs a library during `body`.
    func withLibrary<Result: Sendable>(
        _ limits: LibraryLimits = limits, reader: [String]? = nil, player: [String]? = nil, loudness: Loudness = .off,
        _ body: (MusicLibrary, EventQueue<MusicLibrary.Update>) async throws -> Result
    ) async throws -> Result {
        let library = try MusicLibrary(
            folder: folder, database: database, limits: limits, reader: reader, player: player, loudness: loudness)
        let updates = EventQueue(library.updates)
        let running = Task { await library.run() }
        do {
            let result = try await body(library, updates)
            running.cancel()
            await running.value
            return result
        } catch {
            running.cancel()
            await running.value
            throw error
        }
    }
}

extension EventQueue<MusicLibrary.Update> {
    /// The next list of songs that satisfies the condition.
    @discardableResult
    func songs(where isWanted: @escaping @Sendable ([Song]) -> Bool = { _ in true }) async throws -> [Song] {
        try await first { if case .songs(let songs) = $0, isWanted(songs) { songs } else { nil } }
    }

    /// The next problem.
    func problem() async throws -> LibraryProblem {
        try await first { if case .problem(let problem) = $0 { problem } else { nil } }
    }
}

/// An MPEG file of silence with an ID3v2.4 tag.
struct MP3 {
    var title = ""
    var artist = ""
    var album = ""
    var albumArtist = ""
    var track = 0
    var disc = 0
    var cover: [UInt8] = []
    /// ReplayGain's of the track.
    var gain = ""
    /// The encoding of the texts, by iconv's name. The tag calls it Latin-1. Nil means UTF-8.
    var encoding: String?

    /// What follows the tag of the fixture.
    static let audio: [UInt8] = {
        let file = (try? Data(contentsOf: URL(filePath: MusicShelf.fixtures + "song.mp3"))).map { Array($0) } ?? []
        return Array(file.dropFirst(10 + file[6..<10].reduce(0) { $0 << 7 | Int($1) }))
    }()

    var bytes: [UInt8] {
        var frames = frame("TIT2", text: title) + frame("TPE1", text: artist) + frame("TALB", text: album)
        frames += frame("TPE2", text: albumArtist)
        if disc > 0 { frames += frame("TPOS", text: "\(disc)/9") }
        if track > 0 { frames += frame("TRCK", text: "\(track)") }
        if !gain.isEmpty { frames += frame("TXXX", [3] + Array("REPLAYGAIN_TRACK_GAIN\0\(gain)".utf8)) }
        if !cover.isEmpty { frames += frame("APIC", [0] + Array("image/png\0".utf8) + [3, 0] + cover) }
        return Array("ID3".utf8) + [4, 0, 0] + size(frames.count) + frames + Self.audio
    }

    private func frame(_ id: String, text: String) -> [UInt8] {
        if text.isEmpty { return [] }
        return encoding.map { frame(id, [0] + converted(text, to: $0)) } ?? frame(id, [3] + Array(text.utf8))
    }

    private func frame(_ id: String, _ body: [UInt8]) -> [UInt8] { Array(id.utf8) + size(body.count) + [0, 0] + body }

    private func size(_ count: Int) -> [UInt8] { [21, 14, 7, 0].map { UInt8(count >> $0 & 0x7F) } }
}
