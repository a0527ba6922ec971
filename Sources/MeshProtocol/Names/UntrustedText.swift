// SPDX-License-Identifier: Apache-2.0

/// Text that came from somebody else, made fit to be shown: on one line, in the order in which it was written, and with
/// nothing in it that a terminal obeys.
public enum UntrustedText {
    /// The text without control characters, line breaks, noncharacters and marks that turn the direction of text.
    public static func shown(_ text: String) -> String {
        // Nearly every text of a queue is so, and each is shown at each change.
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.lazy.filter { !isHidden($0) }))
    }

    /// Whether there is something to see in a text. What only joins, varies or separates other characters shows nothing by
    /// itself (Unicode, Default_Ignorable_Code_Point), and neither do white space and the empty Braille pattern.
    static func isVisible(_ text: String) -> Bool {
        text.unicodeScalars.contains { scalar in
            let properties = scalar.properties
            return !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint && scalar.value != 0x2800
                && !isHidden(scalar)
        }
    }

    /// Whether a scalar has no place in a line of text.
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Embeddings, overrides and isolates: they would reach past the text that has them. So would the marks, U+200E, U+200F
        // and U+061C, which turn what stands beside them.
        case 0x202A...0x202E, 0x2066...0x2069, 0x200E, 0x200F, 0x061C: return true
        // Noncharacters, which no text is made of (Unicode, 23.7).
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
