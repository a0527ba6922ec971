// SPDX-License-Identifier: Apache-2.0

/// What a person types, as a query of SQLite's full-text search (https://sqlite.org/fts5.html, section
/// 3): each word is a string in quotes, so that nothing in it is an operator, and the beginning of a word is enough.
struct SearchWords: Hashable, Sendable {
    /// The ways to write each word that a song must have. A way may be several words, which follow one another.
    let words: [[String]]
    /// Words such as "the": a song with them comes first.
    let fillers: [String]
    /// All words that count, without spaces.
    let key: String

    /// Takes what was typed, as it was typed.
    init(_ typed: String, atMost limit: Int) {
        let chunks = typed.replacing("\0", with: "").split(whereSeparator: \.isWhitespace).lazy
            .map { Words(String($0), isTyped: true) }.filter { !$0.words.isEmpty }.prefix(limit)
        // Signs count where there is nothing else.
        let hasWords = chunks.contains { $0.hasLetters }
        let counted = hasWords ? chunks.filter(\.hasLetters) : Array(chunks)
        let essential = counted.filter { !Words.fillers.contains($0.text) }
        let required = essential.isEmpty ? counted : essential
        words = required.map { [$0.text] + $0.variants }
        fillers = essential.isEmpty ? [] : counted.filter { Words.fillers.contains($0.text) }.map(\.text)
        key = required.flatMap(\.words).joined()
    }

    /// What was typed without one of three words or more, the last one first.
    var withoutOne: [String] {
        guard words.count > 2 else { return [] }
        return words.indices.reversed().map { left in
            words.indices.filter { $0 != left }.map { words[$0][0] }.joined(separator: " ")
        }
    }

    /// Whether there is nothing to look for.
    var isEmpty: Bool { words.isEmpty }

    /// The question for names that begin with the first word, or with an article and it.
    func beginning(in column: String) -> String {
        guard let first = words.first else { return pattern(in: column) }
        let starts = first.flatMap { word in ["", "the ", "a "].map { "^\(Self.quoted($0 + word))" } }
        return "({\(column)} : (\(starts.joined(separator: " OR ")))) AND (\(pattern(in: column)))"
    }

    private static func quoted(_ text: String) -> String { "\"\(text.replacing("\"", with: "\"\""))\"" }

    /// The question in some columns, or in all.
    func pattern(in columns: String? = nil, isWhole: Bool = false) -> String {
        let words = words.map { spellings in
            let spelled = spellings.map { Self.quoted($0) + (isWhole ? "" : "*") }
            let whole = spellings.filter { !$0.contains(" ") }.map { Self.quoted(Words.whole + $0) }
            return "(" + (spelled + whole).joined(separator: " OR ") + ")"
        }.joined(separator: " AND ")
        return columns.map { "{\($0)} : (\(words))" } ?? words
    }

    /// The words without spaces, where they are long enough to be looked for inside others.
    var parts: [String]? {
        let parts = words.map { $0[0].filter { $0 != " " } }
        return parts.allSatisfy { $0.unicodeScalars.count >= Self.shortestPart } ? parts : nil
    }

    private static let shortestPart = 3
}

extension Words {
    /// Whether it is more than signs.
    var hasLetters: Bool {
        words.contains { $0.unicodeScalars.contains { $0.properties.isAlphabetic || $0.properties.numericType != nil } }
    }
}
