// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Text on a terminal: its width, and cut or broken to fit.
package enum ShownText {
    /// The number of columns of a text.
    static func width(_ text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    /// The width in most terminals: two columns for characters that Unicode Standard Annex 11 calls wide, none for
    /// marks that combine with another character. Swift cannot call the C library's wcwidth.
    private static func width(_ scalar: Unicode.Scalar) -> Int {
        if scalar.isASCII { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    /// Wide and fullwidth East Asian blocks: Hangul, CJK and its forms, and the ideographic planes.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
    ]

    /// The text, or as much of its beginning as fits, with an ellipsis. It contains nothing that a terminal would obey.
    static func cut(_ text: String, to columns: Int) -> String {
        let text = UntrustedText.shown(text)
        return width(text) <= columns ? text : "\(beginning(of: text[...], columns: columns - 1))…"
    }

    /// Whether a line is a row of a QR code: escapes for black on white, and blocks between them.
    static func isPicture(_ line: String) -> Bool {
        line.hasPrefix(pictureStart) && line.hasSuffix(pictureEnd)
            && line.dropFirst(pictureStart.count).dropLast(pictureEnd.count).allSatisfy { " ▀▄█".contains($0) }
    }

    private static let pictureStart = "\u{1B}[30;107m"
    private static let pictureEnd = "\u{1B}[0m"

    /// The text in lines that fit, broken between words if possible. Continuation lines of an indented text are
    /// indented further. The text contains nothing that a terminal would obey.
    package static func wrap(_ text: String, to columns: Int) -> [String] {
        let text = UntrustedText.shown(text)
        guard width(text) > columns else { return [text] }
        let spaces = text.prefix { $0 == " " }.count
        let further = spaces > 0 ? String(repeating: " ", count: min(spaces + 2, columns / 2)) : ""
        var indent = String(repeating: " ", count: min(spaces, columns / 2))
        var rest = text.drop { $0 == " " }
        var lines: [String] = []
        while indent.count + width(rest) > columns {
            let line = line(of: rest, columns: columns - indent.count)
            lines.append(indent + String(line))
            rest = rest[line.endIndex...].drop { $0 == " " }
            indent = further
        }
        return lines + [indent + String(rest)]
    }

    /// As much of a text as fits, up to its last space, and at least one scalar, so that each line shortens the rest.
    /// The text does not begin with a space.
    private static func line(of text: Substring, columns: Int) -> Substring {
        let fits = beginning(of: text, columns: columns)
        guard !fits.isEmpty else { return text[..<text.unicodeScalars.prefix(1).endIndex] }
        return fits.lastIndex(of: " ").map { fits[..<$0] } ?? fits
    }

    /// The end of the text, as much of it as fits.
    static func end(of text: String, columns: Int) -> String {
        String(beginning(of: String(text.reversed())[...], columns: columns).reversed())
    }

    /// As many characters at the beginning as fit. A single character that is wider than the line is cut between its
    /// scalars: a name of another device can be one character of any number of scalars.
    private static func beginning(of text: Substring, columns: Int) -> Substring {
        var used = 0
        let whole = text.prefix { character in
            used += width(String(character))
            return used <= columns
        }
        guard let next = text[whole.endIndex...].first, width(String(next)) > columns else { return whole }
        used = 0
        let scalars = text.unicodeScalars.prefix { scalar in
            used += width(scalar)
            return used <= columns
        }
        return text[..<scalars.endIndex]
    }
}
