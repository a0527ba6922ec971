// SPDX-License-Identifier: Apache-2.0

import _FoundationICU

/// Folds letters for comparison in a search: removes case and presentation forms, and the marks that people omit when
/// they type. Marks that make another letter stay: vowel signs of Indic scripts and Thai, the dots of Japanese
/// syllables, й and ї.
enum Letters {
    /// Folds case and composition. Marks stay. It distinguishes two names.
    static func caseless(_ text: String) -> String {
        if isASCII(text) { return text.lowercased() }
        let plain = text.utf16.lazy.filter { !tradeMarks.contains($0) }
            .map { apostrophes.contains($0) ? apostrophe : $0 }
        return String(decoding: ICU.caseless(Array(plain)), as: UTF16.self)
    }

    private static let apostrophe = UInt16(0x27)
    /// The characters that keyboards and programs write for an apostrophe: ` ´ ʹ ʻ ʼ ʽ ‘ ’ ‛ ′.
    private static let apostrophes: Set<UInt16> = [
        0x60, 0xB4, 0x2B9, 0x2BB, 0x2BC, 0x2BD, 0x2018, 0x2019, 0x201B, 0x2032,
    ]
    /// © ® ℠ ™
    private static let tradeMarks: Set<UInt16> = [0xA9, 0xAE, 0x2120, 0x2122]

    /// A text in the form that the search compares.
    static func folded(_ text: String) -> String {
        isASCII(text) ? text.lowercased() : folded(caseless: caseless(text))
    }

    /// Folds a result of `caseless`.
    static func folded(caseless text: String) -> String {
        if isASCII(text) { return text }
        var folded = String.UnicodeScalarView()
        var isBaseOfMarks = false
        for letter in text.unicodeScalars {
            if letter.isASCII {
                folded.append(letter)
                isBaseOfMarks = true
            } else if isMark(letter) {
                if !isBaseOfMarks { folded.append(letter) }
            } else if letter == tatweel {
                continue
            } else {
                isBaseOfMarks = losesMarks(letter)
                append(letter, to: &folded)
            }
        }
        return String(folded)
    }

    /// Whether a letter's script has no spaces between words. Then a search treats each letter as a word.
    static func isOfScriptWithoutSpaces(_ letter: Unicode.Scalar) -> Bool {
        guard letter.value >= 0x0E00 else { return false }
        return withoutSpaces.contains(ICU.script(of: letter)) || letter == "\u{30FC}"
    }

    static func isMark(_ letter: Unicode.Scalar) -> Bool {
        guard letter.value >= 0x300 else { return false }
        return switch letter.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// The line that stretches Arabic words in print.
    private static let tatweel: Unicode.Scalar = "\u{0640}"

    private static let withoutSpaces: [UScriptCode] = [
        USCRIPT_HAN, USCRIPT_HIRAGANA, USCRIPT_KATAKANA, USCRIPT_BOPOMOFO, USCRIPT_THAI, USCRIPT_LAO, USCRIPT_KHMER,
        USCRIPT_MYANMAR, USCRIPT_TIBETAN,
    ]

    /// Scripts in which people omit marks: accents, tones and points.
    private static let ofAccents: [UScriptCode] = [
        USCRIPT_LATIN, USCRIPT_GREEK, USCRIPT_CYRILLIC, USCRIPT_HEBREW, USCRIPT_ARABIC, USCRIPT_SYRIAC,
    ]

    private static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    private static func losesMarks(_ letter: Unicode.Scalar) -> Bool {
        letter.isASCII || ofAccents.contains(ICU.script(of: letter))
    }

    private static func append(_ letter: Unicode.Scalar, to text: inout String.UnicodeScalarView) {
        if let other = others[letter] {
            text.append(other)
        } else if letter.properties.generalCategory == .decimalNumber, let digit = letter.properties.numericValue {
            text.append(contentsOf: String(Int(digit)).unicodeScalars)
        } else if (0x30A1...0x30F6).contains(letter.value) {
            // Katakana becomes Hiragana.
            text.append(Unicode.Scalar(letter.value - 0x60) ?? letter)
        } else if (0x3400...0x9FFF).contains(letter.value) {
            text.append(simplified[letter] ?? letter)
        } else if (0xAC00...0xD7A3).contains(letter.value) {
            // The letters of a syllable, so that a search matches while its last syllable is being typed.
            text.append(contentsOf: ICU.decomposition(letter) ?? [letter])
        } else if keptWithMarks.contains(letter) {
            text.append(letter)
        } else if losesMarks(letter) {
            let base = ICU.decomposition(letter)?.first ?? letter
            if let plain = plainLatin[base] {
                text.append(contentsOf: plain)
            } else {
                text.append(others[base] ?? base)
            }
        } else {
            text.append(letter)
        }
    }

    /// Cyrillic letters that people type with their mark. Most people write `е` for `ё`.
    private static let keptWithMarks: Set<Unicode.Scalar> = ["й", "ї", "ў", "ќ", "ѓ"]

    /// Arabic letters with several spellings, or that differ between Arabic, Persian and Urdu keyboards.
    private static let others: [Unicode.Scalar: Unicode.Scalar] = [
        "\u{0671}": "\u{0627}", "\u{0649}": "\u{064A}", "\u{06CC}": "\u{064A}", "\u{06D2}": "\u{064A}",
        "\u{06A9}": "\u{0643}", "\u{0629}": "\u{0647}", "\u{06C1}": "\u{0647}", "\u{06BE}": "\u{0647}",
        "\u{06D5}": "\u{0647}",
    ]

    /// Latin letters that are not an ASCII letter with a mark: `ø`, `ł`, `đ`, `ı`, `æ`.
    private static let plainLatin: [Unicode.Scalar: [Unicode.Scalar]] = {
        table(of: [0xC0...0x24F, 0x250...0x2AF, 0x1E00...0x1EFF], by: "Latin-ASCII")
            .filter { !$0.value.isEmpty && $0.value.allSatisfy { ("a"..."z").contains($0) } }
    }()

    /// Traditional Chinese and old Japanese characters with their simplified forms.
    private static let simplified: [Unicode.Scalar: Unicode.Scalar] =
        table(of: [0x3400...0x9FFF], by: "Traditional-Simplified").compactMapValues { $0.count == 1 ? $0[0] : nil }

    /// The letters that an ICU transform changes, with their results.
    private static func table(
        of ranges: [ClosedRange<UInt32>], by transform: String
    ) -> [Unicode.Scalar: [Unicode.Scalar]] {
        let letters = ranges.joined().compactMap { Unicode.Scalar($0) }
        let text = letters.map { String($0) }.joined(separator: "\n")
        let lines = ICU.transformed(text, by: transform).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == letters.count else { return [:] }
        var table: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        for (letter, line) in zip(letters, lines) {
            let other = Array(line.unicodeScalars)
            if other != [letter] { table[letter] = other }
        }
        return table
    }
}
