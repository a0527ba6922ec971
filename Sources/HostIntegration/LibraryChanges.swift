// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MusicLibrary

/// Decides what a node is told of its library: an update goes in, inputs come out.
///
/// While the folder is away nothing of it can be played, so the music pauses where it is, and goes on when it is back;
/// going from song to song would only empty the queue.
struct LibraryChanges: Sendable {
    /// How many songs there are, and how far they have been read.
    private(set) var count = LibraryCount(songs: 0)
    /// The code of the problem that is told.
    private var told: String?
    private var isPlaying = false
    /// The music pauses for want of its files, and not since somebody wanted a pause.
    private var pauses = false

    /// The node has begun with these songs. Returns how many they are.
    mutating func begin(_ start: LibraryStart) -> LibraryCount {
        count.songs = start.songs.count
        return count
    }

    /// What is heard is something else.
    mutating func handle(_ playback: Playback) {
        isPlaying = playback.isPlaying
        if isPlaying { pauses = false }
    }

    /// Takes an update. Returns what the node is told.
    mutating func handle(_ update: MusicLibrary.Update) -> [NodeInput] {
        switch update {
        case .progress(let done, let all):
            count.scanned = done == all ? nil : done
            count.toScan = done == all ? nil : all
            return []
        case .songs(let songs):
            count.songs = songs.count
            return [.library(SongLibrary(songs))]
        case .problem(let problem): return tell(problem)
        case .recovered: return recovered()
        }
    }

    private mutating func tell(_ problem: LibraryProblem) -> [NodeInput] {
        var inputs: [NodeInput] = told.map { [.cleared(code: $0)] } ?? []
        told = problem.problem.code
        inputs.append(.notice(Notice(problem.problem)))
        if problem.isAbsence, isPlaying {
            pauses = true
            inputs.append(.host(.pause))
        }
        return inputs
    }

    private mutating func recovered() -> [NodeInput] {
        defer {
            told = nil
            pauses = false
        }
        return (told.map { [.cleared(code: $0)] } ?? []) + (pauses ? [.host(.play)] : [])
    }
}

extension LibraryProblem {
    /// Whether none of the songs can be played.
    fileprivate var isAbsence: Bool {
        switch self {
        case .folderMissing, .folderAway, .folderUnreadable: true
        case .noSongs, .tooMuch, .unreadableFiles, .notWatched, .indexUnusable: false
        }
    }
}
