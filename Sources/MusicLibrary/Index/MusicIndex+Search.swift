// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB
import Logging

extension MusicIndex {
    /// Finds as `find(_:atMost:)` does; nothing, and a line in the log, where the index fails.
    func find(_ query: SongQuery, atMost limit: Int, _ logger: Logger) async -> FoundSongs {
        do {
            return try await find(query, atMost: limit)
        } catch {
            logger.warning("the songs were not searched: \(error)")
            return []
        }
    }

    /// What is on a shelf, or has words, from a place on; and how many there are in all.
    public func find(_ query: SongQuery, atMost limit: Int) async throws(LibraryProblem) -> FoundSongs {
        try await read { [limits] db in
            let shelves = Shelves(db: db, from: query.from, limit: limit)
            switch query.shelf {
            case .words: return try Self.matching(query, atMost: limit, limits, db)
            case .artists: return try shelves.artists()
            case .albums: return try shelves.albums()
            case .newest: return try shelves.newest()
            case .artist: return try shelves.artist(of: query.words)
            case .album: return try shelves.album(of: query.words)
            // What was played is not in the folder.
            case .heard: return []
            }
        }
    }

    /// Songs with the words, or where no song has them, with those that are most like them, or with all but one.
    private static func matching(
        _ query: SongQuery, atMost limit: Int, _ limits: LibraryLimits, _ db: Database
    ) throws -> FoundSongs {
        let search = try WordSearch(query.words, limits, db)
        if search.total > 0 { return try search.found(from: query.from, atMost: limit) }
        let meant = try Vocabulary(db).meant(by: query.words, limits)
        for words in [meant].compactMap(\.self) + search.words.withoutOne {
            let search = try WordSearch(words, limits, db)
            guard search.total > 0 else { continue }
            var found = try search.found(from: query.from, atMost: limit)
            found.lookedFor = words
            return found
        }
        return []
    }

    /// The songs that have the words, the best first. Empty without a word.
    public func songs(matching typed: String, atMost limit: Int) async throws(LibraryProblem) -> [Song] {
        try await read { [limits] db in
            try WordSearch(typed, limits, db).found(from: 0, atMost: limit).songs
        }
    }
}
