// SPDX-License-Identifier: Apache-2.0

/// The words of a text as they are searched: `Letters.folded`, with everything but letters and digits removed. Each
/// letter of a script without spaces is a word, so a search finds any part of a title. A text without letters and
/// digits, such as the band name `!!!`, is a single word.
struct Words: Hashable, Sendable {
    /// The words, in their order in the text.
    private(set) var words: [String] = []
    /// Other spellings of single words and of word sequences: `im` for `I'm`, `7` for `seven`.
    private(set) var variants: [String] = []

    /// The words of a text. A typed text needs fewer variants, because the index has the others.
    init(_ text: String, isTyped: Bool = false) {
        let chunks = Letters.caseless(text).unicodeScalars.split { $0.properties.isWhitespace }.map(String.init)
        for chunk in chunks { add(chunk) }
        if words.isEmpty { words = chunks.map { String($0.prefix(Self.longestSymbol)) } }
        if !isTyped { addSpellings() }
        if variants.isEmpty { return }
        var known = Set(words)
        variants = variants.filter { known.insert($0).inserted }
    }

    /// The words, separated by spaces.
    var text: String { words.joined(separator: " ") }

    /// The words, followed by `mark` and their variants.
    var indexed: String { variants.isEmpty ? text : "\(text) \(Self.mark) \(variants.joined(separator: " "))" }

    /// Separates words from variants. SQLite's tokenizer treats it as a space.
    static let mark = "\u{1}"

    /// Precedes variants that match only as complete words: the prefix "drei" does not find 3.
    static let whole = "="

    /// Words that people add or omit. They count only if there are no others.
    static let fillers: Set<String> = ["the", "a", "an", "and", "n", "und", "et", "y"]

    /// The words that count, or all if none does.
    static func essential(_ words: [String]) -> [String] {
        let essential = words.filter { !fillers.contains($0) }
        return essential.isEmpty ? words : essential
    }

    private static let longestSymbol = 16

    // MARK: A chunk between two spaces

    private mutating func add(_ chunk: String) {
        // Most words consist of ASCII letters.
        if chunk.utf8.allSatisfy(Self.isLetter) { return words.append(chunk) }
        let folded = Letters.folded(caseless: chunk)
        let parts = Self.parts(of: folded)
        guard !parts.isEmpty else {
            if folded == "&" || folded == "+" { words.append("and") }
            return
        }
        let isJoined = folded.contains { $0 == "&" || $0 == "+" }
        for (place, part) in parts.enumerated() {
            if place > 0, isJoined { words.append("and") }
            words.append(part)
        }
        if parts.count > 1, !parts.contains(where: Self.isOfScriptWithoutSpaces) {
            variants.append(parts.joined())
            // R&B.
            if isJoined, parts.allSatisfy({ $0.utf8.count == 1 }) { variants.append(parts.joined(separator: "n")) }
        }
        // Livin' on a Prayer.
        if let last = parts.last, last.hasSuffix("in"), folded.contains("in'") { variants.append(parts.joined() + "g") }
        if let plain = Self.withoutSigns(folded) { variants.append(plain) }
        if let spelled = Self.withDigraphs(chunk) { variants.append(Self.parts(of: Letters.folded(spelled)).joined()) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    private static func isOfScriptWithoutSpaces(_ word: String) -> Bool {
        word.unicodeScalars.first.map(Letters.isOfScriptWithoutSpaces) ?? false
    }

    /// Runs of letters and digits.
    private static func parts(of folded: String) -> [String] {
        var parts: [String] = []
        var part = String.UnicodeScalarView()
        func end() {
            if !part.isEmpty { parts.append(String(part)) }
            part = String.UnicodeScalarView()
        }
        for letter in folded.unicodeScalars {
            if Letters.isMark(letter) {
                part.append(letter)
            } else if Letters.isOfScriptWithoutSpaces(letter) {
                end()
                part.append(letter)
            } else if isOfWord(letter) {
                if let first = part.first, Letters.isOfScriptWithoutSpaces(first) { end() }
                part.append(letter)
            } else {
                end()
            }
        }
        end()
        return parts
    }

    private static func isOfWord(_ letter: Unicode.Scalar) -> Bool {
        if letter.isASCII { return ("a"..."z").contains(letter) || ("0"..."9").contains(letter) }
        return letter.properties.isAlphabetic || letter.properties.numericType != nil
    }

    private static let signs: [Character: Character] = [
        "$": "s", "!": "i", "@": "a", "€": "e", "£": "l", "¥": "y", "0": "o", "1": "i", "3": "e", "4": "a", "5": "s",
        "7": "t",
    ]

    /// `kesha` for `ke$ha`, and `deadmaus` for `deadmau5`. Nil without such a sign.
    private static func withoutSigns(_ folded: String) -> String? {
        guard folded.utf8.count(where: isLetter) > 1 else { return nil }
        var chunk = folded[...]
        while let last = chunk.last, last == "!" { chunk.removeLast() }
        let letters = chunk.count { $0.isLetter }
        let digits = chunk.count { $0.isNumber }
        guard letters > 1, digits == 0 || digits == 1 && letters > 3 else { return nil }
        var plain = ""
        var hasSign = false
        for letter in chunk {
            if let other = signs[letter] {
                plain.append(other)
                hasSign = true
            } else if letter.isLetter || letter.isNumber {
                plain.append(letter)
            }
        }
        return hasSign ? plain : nil
    }

    private static let digraphs: [Character: String] = ["ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"]

    /// `aerzte` for `ärzte`. Nil without such a letter.
    private static func withDigraphs(_ caseless: String) -> String? {
        guard caseless.utf8.contains(where: { $0 >= 0x80 }), caseless.contains(where: { digraphs[$0] != nil }) else {
            return nil
        }
        return caseless.map { digraphs[$0] ?? String($0) }.joined()
    }

    // MARK: Spellings

    private mutating func addSpellings() {
        for (place, word) in words.enumerated() {
            variants += Spellings.of(word).map { Self.whole + $0 }
            // "no" alone is a word too.
            if word == "no" || word == "nr", place + 1 < words.count, words[place + 1].first?.isNumber == true {
                variants.append(Self.whole + "number")
            }
        }
    }
}
