// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Finds the playlists of a library: those in its folder, and in the folders directly in it, where people keep them.
enum PlaylistFiles {
    /// Their paths in the folder, in alphabetical order, at most `LibraryLimits.playlists`.
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
            // A song's name has a dot, and most folders' have none: only those are opened.
            guard !name.contains(".") else { continue }
            found += entries(folder + "/" + name).filter(Playlist.isPlaylist).map { name + "/" + $0 }
        }
        return Array(found.sorted().prefix(limits.playlists))
    }
}
