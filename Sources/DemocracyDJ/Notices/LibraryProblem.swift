// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Problems of a music library. Each case is one row of the table below. All but `indexUnusable` end automatically.
public enum LibraryProblem: Error, Hashable, Sendable {
    /// The folder is missing. Its songs stay in the list, since a USB stick may return.
    case folderMissing(path: String)
    /// The folder is empty, and it is another folder than before: a pulled USB stick leaves an empty mount point. The
    /// songs stay in the list.
    case folderAway(path: String)
    /// The folder cannot be read. The songs stay in the list.
    case folderUnreadable(path: String, cause: String)
    /// The folder contains no songs.
    case noSongs(path: String)
    /// The folder has more songs, subfolders or levels than the library accepts. The rest is left out.
    case tooMuch(path: String)
    /// Some files could not be read as music; the first of them by name.
    case unreadableFiles(count: Int, example: String)
    /// The system does not report changes, so the library looks for them periodically.
    case notWatched(path: String, cause: String)
    /// The playlist cannot be read. Any song of the folder plays instead.
    case playlistUnreadable(path: String)
    /// None of the playlist's entries is a song of the folder. Any song of the folder plays instead.
    case playlistEmpty(path: String, missing: Int)
    /// Some of the playlist's entries are not songs of the folder; the first of them.
    case playlistIncomplete(missing: Int, entries: Int, example: String)
    /// The program that reads tags does not start, so new files are not read.
    case readerFailed
    /// The index can neither be used nor rebuilt.
    case indexUnusable(path: String, cause: String)

    /// The row of this problem. Problems that do not stop the music pass without being cleared.
    public var problem: Problem {
        switch self {
        case .folderMissing(let path):
            .stays(
                "libraryMissing", "The music folder \(shown(path)) is missing, so its songs cannot play.",
                "Plug the stick in, or check the path; its songs return automatically.")
        case .folderAway(let path):
            .stays(
                "libraryAway", "The music folder \(shown(path)) is empty now, so its songs cannot play.",
                "Plug the stick in again; its songs return automatically.")
        case .folderUnreadable(let path, let cause):
            .stays(
                "libraryUnreadable",
                "The music folder \(shown(path)) cannot be read (\(cause)), so its songs may not play.",
                "Allow this user to read it, or try another stick.")
        case .noSongs(let path):
            .stays(
                "libraryEmpty", "There is no music in the folder \(shown(path)), so nothing can be chosen.",
                "Copy music into it; RoadMesh finds it automatically.")
        case .tooMuch(let path):
            .passes(
                "libraryTooLarge",
                "The music folder \(shown(path)) is too large for the library; some of its songs are left out.",
                "Move files that are not music elsewhere, or choose a smaller folder.", raisedBy: .headUnit)
        case .unreadableFiles(1, let example):
            .passes(
                "libraryFilesUnreadable", "The file \(shown(example)) cannot be read as music; it is left out.",
                "Try it in another player. If it is damaged, copy it again.", raisedBy: .headUnit)
        case .unreadableFiles(let count, let example):
            .passes(
                "libraryFilesUnreadable",
                "\(count) files cannot be read as music, such as \(shown(example)); they are left out.",
                "Try them in another player, and copy the damaged ones again.", raisedBy: .headUnit)
        case .notWatched(let path, let cause):
            .passes(
                "libraryNotWatched", "RoadMesh notices new songs in \(shown(path)) only every few minutes (\(cause)).",
                "Raise the system's limit: sudo sysctl fs.inotify.max_user_watches=65536.", raisedBy: .headUnit)
        case .playlistUnreadable(let path):
            .stays(
                "playlistUnreadable",
                "The playlist \(shown(path)) cannot be read, so any song of the folder plays instead.",
                "Check its path, and whether this user may read it. RoadMesh reads it again when the folder changes.")
        case .playlistEmpty(let path, let missing):
            .stays(
                "playlistEmpty",
                "The playlist \(shown(path)) names no song of the folder (not found: \(missing)), "
                    + "so any song of the folder plays instead.",
                "Copy its songs into the folder, or name another playlist.")
        case .playlistIncomplete(let missing, let entries, let example):
            .passes(
                "playlistIncomplete",
                "\(missing) of \(entries) entries of the playlist are not in the folder, such as \(shown(example)).",
                "Copy these songs into the folder; the others play.", raisedBy: .headUnit)
        case .readerFailed:
            .stays(
                "libraryReaderFailed", "The program that reads tags does not start, so new songs are missing.",
                "Restart roadmesh; if the problem stays, reinstall it.")
        case .indexUnusable(let path, let cause):
            .stays(
                "libraryIndexUnusable", "The list of songs cannot be saved in \(shown(path)) (\(cause)).",
                "Make room on that disk, and allow this user to write there.")
        }
    }

    /// Whether none of the songs can be played. During that time a file that cannot be opened says nothing about its
    /// song.
    public var isAbsence: Bool {
        switch self {
        case .folderMissing, .folderAway, .folderUnreadable: true
        case .noSongs, .tooMuch, .unreadableFiles, .notWatched, .playlistUnreadable, .playlistEmpty,
            .playlistIncomplete, .readerFailed, .indexUnusable:
            false
        }
    }

    /// File names are untrusted text.
    private func shown(_ path: String) -> String { UntrustedText.shown(path) }
}
