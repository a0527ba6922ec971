// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MusicLibrary
import NodeCore

/// Decides what to report to a node about its library. It converts updates of the library to inputs for the node.
///
/// While the folder is gone, nothing in it can be played. So the music pauses, and continues when the folder is back.
/// Skipping from song to song would only empty the queue.
struct LibraryChanges: Sendable {
    /// The number of songs, and the progress of reading them.
    private(set) var count = LibraryCount(songs: 0)
    /// Whether the folder is gone.
    private(set) var isAway = false
    /// Whether every song of the folder is known.
    var isComplete: Bool { !isAway && count.toScan == nil && count.songs > 0 }
    /// The code of the last reported problem, while it persists.
    private var told: String?

    /// The node has started with these songs. Returns their number.
    mutating func begin(_ start: LibraryStart) -> LibraryCount {
        count.songs = start.songs.count
        return count
    }

    /// Stores the library's playlists, and the one that plays while the queue is empty.
    mutating func note(playlists: [String], chosen: String?) { (count.playlists, count.playlist) = (playlists, chosen) }

    /// Handles an update. Returns the inputs for the node.
    mutating func handle(_ update: MusicLibrary.Update) -> [NodeInput] {
        switch update {
        case .progress(let done, let all):
            count.scanned = done == all ? nil : done
            count.toScan = done == all ? nil : all
            return []
        case .songs(let songs):
            count.songs = songs.count
            return [.library(SongLibrary(songs))]
        case .problem(let problem): return tell(problem.problem, isAway: problem.isAbsence)
        case .recovered: return tell(nil, isAway: false)
        }
    }

    private mutating func tell(_ problem: Problem?, isAway: Bool) -> [NodeInput] {
        var inputs: [NodeInput] = told.map { [.cleared(code: $0)] } ?? []
        told = problem?.code
        if let problem { inputs.append(.notice(Notice(problem))) }
        if isAway != self.isAway { inputs.append(.libraryAway(isAway)) }
        self.isAway = isAway
        return inputs
    }
}
