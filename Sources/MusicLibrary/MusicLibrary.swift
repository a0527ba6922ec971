// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc
import Logging
import MeshProtocol

/// A folder of music: its songs with files and covers, kept up to date and searchable.
public actor MusicLibrary {
    /// An event of a library.
    public enum Update: Hashable, Sendable {
        /// How many of the files that are new or changed have been read.
        case progress(done: Int, of: Int)
        /// All songs, in the order of `MusicIndex.songs`. Before the first scan these are the songs of the last run.
        /// During a first scan they are the songs that were read so far.
        case songs([Song])
        /// The worst current problem. It replaces the previous one.
        case problem(LibraryProblem)
        /// All problems are solved.
        case recovered
    }

    /// The updates, for one listener. A pending update is replaced by a later one of the same kind. The stream ends
    /// when `run` does.
    public nonisolated let updates: AsyncStream<Update>

    let folder: String
    let index: MusicIndex
    let limits: LibraryLimits
    let logger: Logger
    /// Reads the folder. Covers have a thread of their own, because a person waits for them.
    let scanner = FileWorker("roadmesh.library.scan")
    private let coverWorker = FileWorker("roadmesh.library.cover")
    /// Reads tags for a scan.
    let reader: FileReader
    private let coverReader: FileReader
    /// The player for files that TagLib cannot read. Nil without a player.
    let player: PlayerProbe?
    /// The player that measures, on a thread of its own.
    let measurePlayer: PlayerProbe?
    let measurer = FileWorker("roadmesh.library.measure")
    let loudness: Loudness
    var measuring: Task<Void, Never>?
    /// Songs that are measured first.
    var wantedMeasures: [Int64] = []
    /// The number of files that the log has named.
    var loggedFiles = 0
    private var coverRest: Task<Void, Never>?
    /// Checks whether the folder is there, while a scan may block on it.
    let checker = FileWorker("roadmesh.library.check")
    let mailbox = LibraryUpdates()
    var policy: RescanPolicy
    var problem: LibraryProblem?
    /// The folder at the last scan. Nil while it is away.
    var root: FolderWalk.Place?
    var hasGivenSongs = false
    private let origin = ContinuousClock.now
    private let wakes: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation
    private var alarm: Task<Void, Never>?

    /// A library of a folder, which may appear later. `database` is the file of its index, which is created if it is
    /// missing or damaged. Only one library at a time may use it. `reader` starts the program that reads tags and
    /// covers (`FileReaderProgram`); nil reads them in this process. `player` starts the player without sound, for
    /// files that TagLib cannot read and to measure what `loudness` needs; nil does without both.
    public init(
        folder: String, database: String, reader: [String]? = nil, player: [String]? = nil, loudness: Loudness = .off,
        logger: Logger = Logger(label: "roadmesh.library")
    ) throws(LibraryProblem) {
        try self.init(
            folder: folder, database: database, limits: .standard, reader: reader, player: player, loudness: loudness,
            logger: logger)
    }

    init(
        folder: String, database: String, limits: LibraryLimits, reader: [String]? = nil, player: [String]? = nil,
        loudness: Loudness = .off, logger: Logger = Logger(label: "roadmesh.library")
    ) throws(LibraryProblem) {
        self.folder = Self.absolute(folder)
        self.limits = limits
        self.logger = logger
        (self.reader, coverReader) = (FileReader(reader, limits: limits), FileReader(reader, limits: limits))
        self.player = player.map { PlayerProbe($0, limits: limits) }
        measurePlayer = player.map { PlayerProbe($0, limits: limits) }
        self.loudness = loudness
        index = try MusicIndex(file: database, limits: limits, logger: logger)
        policy = RescanPolicy(limits: limits)
        updates = mailbox.stream
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Reads the folder and its changes until the task is cancelled. Call it once.
    public func run() async {
        if let songs = try? await index.songs(), !songs.isEmpty { mailbox.tell(.songs(songs)) }
        let watch = FolderWatch(root: folder, limits: limits) { [wake] in wake.yield() }
        if watch == nil { logger.warning("the music folder cannot be watched: \(FolderWalk.text(errno))") }
        let mounts = MountWatch { [wake] in wake.yield() }
        await withTaskCancellationHandler {
            await look(watch)
            for await _ in wakes {
                if mounts?.take() == true { await noteMounts() }
                policy.changed(watch?.take() ?? [], now: now)
                if let deadline = policy.deadline, deadline <= now { await look(watch) }
                setAlarm()
            }
        } onCancel: { [reader, coverReader, player, measurePlayer] in
            // A file that hangs a program would delay the end by `readTime` or `playTime`.
            for reader in [reader, coverReader] { reader.stop() }
            for player in [player, measurePlayer] { player?.stop() }
        }
        alarm?.cancel()
        coverRest?.cancel()
        measuring?.cancel()
        await measuring?.value
        mailbox.end()
        await coverWorker.run { [coverReader] in coverReader.close() }
        await scanner.run { [index, reader, player] in
            reader.close()
            player?.close()
            index.close()
        }
    }

    /// Searches words by their prefixes, or lists a shelf. Empty if the index fails.
    public func find(_ query: SongQuery, atMost limit: Int) async -> FoundSongs {
        await index.find(query, atMost: limit, logger)
    }

    /// Whether a path has the extension of a playlist.
    public static func isPlaylist(_ path: String) -> Bool { Playlist.isPlaylist(path) }

    /// The songs of a playlist that are in the folder and have been read. Nil if the file cannot be read or is not a
    /// playlist.
    public func songs(ofPlaylist path: String) async -> PlaylistSongs? {
        guard let paths = try? await index.paths() else { return nil }
        return await coverWorker.run { [limits, folder] in
            Playlist(file: path, limits: limits).map { Self.songs(of: $0, among: paths, in: folder) }
        }
    }

    private static func songs(
        of list: Playlist, among paths: [(path: String, id: Song.ID)], in folder: String
    ) -> PlaylistSongs {
        let matching = PlaylistMatching(paths, in: folder, for: list.entries)
        var found = list.entries.map(matching.song)
        let lost = list.entries.indices.filter { found[$0] == nil && LinkedFiles.isThere(list.entries[$0]) }
        if !lost.isEmpty {
            let files = LinkedFiles(paths, in: folder)
            for index in lost { found[index] = files.song(for: list.entries[index]) }
        }
        return PlaylistSongs(
            songs: found.compactMap(\.self), entries: list.entries.count, missing: found.count { $0 == nil },
            example: found.firstIndex { $0 == nil }.map { list.entries[$0].text })
    }

    /// The playlists in the folder and in its direct subfolders: relative paths in alphabetical order.
    public func playlists() async -> [String] {
        await coverWorker.run { [folder, limits] in PlaylistFiles.find(in: folder, limits: limits) }
    }

    /// The songs of one of `playlists`. Nil for an unknown playlist, or if it cannot be read.
    public func songs(ofFoundPlaylist name: String) async -> [Song.ID]? {
        await playlists().contains(name) ? await songs(ofPlaylist: folder + "/" + name)?.songs : nil
    }

    /// The playlist that a person means by a name: its path in the folder, or the name of its file without folder and
    /// extension. An empty name means all songs.
    public func playlist(_ name: String) async -> PlaylistAnswer {
        let known = await playlists()
        let meant = PlaylistFiles.meant(by: name, among: known)
        guard let meant, !meant.isEmpty else { return PlaylistAnswer(asked: name, name: meant, known: known) }
        let songs = await songs(ofFoundPlaylist: meant)
        return PlaylistAnswer(asked: name, name: songs == nil ? nil : meant, songs: songs ?? [], known: known)
    }

    /// The absolute path of a song's file, which may be away with its stick. Nil for an unknown song.
    public func file(of id: Song.ID) async -> String? {
        guard let path = try? await index.path(of: id) else { return nil }
        return folder + "/" + path
    }

    /// The album of a song. Nil without an album.
    public func album(of id: Song.ID) async -> String? { try? await index.album(of: id) }

    /// A song's cover from its file. Nil without a cover.
    public func cover(of id: Song.ID) async -> Cover? {
        guard let file = await file(of: id) else { return nil }
        let cover = await coverWorker.run { [coverReader] in try? coverReader.cover(of: file) }
        coverRest?.cancel()
        coverRest = Task { [limits] in
            try? await Task.sleep(for: limits.readerRest)
            if !Task.isCancelled { closeCoverReader() }
        }
        return cover
    }

    /// Ends the program that reads covers. The next cover starts another.
    func closeCoverReader() { coverWorker.start { [coverReader] in coverReader.close() } }

    // MARK: Time

    var now: MeshInstant { ContinuousClock.now - origin }

    private func setAlarm() {
        alarm?.cancel()
        alarm = policy.deadline.map { deadline in
            Task { [origin, wake] in
                try? await Task.sleep(until: origin + deadline, clock: .continuous)
                if !Task.isCancelled { wake.yield() }
            }
        }
    }

    private func look(_ watch: FolderWatch?) async {
        let start = now
        let outcome = await scan(watch)
        policy.ended(outcome, took: now - start, now: now)
        beginMeasuring()
        // Handles changes that arrived during the scan.
        wake.yield()
    }

    private static func absolute(_ path: String) -> String {
        var absolute = path
        if !path.hasPrefix("/"), let current = getcwd(nil, 0) {
            defer { free(current) }
            absolute = String(cString: current) + "/" + path
        }
        while absolute.count > 1, absolute.hasSuffix("/") { absolute.removeLast() }
        return absolute
    }
}
