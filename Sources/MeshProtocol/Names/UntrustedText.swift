// SPDX-License-Identifier: Apache-2.0

/// Text that came from somebody else, made fit to be shown: on one line, in the order in which it was written, and with
/// nothing in it that a terminal obeys.
public enum UntrustedText {
    /// The text without control characters, line breaks and marks that turn the direction of what follows.
    public static func shown(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.lazy.filter { !isHidden($0) }))
    }

    /// Whether a scalar has no place in a line of text.
    static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Embeddings, overrides and isolates: they would reach past the text that has them.
        case 0x202A...0x202E, 0x2066...0x2069: return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
