// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol

/// Finds the playlists of a library in its folder and in the direct subfolders, where people keep them.
enum PlaylistFiles {
    /// The relative paths of the playlists in alphabetical order, at most `LibraryLimits.playlists`.
    static func find(in folder: String, limits: LibraryLimits) -> [String] {
        let files = FileManager.default
        func entries(_ path: String) -> [String] {
            let names = (try? files.contentsOfDirectory(atPath: path)) ?? []
            return names.filter { !$0.hasPrefix(".") }.sorted().prefix(limits.playlistFolderEntries).map { $0 }
        }
        var found: [String] = []
        for name in entries(folder) {
            if Playlist.isPlaylist(name) {
                found.append(name)
                continue
            }
            // Songs' names contain a dot, and most folders' names do not: only names without a dot are opened.
            guard !name.contains(".") else { continue }
            found += entries(folder + "/" + name).filter(Playlist.isPlaylist).map { name + "/" + $0 }
        }
        return Array(found.sorted().prefix(limits.playlists))
    }

    /// Finds the playlist that a person means by its path, or by the name of its file if no other playlist has that
    /// name. An empty name means all songs.
    static func meant(by typed: String, among known: [String]) -> String? {
        if typed.isEmpty || known.contains(typed) { return typed }
        let meant = known.filter { path in
            let file = path.split(separator: "/").last.map(String.init) ?? path
            let name = file.split(separator: ".").dropLast().joined(separator: ".")
            return [path, file, name].contains { TypedName.isMeant($0, by: typed) }
        }
        return meant.count == 1 ? meant.first : nil
    }
}
