// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Finds the songs of a playlist. The playlist may come from another system, where the same music is in another folder
/// or on another drive. So it picks the song that shares the longest end of the path. Separators, case, Unicode normal
/// forms and URL escapes do not matter.
struct PlaylistMatching: Sendable {
    /// A song of the library.
    private struct Candidate {
        /// The path components in the form that is compared, without case.
        var parts: [String]
        /// The path components as they are written.
        var written: [Substring]
        var id: String
    }

    /// How well a song fits: the number of equal components from the end, and how many of them are spelled the same.
    private struct Fit: Comparable {
        var parts: Int
        var written: Int

        static func < (one: Self, other: Self) -> Bool { (one.parts, one.written) < (other.parts, other.written) }
    }

    /// Songs by the name of their file.
    private var candidates: [String: [Candidate]] = [:]

    /// Indexes the songs of the library: the paths of their files in its folder, and their ids.
    init(_ songs: [(path: String, id: String)], in folder: String, for entries: [PlaylistEntry]) {
        let names = Set(
            entries.lazy.flatMap(\.readings).compactMap { Self.written($0).last.map { Letters.caseless(String($0)) } })
        let above = Self.written(folder)
        for song in songs {
            let written = Self.written(song.path)
            guard let name = written.last.map({ Letters.caseless(String($0)) }), names.contains(name) else { continue }
            let whole = above + written
            candidates[name, default: []].append(Candidate(parts: Self.compared(whole), written: whole, id: song.id))
        }
    }

    /// The song that an entry names. Nil if no song or several songs fit best.
    func song(for entry: PlaylistEntry) -> String? {
        entry.readings.lazy.compactMap(song(of:)).first
    }

    private func song(of reading: String) -> String? {
        let written = Self.written(reading)
        let parts = Self.compared(written)
        guard let name = parts.last, let named = candidates[name] else { return nil }
        let ranked = named.map { (id: $0.id, fit: Self.fit($0, parts, written)) }
        guard let longest = ranked.map(\.fit).max() else { return nil }
        let best = ranked.filter { $0.fit == longest }
        return best.count == 1 ? best[0].id : nil
    }

    private static func fit(_ candidate: Candidate, _ parts: [String], _ written: [Substring]) -> Fit {
        let common = zip(candidate.parts.reversed(), parts.reversed()).prefix { $0 == $1 }.count
        let same = zip(candidate.written.reversed(), written.reversed()).prefix(common).count {
            $0.utf8.elementsEqual($1.utf8)
        }
        return Fit(parts: common, written: same)
    }

    private static func written(_ path: String) -> [Substring] { path.split { $0 == "/" || $0 == "\\" } }

    private static func compared(_ parts: [Substring]) -> [String] { parts.map { Letters.caseless(String($0)) } }
}

/// Finds songs by the identity of their files. A playlist may contain a link, or the target of a link in the library.
struct LinkedFiles: Sendable {
    private struct Place: Hashable {
        var device: dev_t
        var file: ino_t
    }

    private var songs: [Place: String] = [:]

    /// Examines the files of all songs of a folder.
    init(_ songs: [(path: String, id: String)], in folder: String) {
        for song in songs {
            if let place = Self.place(of: folder + "/" + song.path) { self.songs[place] = song.id }
        }
    }

    /// The song with the same file as an entry.
    func song(for entry: PlaylistEntry) -> String? {
        entry.readings.lazy.compactMap { Self.place(of: $0).flatMap { songs[$0] } }.first
    }

    /// Whether an entry is the path of a file on this device.
    static func isThere(_ entry: PlaylistEntry) -> Bool { entry.readings.contains { place(of: $0) != nil } }

    private static func place(of path: String) -> Place? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Place(device: status.st_dev, file: status.st_ino)
    }
}

/// The result for a playlist: its songs in the folder.
public struct PlaylistSongs: Hashable, Sendable {
    /// The songs, in the playlist's order.
    public var songs: [String] = []
    /// Entries that are files. Streams are not counted.
    public var entries = 0
    /// Entries without a song in the folder.
    public var missing = 0
    /// The first entry without a song in the folder.
    public var example: String?
}
