// SPDX-License-Identifier: Apache-2.0

/// What a person types, as a question that SQLite's full-text search understands (https://sqlite.org/fts5.html, section 3):
/// each word is a string in quotes, so that nothing in it is an operator, and the beginning of a word is enough.
struct SearchWords: Hashable, Sendable {
    /// The question, or nil where there is no word in it.
    let pattern: String?

    /// Takes what was typed, as it was typed.
    init(_ typed: String, atMost limit: Int) {
        let words = typed.split(whereSeparator: \.isWhitespace).lazy
            .map { Self.quoted($0) }
            // Without a letter or a digit it has nothing to look for, and would find nothing.
            .filter { $0.unicodeScalars.contains { $0.properties.isAlphabetic || $0.properties.numericType != nil } }
            .prefix(limit)
        // Next to one another, all of them are looked for.
        pattern = words.isEmpty ? nil : words.joined(separator: " ")
    }

    private static func quoted(_ word: Substring) -> String {
        // A zero would end the question.
        "\"" + word.replacing("\0", with: "").replacing("\"", with: "\"\"") + "\"*"
    }
}
