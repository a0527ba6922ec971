// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MusicLibrary

/// What a library has when its host begins.
///
/// A new session begins with what is known; the other songs come as they are read. A session that goes on needs all of
/// them: a song of its queue that is not there would leave it, with its votes.
public struct LibraryStart: Sendable {
    /// The songs.
    public private(set) var songs: [Song] = []
    /// What was told meanwhile and is still to be shown.
    public private(set) var updates: [MusicLibrary.Update] = []
    private let isComplete: Bool
    private var toRead: Int?

    /// A start. `isComplete` tells that all songs are needed.
    public init(isComplete: Bool) { self.isComplete = isComplete }

    /// Waits for the songs of a library that runs. `progress` is told how many of how many files have been read.
    public mutating func wait(
        for library: MusicLibrary, progress: @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) async {
        for await update in library.updates {
            if case .progress(let done, let all) = update { progress(done, all) }
            if take(update) { break }
        }
    }

    /// Takes an update. True where the host can begin.
    mutating func take(_ update: MusicLibrary.Update) -> Bool {
        switch update {
        case .progress(let done, let all):
            updates.append(update)
            toRead = done == all ? nil : all
            return false
        case .songs(let songs):
            self.songs = songs
            return !isComplete || toRead == nil
        // Nothing more is to be had now: what comes later is told later.
        case .problem:
            updates.append(update)
            return true
        case .recovered: return false
        }
    }
}
