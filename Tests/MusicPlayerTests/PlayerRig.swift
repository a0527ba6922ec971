// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import MeshProtocol
import TestSupport

@testable import MusicPlayer

/// A player with the real mpv without sound, and a folder of songs.
struct PlayerRig: Sendable {
    let player: MPVPlayer
    let reports: EventQueue<PlayerReport>
    let problems: EventQueue<PlayerProblem?>
    let folder: Folder

    /// The output consumes sound at normal speed, like a loudspeaker.
    static let unheard = ["--ao=null"]

    /// Files of songs, by the songs' ids.
    struct Folder: Sendable {
        let path: String

        func file(_ song: Song.ID) -> String { "\(path)/\(song).wav" }

        /// Writes a song of this many seconds with equal samples.
        func write(_ song: Song.ID, seconds: Double, sample: Int16 = 0) throws {
            try Data(wave(seconds: seconds, sample: sample)).write(to: URL(filePath: file(song)))
        }

        func writeBroken(_ song: Song.ID) throws {
            try Data([UInt8](repeating: 0x5A, count: 3_000)).write(to: URL(filePath: file(song)))
        }
    }

    /// Runs a player while the body runs.
    static func with(
        _ more: [String] = unheard, executable: String? = nil, limits: PlayerLimits = .standard,
        gain: @escaping @Sendable (Song.ID) async -> Double = { _ in 0 },
        body: (PlayerRig) async throws -> Void
    ) async throws {
        let folder = Folder(path: newFolder())
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        let player = MPVPlayer(
            executable: try executable ?? MPVPlayer.find(), more: more, limits: limits,
            file: { song in access(folder.file(song), R_OK) == 0 ? folder.file(song) : nil },
            gain: gain)
        let rig = PlayerRig(
            player: player, reports: EventQueue(player.reports), problems: EventQueue(player.problems), folder: folder)
        let running = Task { try await player.run() }
        do {
            try await body(rig)
        } catch {
            running.cancel()
            throw error
        }
        running.cancel()
        try await running.value
    }

    func want(
        _ song: Song.ID?, next: Song.ID? = nil, plays: Bool = true, at elapsed: MeshInstant = .zero,
        volume: Int? = nil, ducked: Int = 0
    ) async {
        var wanted = playback(song, next: next, plays: plays, at: elapsed)
        (wanted.volume, wanted.ducked) = (volume, ducked)
        await player.want(wanted)
    }

    /// Waits until a song plays, and returns its position then.
    @discardableResult
    func heard(_ song: Song.ID) async throws -> (elapsed: MeshInstant, at: ContinuousClock.Instant) {
        try await reports.first { if case .elapsed(song, let elapsed) = $0 { (elapsed, .now) } else { nil } }
    }

    /// The reported positions of a song until its end, with the times of the reports.
    func accounts(of song: Song.ID) async throws -> [(elapsed: MeshInstant, at: ContinuousClock.Instant)] {
        var accounts: [(MeshInstant, ContinuousClock.Instant)] = []
        try await reports.first { report in
            if case .elapsed(song, let elapsed) = report { accounts.append((elapsed, .now)) }
            return report == .ended(song) ? () : nil
        }
        return accounts
    }

    func report(_ report: PlayerReport) async throws { try await reports.first { $0 == report ? () : nil } }
}

func playback(
    _ song: Song.ID?, next: Song.ID? = nil, plays: Bool = true, at elapsed: MeshInstant = .zero, seeks: Int = 0
) -> Playback {
    func make(_ id: Song.ID) -> Song { Song(id: id, title: "Title of \(id)", artist: "Artist", duration: 60) }
    return Playback(song: song.map(make), isPlaying: plays, elapsed: elapsed, seeks: seeks, next: next.map(make))
}

/// A WAVE file of 44,100 Hz, 16 bits, stereo.
private func wave(seconds: Double, sample: Int16) -> [UInt8] {
    let frames = Int(seconds * 44_100)
    func little<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
    let format = little(UInt16(1)) + little(UInt16(2)) + little(UInt32(44_100)) + little(UInt32(176_400))
    let head =
        Array("RIFF".utf8) + little(UInt32(36 + frames * 4)) + Array("WAVEfmt ".utf8) + little(UInt32(16)) + format
        + little(UInt16(4)) + little(UInt16(16)) + Array("data".utf8) + little(UInt32(frames * 4))
    return head + [Int16](repeating: sample.littleEndian, count: frames * 2).withUnsafeBytes { Array($0) }
}
