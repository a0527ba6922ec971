// SPDX-License-Identifier: Apache-2.0

/// A node's name, checked: with something to see in it, on one line, and short enough for a head unit's screen.
public struct NodeName: Hashable, Sendable {
    /// The name without white space around it.
    public let text: String

    /// What is wrong with a name.
    public enum Problem: Error, Hashable, Sendable {
        /// Nothing to see: white space, or characters that show nothing by themselves.
        case empty
        /// More than `Limits.nameCharacters` characters or `Limits.nameBytes` bytes.
        case tooLong(characters: Int)
        /// A control character, a line break, a mark that turns the direction of text or the like: a name is one line of text.
        case controlCharacter
        /// 8 to 32 hexadecimal digits: it could be taken for an identifier.
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

    /// A name made from what a peer says of itself: control characters and the like dropped, cut to the limits, never
    /// without something to see, and never one that could be taken for an identifier.
    public init(untrusted text: String) {
        let scalars = text.unicodeScalars.lazy.filter { !UntrustedText.isHidden($0) }
        // The scalars are cut before they are made into characters: grapheme breaking is the costly part.
        var kept = String(String.UnicodeScalarView(scalars.prefix(Limits.nameBytes)))
        kept = String(Self.trim(kept).prefix(Limits.nameCharacters))
        while kept.utf8.count > Limits.nameBytes { kept.removeLast() }
        // A cut may leave white space at the end, which the next reader would drop.
        kept = Self.trim(kept)
        self.text = UntrustedText.isVisible(kept) && !Self.looksLikeIdentifier(kept) ? kept : "?"
    }

    /// The head of the name that fits a scan response (`Limits.advertisedNameBytes`), cut between characters, without the
    /// space that a cut between words leaves: a receiver drops it.
    public var advertised: String { Self.trim(Self.head(of: text, bytes: Limits.advertisedNameBytes)) }

    /// The same where a relay advertises its host's name, with less room (`Limits.relayedNameBytes`).
    public var advertisedByRelay: String { Self.trim(Self.head(of: text, bytes: Limits.relayedNameBytes)) }

    /// Whether a node that is heard with this much of a name may have this one.
    public func isPerhaps(heard name: String) -> Bool {
        name == text || [advertised, advertisedByRelay].contains { NodeName(untrusted: $0).text == name }
    }

    /// The head of a text that has at most so many bytes of UTF-8: cut between characters, and within the first where not
    /// even that one fits, as with an emoji of a family.
    package static func head(of text: String, bytes: Int) -> String {
        var head = text
        while head.utf8.count > bytes { head.removeLast() }
        guard head.isEmpty else { return head }
        var scalars = text.unicodeScalars
        while String(scalars).utf8.count > bytes { scalars.removeLast() }
        return String(scalars)
    }

    /// Characters that show nothing do not make it another name.
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
