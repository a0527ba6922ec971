// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MusicLibrary
import NodeCore

/// Decides what to report about a playlist: how many of its entries are missing from the folder. If all are missing, it
/// reports that all songs of the folder play instead.
struct PlaylistReport: Sendable {
    /// The last reported problem, while it persists.
    private var told: LibraryProblem?

    /// The playlist was read with these songs, or could not be read. Returns the inputs for the node.
    mutating func handle(_ songs: PlaylistSongs?, of path: String) -> [NodeInput] {
        let problem = Self.problem(songs, of: path)
        guard problem != told else { return [] }
        let former = told.map { [NodeInput.cleared(code: $0.problem.code)] } ?? []
        told = problem
        return former + (problem.map { [.notice(Notice($0.problem))] } ?? [])
    }

    /// Another playlist plays, so the report is withdrawn.
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
