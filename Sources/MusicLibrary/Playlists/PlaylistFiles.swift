// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Finds the playlists of a library in its folder and in the direct subfolders, where people keep them.
enum PlaylistFiles {
    /// Their relative paths in alphabetical order, at most `LibraryLimits.playlists`.
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
}
