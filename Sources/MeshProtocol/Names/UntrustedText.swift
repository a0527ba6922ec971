// SPDX-License-Identifier: Apache-2.0

/// Makes untrusted text safe to show: on one line, in its written order, and without control sequences for terminals.
public enum UntrustedText {
    /// The text without control characters, line breaks, noncharacters and marks that change the direction of text.
    public static func shown(_ text: String) -> String {
        // Nearly every text of a queue passes here, and each is shown at every change.
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.lazy.filter { !isHidden($0) }))
    }

    /// Whether a text has a visible character. Characters that only join, vary or separate others are invisible alone
    /// (Unicode, Default_Ignorable_Code_Point), and so are white space and the empty Braille pattern.
    static func isVisible(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            let properties = scalar.properties
            return !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint && scalar.value != 0x2800
                && !isHidden(scalar)
        }
    }

    /// Whether a scalar does not belong in a line of text.
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Embeddings, overrides and isolates would affect the text after this one. The marks U+200E, U+200F and U+061C
        // would also change the direction of the text next to them.
        case 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C: return true
        // Noncharacters, which are not allowed in text (Unicode, 23.7).
        case 0xFDD0...0xFDEF: return true
        case let value where value & 0xFFFE == 0xFFFE: return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
