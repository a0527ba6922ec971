// SPDX-License-Identifier: Apache-2.0

/// A typed search as a query of SQLite's full-text search (https://sqlite.org/fts5.html, section 3). Each word is a
/// quoted string, so that nothing in it is an operator, and matches as a prefix.
struct SearchWords: Hashable, Sendable {
    /// The spellings of each word that a song must have. A spelling may be several words in a row.
    let words: [[String]]
    /// Words such as "the": a song with them ranks higher.
    let fillers: [String]
    /// All words that count, without spaces.
    let key: String

    /// Parses a search as it was typed.
    init(_ typed: String, atMost limit: Int) {
        let chunks = typed.replacing("\0", with: "").split(whereSeparator: \.isWhitespace).lazy
            .map { Words(String($0), isTyped: true) }.filter { !$0.words.isEmpty }.prefix(limit)
        // Signs count only without letters and digits.
        let hasWords = chunks.contains { $0.hasLetters }
        let counted = hasWords ? chunks.filter(\.hasLetters) : Array(chunks)
        let essential = counted.filter { !Words.fillers.contains($0.text) }
        let required = essential.isEmpty ? counted : essential
        words = required.map { [$0.text] + $0.variants }
        fillers = essential.isEmpty ? [] : counted.filter { Words.fillers.contains($0.text) }.map(\.text)
        key = required.flatMap(\.words).joined()
    }

    /// The search without one of its three or more words, starting with the last one.
    var withoutOne: [String] {
        guard words.count > 2 else { return [] }
        return words.indices.reversed().map { left in
            words.indices.filter { $0 != left }.map { words[$0][0] }.joined(separator: " ")
        }
    }

    /// Whether there is nothing to search for.
    var isEmpty: Bool { words.isEmpty }

    /// The query for names that begin with the first word, or with an article before it.
    func beginning(in column: String) -> String {
        guard let first = words.first else { return pattern(in: column) }
        let starts = first.flatMap { word in ["", "the ", "a "].map { "^\(Self.quoted($0 + word))" } }
        return "({\(column)} : (\(starts.joined(separator: " OR ")))) AND (\(pattern(in: column)))"
    }

    private static func quoted(_ text: String) -> String { "\"\(text.replacing("\"", with: "\"\""))\"" }

    /// The query in some columns, or in all.
    func pattern(in columns: String? = nil, isWhole: Bool = false) -> String {
        let words = words.map { spellings in
            let spelled = spellings.map { Self.quoted($0) + (isWhole ? "" : "*") }
            let whole = spellings.filter { !$0.contains(" ") }.map { Self.quoted(Words.whole + $0) }
            return "(" + (spelled + whole).joined(separator: " OR ") + ")"
        }.joined(separator: " AND ")
        return columns.map { "{\($0)} : (\(words))" } ?? words
    }

    /// The words without spaces, if they are long enough for a search inside words.
    var parts: [String]? {
        let parts = words.map { $0[0].filter { $0 != " " } }
        return parts.allSatisfy { $0.unicodeScalars.count >= Self.shortestPart } ? parts : nil
    }

    private static let shortestPart = 3
}

extension Words {
    /// Whether the text contains a letter or a digit.
    var hasLetters: Bool {
        words.contains { $0.unicodeScalars.contains { $0.properties.isAlphabetic || $0.properties.numericType != nil } }
    }
}
