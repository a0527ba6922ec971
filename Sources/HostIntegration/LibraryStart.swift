// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MusicLibrary

/// The content of a library when its host starts.
///
/// A new session starts with the known songs. The others follow as they are read. A resumed session needs all songs: a
/// missing song of its queue would be dropped from the queue, with its votes.
public struct LibraryStart: Sendable {
    /// The songs.
    public private(set) var songs: [Song] = []
    /// Updates that arrived during the wait and must still be shown.
    public private(set) var updates: [MusicLibrary.Update] = []
    private let isComplete: Bool
    private var toRead: Int?

    /// Creates an empty start. `isComplete` means that all songs are needed.
    public init(isComplete: Bool) { self.isComplete = isComplete }

    /// Waits for the songs of a running library. `progress` gets the number of files that were read, and of all files.
    public mutating func wait(
        for library: MusicLibrary, progress: @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
    ) async {
        for await update in library.updates {
            if case .progress(let done, let all) = update { progress(done, all) }
            if take(update) { break }
        }
    }

    /// Handles an update. Returns true if the host can start.
    mutating func take(_ update: MusicLibrary.Update) -> Bool {
        switch update {
        case .progress(let done, let all):
            updates.append(update)
            toRead = done == all ? nil : all
            return false
        case .songs(let songs):
            self.songs = songs
            return !isComplete || toRead == nil
        // No further songs are available now. An update reports songs that appear later.
        case .problem:
            updates.append(update)
            return true
        case .recovered: return false
        }
    }
}
