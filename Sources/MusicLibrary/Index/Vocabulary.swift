// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import GRDB
import NodeCore

/// The words of all songs, for corrections of mistyped searches.
struct Vocabulary {
    private let db: Database

    init(_ db: Database) { self.db = db }

    /// The corrected search: each word that no song has becomes the most frequent one of the most similar words. Nil if
    /// a word has no similar one, or if all words exist.
    func meant(by typed: String, _ limits: LibraryLimits) throws -> String? {
        let words = Words(typed).words.prefix(limits.searchWords)
        var meant: [String] = []
        for word in words {
            guard let likely = try isThere(word) ? word : nearest(to: word) else { return nil }
            meant.append(likely)
        }
        return meant == Array(words) || meant.isEmpty ? nil : meant.joined(separator: " ")
    }

    /// Whether any song has a word that begins with this.
    private func isThere(_ word: String) throws -> Bool {
        try Bool.fetchOne(
            try db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM songVocabulary WHERE term >= ?1 AND term < ?1 || char(1114111))"),
            arguments: [word]) ?? false
    }

    /// The word that is most similar to the typed one, or has the most similar beginning.
    private func nearest(to word: String) throws -> String? {
        let typed = Array(word.unicodeScalars)
        // In a short word, one wrong letter leaves too little.
        guard typed.count >= 4 else { return nil }
        let most = typed.count < 7 ? 1 : 2
        var best: (term: String, slips: Int, songs: Int)?
        let rows = try Row.fetchCursor(
            try db.cachedStatement(sql: "SELECT term, doc FROM songVocabulary WHERE length(term) >= ?"),
            arguments: [typed.count - most])
        while let row = try rows.next() {
            let (term, songs): (String, Int) = (row[0], row[1])
            // Words without a common letter among their first two are not considered similar.
            var letters = term.unicodeScalars.makeIterator()
            let (first, second) = (letters.next(), letters.next())
            guard first == typed[0] || second != nil && (second == typed[1] || first == typed[1]) else { continue }
            let wrong = slips(typed, Array(term.unicodeScalars.prefix(typed.count + most)), most)
            guard wrong <= most, !term.hasPrefix(Words.whole) else { continue }
            if let best, (best.slips, -best.songs) <= (wrong, -songs) { continue }
            best = (term, wrong, songs)
        }
        return best?.term
    }

    /// The number of wrong letters, compared with a word or with its beginning.
    private func slips(_ typed: [Unicode.Scalar], _ term: [Unicode.Scalar], _ most: Int) -> Int {
        (max(typed.count - most, 1)...typed.count + most).map { length in
            CommandReader.slips(typed, Array(term.prefix(length)))
        }.min() ?? .max
    }
}
