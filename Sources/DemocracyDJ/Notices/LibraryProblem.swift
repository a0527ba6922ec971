// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What is wrong with a music library: each is one row of the table below. All but `indexUnusable` end by themselves.
public enum LibraryProblem: Error, Hashable, Sendable {
    /// The folder is not there. The songs stay in the list, since a stick comes back.
    case folderMissing(path: String)
    /// The folder is empty, and not the one that it was: a stick that was pulled leaves such a one. The songs stay in the
    /// list.
    case folderAway(path: String)
    /// The folder cannot be looked into. The songs stay in the list.
    case folderUnreadable(path: String, cause: String)
    /// There is no song in the folder.
    case noSongs(path: String)
    /// The folder has more songs, folders or levels than the library takes; the others are left out.
    case tooMuch(path: String)
    /// Some files could not be read as music; the first of them by name.
    case unreadableFiles(count: Int, example: String)
    /// Changes are not told by the system, but looked for now and then.
    case notWatched(path: String, cause: String)
    /// The playlist cannot be read. Any song of the folder plays instead.
    case playlistUnreadable(path: String)
    /// None of a playlist's entries is a song of the folder. Any song of the folder plays instead.
    case playlistEmpty(path: String, missing: Int)
    /// Some of a playlist's entries are no songs of the folder; the first of them.
    case playlistIncomplete(missing: Int, entries: Int, example: String)
    /// The program that reads tags does not start, so new files are not read.
    case readerFailed
    /// The index can be neither used nor made again.
    case indexUnusable(path: String, cause: String)

    /// The row of this problem. What the music goes on with is told in passing.
    public var problem: Problem {
        switch self {
        case .folderMissing(let path):
            .stays(
                "libraryMissing", "The music folder \(shown(path)) is not there, so its songs cannot play.",
                "Plug the stick in again; its songs are back by themselves.")
        case .folderAway(let path):
            .stays(
                "libraryAway", "The music folder \(shown(path)) is empty now, so its songs cannot play.",
                "Plug the stick in again; its songs are back by themselves.")
        case .folderUnreadable(let path, let cause):
            .stays(
                "libraryUnreadable",
                "The music folder \(shown(path)) cannot be read (\(cause)), so its songs may not play.",
                "Let this user read it, or try another stick.")
        case .noSongs(let path):
            .stays(
                "libraryEmpty", "There is no music in the folder \(shown(path)), so nothing can be chosen.",
                "Copy music into it; it is found by itself.")
        case .tooMuch(let path):
            .passes(
                "libraryTooLarge",
                "The music folder \(shown(path)) has more in it than the library takes; some of its songs are left out.",
                "Put what is not music elsewhere, or choose a smaller folder.", raisedBy: .headUnit)
        case .unreadableFiles(1, let example):
            .passes(
                "libraryFilesUnreadable", "The file \(shown(example)) cannot be read as music; it is left out.",
                "Try it in another player, and copy it again where it is broken.", raisedBy: .headUnit)
        case .unreadableFiles(let count, let example):
            .passes(
                "libraryFilesUnreadable",
                "\(count) files cannot be read as music, such as \(shown(example)); they are left out.",
                "Try them in another player, and copy them again where they are broken.", raisedBy: .headUnit)
        case .notWatched(let path, let cause):
            .passes(
                "libraryNotWatched", "New songs in \(shown(path)) are noticed only every few minutes (\(cause)).",
                "Raise the system's limit: sudo sysctl fs.inotify.max_user_watches=65536.", raisedBy: .headUnit)
        case .playlistUnreadable(let path):
            .stays(
                "playlistUnreadable",
                "The playlist \(shown(path)) cannot be read, so any song of the folder plays instead.",
                "Check its path, and whether this user may read it. It is read again when the folder changes.")
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
                "Start roadmesh again; if this stays, install it again.")
        case .indexUnusable(let path, let cause):
            .stays(
                "libraryIndexUnusable", "The list of songs cannot be kept in \(shown(path)) (\(cause)).",
                "Make room on that disk, and let this user write there.")
        }
    }

    /// Whether none of the songs can be played. While it is so, a file that cannot be opened says nothing about its song.
    public var isAbsence: Bool {
        switch self {
        case .folderMissing, .folderAway, .folderUnreadable: true
        case .noSongs, .tooMuch, .unreadableFiles, .notWatched, .playlistUnreadable, .playlistEmpty,
            .playlistIncomplete, .readerFailed, .indexUnusable:
            false
        }
    }

    /// File names are somebody else's words.
    private func shown(_ path: String) -> String { UntrustedText.shown(path) }
}
