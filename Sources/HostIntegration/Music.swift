// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Logging
import MeshNode
import MeshProtocol
import MusicLibrary
import MusicPlayer
import NodeCore

/// The source of a host's songs.
public enum MusicSource: Sendable {
    /// A list of songs without files.
    case list([Song])
    /// A folder. `mpv` is the path of the player (`MPVPlayer.find`); nil means silence. `audioDevice` is one of mpv's
    /// device names; nil means the default device. The songs of the file `playlist` play while the queue is empty.
    /// `launcher` starts mpv with fewer rights (`MPVPlayer`), and `reader` starts the program that reads tags
    /// (`MusicLibrary`). `measurer` is the prefix for mpv when it plays files without sound. `loudness` selects the
    /// kind of loudness normalisation.
    case folder(
        String, mpv: String?, launcher: [String] = [], reader: [String]? = nil, measurer: [String] = [],
        loudness: Loudness = .off, audioDevice: String? = nil, playlist: String? = nil)

    /// Whether a path is a playlist, by its file name extension.
    public static func isPlaylist(_ path: String) -> Bool { MusicLibrary.isPlaylist(path) }

    /// Opens the songs for the start of a host. `index` is the file with the index of a folder. `isComplete` means that
    /// all songs are needed because a session resumes (`LibraryStart`). `progress` gets the number of files that were
    /// read, and of all files.
    public func open(
        index: String, isComplete: Bool, logger: Logger,
        progress: @escaping @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) async throws(LibraryProblem) -> Music {
        switch self {
        case .list(let songs):
            return Music(songs: songs, opens: DJLimits.openingSongs, search: try ListSearch(songs, logger: logger))
        case .folder(
            let folder, let mpv, let launcher, let reader, let measurer, let loudness, let audioDevice, let playlist):
            let player = mpv.map {
                measurer + [$0] + MPVPlayer.measuringArguments(filter: MusicLibrary.measuringFilter)
            }
            let library = try MusicLibrary(
                folder: folder, database: index, reader: reader, player: player, loudness: loudness, logger: logger)
            var start = LibraryStart(isComplete: isComplete)
            let running = Task { await library.run() }
            await start.wait(for: library, progress: progress)
            var listed: [Song.ID] = []
            if let playlist { listed = await library.songs(ofPlaylist: playlist)?.songs ?? [] }
            // The guests fill the queue, so the songs of a library are not queued.
            return Music(
                songs: start.songs, opens: 0, search: library, library: library, start: start, running: running,
                playlist: playlist, listed: listed, mpv: mpv, launcher: launcher, audioDevice: audioDevice,
                logger: logger)
        }
    }
}

/// A host's opened music.
public struct Music: Sendable {
    /// The songs that are known so far.
    public let songs: [Song]
    /// Number of songs that a new session queues automatically.
    let opens: Int
    /// Searches the songs.
    public let search: any SongSearch
    // Set for a folder only.
    var library: MusicLibrary?
    var start: LibraryStart?
    var running: Task<Void, Never>?
    var playlist: String?
    /// The known songs of the folder's playlist.
    var listed: [Song.ID] = []
    var mpv: String?
    var launcher: [String] = []
    var audioDevice: String?
    var logger = Logger(label: "roadmesh")

    /// The parameters for hosting.
    public func hosting(
        _ fairness: Fairness = Fairness(), shuffles: Bool = true, pin: JoiningSecret? = nil
    ) -> Hosting {
        Hosting(
            SongLibrary(songs), fairness, hasPlayer: mpv != nil, opens: opens,
            // A list is a fixed programme, so it is not shuffled.
            shuffles: shuffles && library != nil, playlist: listed, search: search, pin: pin,
            wallClockSeconds: UInt32(clamping: Int(Date().timeIntervalSince1970)))
    }

    /// The covers in the files of a folder.
    public var art: (@Sendable (Song.ID) async -> [UInt8]?)? {
        guard let library else { return nil }
        return { await library.cover(of: $0)?.bytes }
    }

    /// The head unit of a node that does not run yet. `showCount` gets the progress of reading the library.
    public func headUnit(
        around node: Node, showCount: @escaping @Sendable (LibraryCount) async -> Void = { _ in }
    ) -> HeadUnit {
        HeadUnit(
            node: node, library: library, begun: start, playlist: playlist, player: player,
            mediaKeys: MediaKeys(logger: logger),
            showCount: showCount)
    }

    private var player: MPVPlayer? {
        guard let mpv, let library else { return nil }
        return MPVPlayer(
            executable: mpv, launcher: launcher, audioDevice: audioDevice, file: { await library.file(of: $0) },
            gain: { await library.gain(of: $0) },
            check: { await library.isAway(failing: $0) }, doubt: { await library.doubtLength(of: $0) },
            logger: logger)
    }

    /// Stops the library.
    public func close() { running?.cancel() }
}
