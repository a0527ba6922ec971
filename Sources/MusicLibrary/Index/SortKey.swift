// SPDX-License-Identifier: Apache-2.0

import GRDB

/// What songs are put in order by: artist, album, track, title, each without capitals, accents and punctuation, as the
/// search has them.
struct SortKey {
    private let tokenizer: any FTS5Tokenizer

    init(_ db: Database) throws {
        tokenizer = try db.makeTokenizer(.unicode61(diacritics: .remove))
    }

    /// A song's key. Keys are compared byte by byte.
    func text(artist: String, album: String, track: Int, title: String) throws -> String {
        let number = String(min(max(track, 0), 99_999))
        let track = String(repeating: "0", count: 5 - number.utf8.count) + number
        return try [folded(artist), folded(album), track, folded(title)].joined(separator: "\u{1}")
    }

    private func folded(_ text: String) throws -> String {
        try tokenizer.tokenize(document: text).map(\.token).joined(separator: " ")
    }
}
