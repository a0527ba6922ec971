// SPDX-License-Identifier: Apache-2.0

/// A checked name of a node: visible, on one line, and short enough for a head unit's screen.
public struct NodeName: Hashable, Sendable {
    /// The name without white space around it.
    public let text: String

    /// A fault of a name.
    public enum Problem: Error, Hashable, Sendable {
        /// The name is invisible: only white space, or characters that are invisible alone.
        case empty
        /// More than `Limits.nameCharacters` characters or `Limits.nameBytes` bytes.
        case tooLong(characters: Int)
        /// A control character, a line break, a mark that changes the direction of text, or similar. A name is one line
        /// of text.
        case controlCharacter
        /// 8 to 32 hexadecimal digits, which could be an identifier.
        case identifier
    }

    /// Checks a name.
    public init(_ text: String) throws(Problem) {
        let trimmed = Self.trim(text)
        guard !trimmed.isEmpty else { throw .empty }
        guard trimmed.count <= Limits.nameCharacters, trimmed.utf8.count <= Limits.nameBytes else {
            throw .tooLong(characters: trimmed.count)
        }
        guard !trimmed.unicodeScalars.contains(where: UntrustedText.isHidden) else { throw .controlCharacter }
        guard UntrustedText.isVisible(trimmed) else { throw .empty }
        guard !Self.looksLikeIdentifier(trimmed) else { throw .identifier }
        self.text = trimmed
    }

    /// A name from a peer's untrusted text: without control characters and the like, and cut to the limits. It is
    /// always visible, and never looks like an identifier.
    public init(untrusted text: String) {
        let scalars = text.unicodeScalars.lazy.filter { !UntrustedText.isHidden($0) }
        // Cut the scalars before they become characters, since grapheme breaking is slow.
        var kept = String(String.UnicodeScalarView(scalars.prefix(Limits.nameBytes)))
        kept = String(Self.trim(kept).prefix(Limits.nameCharacters))
        while kept.utf8.count > Limits.nameBytes { kept.removeLast() }
        // A cut may leave white space at the end, which the next reader would remove.
        kept = Self.trim(kept)
        self.text = UntrustedText.isVisible(kept) && !Self.looksLikeIdentifier(kept) ? kept : "?"
    }

    /// The beginning of the name that fits a scan response (`Limits.advertisedNameBytes`). It is cut between
    /// characters, and without a trailing space, which a receiver would remove.
    public var advertised: String { Self.trim(Self.head(of: text, bytes: Limits.advertisedNameBytes)) }

    /// The same for a relay that advertises its host's name, with less room (`Limits.relayedNameBytes`).
    public var advertisedByRelay: String { Self.trim(Self.head(of: text, bytes: Limits.relayedNameBytes)) }

    /// Whether a node that advertises this name may have the full name.
    public func isPerhaps(heard name: String) -> Bool {
        name == text || [advertised, advertisedByRelay].contains { NodeName(untrusted: $0).text == name }
    }

    /// The beginning of a text with at most this many bytes of UTF-8. It is cut between characters, or within the first
    /// if even that does not fit, as with an emoji of a family.
    package static func head(of text: String, bytes: Int) -> String {
        var head = text
        while head.utf8.count > bytes { head.removeLast() }
        guard head.isEmpty else { return head }
        var scalars = text.unicodeScalars
        while String(scalars).utf8.count > bytes { scalars.removeLast() }
        return String(scalars)
    }

    /// Invisible characters do not make it a different name.
    private static func looksLikeIdentifier(_ text: String) -> Bool {
        let shown = text.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint }
        return Identity.digits(in: String(String.UnicodeScalarView(shown))) != nil
    }

    private static func trim(_ text: String) -> String {
        let isSpace: (Character) -> Bool = { $0.isWhitespace }
        guard let first = text.firstIndex(where: { !isSpace($0) }),
            let last = text.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(text[first...last])
    }
}
