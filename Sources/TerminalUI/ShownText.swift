// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Text as a terminal shows it: how wide it is, and cut or broken to fit.
package enum ShownText {
    /// Columns that a text takes.
    static func width(_ text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    /// As most terminals have it: two columns for what the Unicode Standard Annex 11 calls wide, none for marks that sit
    /// on another character. The C library's wcwidth is out of Swift's reach.
    private static func width(_ scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// East Asian wide and fullwidth blocks: Hangul, CJK and its forms, the planes of ideographs.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
    ]

    /// The text, or as much of its beginning as fits, with an ellipsis. Nothing in it is obeyed by a terminal.
    static func cut(_ text: String, to columns: Int) -> String {
        let text = UntrustedText.shown(text)
        return width(text) <= columns ? text : beginning(of: text[...], columns: columns - 1) + "…"
    }

    /// The text in lines that fit, broken between words where there are any. Nothing in it is obeyed by a terminal.
    package static func wrap(_ text: String, to columns: Int) -> [String] {
        var rest = UntrustedText.shown(text)[...]
        var lines: [String] = []
        while width(rest) > columns {
            let fits = beginning(of: rest, columns: columns)
            let space = fits.lastIndex(of: " ").map { fits[..<$0] } ?? fits[...]
            let line = space.allSatisfy(\.isWhitespace) ? fits[...] : space
            lines.append(String(line))
            rest = rest.dropFirst(line.count).drop { $0 == " " }
        }
        return lines + [String(rest)]
    }

    private static func beginning(of text: Substring, columns: Int) -> String {
        var used = 0
        return String(
            text.prefix { character in
                used += width(String(character))
                return used <= columns
            })
    }
}
