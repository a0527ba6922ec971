// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Logging
import MeshNode

/// Looks through a list of songs in the way in which a folder's are looked through.
public struct ListSearch: SongSearch {
    private let index: MusicIndex
    private let logger: Logger

    /// Takes the songs of a list. Throws where SQLite has no memory for them.
    public init(_ songs: [Song], logger: Logger) throws(LibraryProblem) {
        index = try MusicIndex.inMemory(songs)
        self.logger = logger
    }

    /// See `MusicIndex.songs(matching:atMost:)`; none where the index fails.
    public func songs(matching words: String, atMost limit: Int) async -> [Song] {
        do {
            return try await index.songs(matching: words, atMost: limit)
        } catch {
            logger.warning("the list of songs was not searched: \(error)")
            return []
        }
    }
}

extension MusicLibrary: SongSearch {}
