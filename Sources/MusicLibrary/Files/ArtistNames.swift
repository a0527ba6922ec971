// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// The artists of a song, from the values of its tag.
///
/// A tag can have several values, and many files put all artists into one value. Within a value, a semicolon, a slash
/// between spaces, or "feat." separates artists. "&", commas and a slash without spaces are parts of names: "Simon &
/// Garfunkel", "AC/DC".
struct ArtistNames: Hashable, Sendable {
    /// All names, without repetitions.
    let names: [String]
    /// All names in one text, as the song shows them.
    let shown: String

    init(_ values: [String], limits: LibraryLimits) {
        let listed = values.flatMap { Self.split($0, at: Self.lists) }
        shown = listed.count > 1 ? listed.joined(separator: ", ") : values.first ?? ""
        names = Self.adding(listed.flatMap { Self.split($0, at: Self.guests) }, to: [], limits: limits)
    }

    private static let lists = [";", " / ", " // ", "\\\\", "\u{0}"]
    private static let guests = [
        " feat. ", " feat ", " ft. ", " featuring ", " (feat. ", " (ft. ", " (featuring ", " [feat. ", " [ft. ",
    ]

    /// The artists that a title names: "Title (feat. Name)".
    static func guests(ofTitle title: String) -> [String] {
        guard title.utf8.contains(where: { $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: "[") }) else { return [] }
        let marks = guests.filter { $0.hasPrefix(" (") || $0.hasPrefix(" [") }
        return Array(split(title, at: marks).dropFirst())
    }

    /// Adds the names that are not there yet.
    static func adding(_ more: [String], to names: [String], limits: LibraryLimits) -> [String] {
        guard names.count + more.count > 1 else { return more.isEmpty ? names : more.map(line).filter { !$0.isEmpty } }
        var names = names
        var known = Set(names.map(Letters.caseless))
        for name in more.map(line) where !name.isEmpty && names.count < limits.songArtists {
            if known.insert(Letters.caseless(name)).inserted { names.append(name) }
        }
        return names
    }

    private static func line(_ name: String) -> String { SongText.line(name, atMost: DJLimits.songTextBytes) }

    private static func split(_ text: String, at separators: [String]) -> [String] {
        var parts = [text[...]]
        let lower = text.lowercased()
        // Lowercasing keeps the number of letters in nearly all texts. In the others the case counts.
        let isLike = lower.count == text.count
        for separator in separators where (isLike ? lower : text).contains(separator) {
            parts = parts.flatMap { part -> [Substring] in
                var rest = part
                var found: [Substring] = []
                while let range = rest.firstRange(ofCaseless: separator) {
                    found.append(rest[..<range.lowerBound])
                    rest = rest[range.upperBound...]
                }
                return found + [rest]
            }
        }
        guard parts.count > 1 else { return [text] }
        return parts.enumerated().map { place, part in
            var name = part.drop { $0.isWhitespace }
            while name.last?.isWhitespace == true { name.removeLast() }
            // A name after "(feat." ends at the bracket.
            if place > 0, let end = name.firstIndex(where: { ")]".contains($0) }),
                !name[..<end].contains(where: { "([".contains($0) })
            {
                name = name[..<end]
            }
            return String(name)
        }.filter { !$0.isEmpty }
    }
}

extension Substring {
    /// The range of a text of ASCII letters, ignoring case.
    fileprivate func firstRange(ofCaseless wanted: String) -> Range<Index>? {
        let wanted = Array(wanted.utf8)
        var start = utf8.startIndex
        while let end = utf8.index(start, offsetBy: wanted.count, limitedBy: utf8.endIndex) {
            let isThere = zip(utf8[start..<end], wanted).allSatisfy { byte, letter in
                byte == letter || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) && byte | 0x20 == letter
            }
            if isThere { return start..<end }
            guard start < utf8.endIndex else { return nil }
            utf8.formIndex(after: &start)
        }
        return nil
    }
}
