// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What is wrong with a music library. All but `indexUnusable` end by themselves when they are cured.
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
    /// The index can be neither used nor made anew.
    case indexUnusable(path: String, cause: String)

    /// A name for programs.
    public var code: String {
        switch self {
        case .folderMissing: "libraryMissing"
        case .folderAway: "libraryAway"
        case .folderUnreadable: "libraryUnreadable"
        case .noSongs: "libraryEmpty"
        case .tooMuch: "libraryTooLarge"
        case .unreadableFiles: "libraryFilesUnreadable"
        case .notWatched: "libraryNotWatched"
        case .indexUnusable: "libraryIndexUnusable"
        }
    }

    /// What happened and what it means, for a person.
    public var message: String {
        switch self {
        case .folderMissing(let path): "The music folder \(Self.shown(path)) is not there, so its songs cannot play."
        case .folderAway(let path): "The music folder \(Self.shown(path)) is empty now, so its songs cannot play."
        case .folderUnreadable(let path, let cause):
            "The music folder \(Self.shown(path)) cannot be read (\(cause)), so its songs may not play."
        case .noSongs(let path): "There is no music in the folder \(Self.shown(path)), so nothing can be chosen."
        case .tooMuch(let path):
            "The music folder \(Self.shown(path)) has more in it than the library takes; some of its songs are left out."
        case .unreadableFiles(1, let example):
            "The file \(Self.shown(example)) cannot be read as music; it is left out."
        case .unreadableFiles(let count, let example):
            "\(count) files cannot be read as music, such as \(Self.shown(example)); they are left out."
        case .notWatched(let path, let cause):
            "New songs in \(Self.shown(path)) are noticed only every few minutes (\(cause))."
        case .indexUnusable(let path, let cause):
            "The list of songs cannot be kept in \(Self.shown(path)) (\(cause))."
        }
    }

    /// What to do, for a person.
    public var suggestion: String {
        switch self {
        case .folderMissing, .folderAway: "Plug the stick in again; its songs are back by themselves."
        case .folderUnreadable: "Let this user read it, or try another stick."
        case .noSongs: "Copy music into it; it is found by itself."
        case .tooMuch: "Put what is not music elsewhere, or choose a smaller folder."
        case .unreadableFiles: "Try them in another player, and copy them anew where they are broken."
        case .notWatched: "Raise the system's limit: sudo sysctl fs.inotify.max_user_watches=65536."
        case .indexUnusable: "Make room on that disk, and let this user write there."
        }
    }

    /// File names are somebody else's words.
    private static func shown(_ path: String) -> String { UntrustedText.shown(path) }
}
