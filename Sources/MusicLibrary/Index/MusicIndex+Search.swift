// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB
import Logging

extension MusicIndex {
    /// Finds songs like `find(_:atMost:)`. If the index fails, it logs the error and returns no songs.
    func find(_ query: SongQuery, atMost limit: Int, _ logger: Logger) async -> FoundSongs {
        do {
            return try await find(query, atMost: limit)
        } catch {
            logger.warning("the songs were not searched: \(error)")
            return []
        }
    }

    /// A page of a shelf or of the matches of words, and the total number.
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
            // Play history is not stored in the folder's index.
            case .heard: return []
            }
        }
    }

    /// Songs with the words. If none has them, songs with the most similar words, or with all words but one.
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

    /// The songs that match the words, best first. Empty if the text has no words.
    public func songs(matching typed: String, atMost limit: Int) async throws(LibraryProblem) -> [Song] {
        try await read { [limits] db in
            try WordSearch(typed, limits, db).found(from: 0, atMost: limit).songs
        }
    }
}
