// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MusicLibrary

/// Decides what people are told of a playlist: how many of its entries are no songs of the folder, and that the whole folder plays
/// if none is.
struct PlaylistReport: Sendable {
    /// What was told last, and still holds.
    private var told: LibraryProblem?

    /// The playlist was read: with these songs, or not at all. Returns what the node is told.
    mutating func handle(_ songs: PlaylistSongs?, of path: String) -> [NodeInput] {
        let problem = Self.problem(songs, of: path)
        guard problem != told else { return [] }
        let former = told.map { [NodeInput.cleared(code: $0.problem.code)] } ?? []
        told = problem
        return former + (problem.map { [.notice(Notice($0.problem))] } ?? [])
    }

    /// Another playlist plays: what was told no longer matters.
    mutating func withdraw() -> [NodeInput] {
        defer { told = nil }
        return told.map { [NodeInput.cleared(code: $0.problem.code)] } ?? []
    }

    private static func problem(_ songs: PlaylistSongs?, of path: String) -> LibraryProblem? {
        guard let songs else { return .playlistUnreadable(path: path) }
        if songs.songs.isEmpty { return .playlistEmpty(path: path, missing: songs.missing) }
        guard songs.missing > 0 else { return nil }
        return .playlistIncomplete(missing: songs.missing, entries: songs.entries, example: songs.example ?? "")
    }
}
