// SPDX-License-Identifier: Apache-2.0

/// The words of a text, as they are searched: `Letters.folded`, and everything between letters and digits left out. A
/// letter of a script without spaces is a word, so a search finds any part of a title.
struct Words: Hashable, Sendable {
    private(set) var words: [String] = []

    /// The words of a text as it is written.
    init(_ text: String) { self.init(folded: Letters.folded(text)) }

    private init(folded text: String) {
        var word = String.UnicodeScalarView()
        func end() {
            if !word.isEmpty { words.append(String(word)) }
            word = String.UnicodeScalarView()
        }
        for letter in text.unicodeScalars {
            if Letters.isMark(letter) {
                word.append(letter)
            } else if Letters.isOfScriptWithoutSpaces(letter) {
                end()
                word.append(letter)
            } else if Self.isOfWord(letter) {
                if let last = word.first, Letters.isOfScriptWithoutSpaces(last) { end() }
                word.append(letter)
            } else {
                end()
            }
        }
        end()
    }

    /// The words with a space between two.
    var text: String { words.joined(separator: " ") }

    private static func isOfWord(_ letter: Unicode.Scalar) -> Bool {
        if letter.isASCII {
            return ("a"..."z").contains(letter) || ("0"..."9").contains(letter) || ("A"..."Z").contains(letter)
        }
        return letter.properties.isAlphabetic || letter.properties.numericType != nil
    }
}
