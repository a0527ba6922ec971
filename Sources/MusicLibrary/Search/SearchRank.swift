// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How well a song matches a search. Smaller ranks come first.
struct SearchRank: Hashable, Sendable, Comparable {
    /// How words match a title or a name.
    enum Fit: Int, Sendable, Comparable {
        /// The text equals the search.
        case equal
        /// The text begins with the search.
        case begins
        /// The text contains all words.
        case whole
        /// The text begins with the search, but the last word continues.
        case beginsInWord
        /// The text contains words with these prefixes.
        case prefixes
        /// Together with other names it contains all words.
        case wholeTogether
        /// Together with other names it contains words with these prefixes.
        case prefixesTogether
        /// The text contains the letters at any place.
        case inside

        static func < (one: Fit, other: Fit) -> Bool { one.rawValue < other.rawValue }
    }

    /// The name that matches best.
    enum Field: Int, Sendable {
        case title, artist, album, several
    }

    var fit: Fit
    var field: Field
    /// The number of typed filler words such as "the" that it lacks.
    var missing: Int

    static func < (one: SearchRank, other: SearchRank) -> Bool {
        (one.fit.rawValue, one.field.rawValue, one.missing) < (other.fit.rawValue, other.field.rawValue, other.missing)
    }
}

/// Decides how well titles and names match a search.
struct SearchRanking: Sendable {
    /// A spelling of a word: as a prefix, as a complete word, and as a variant. Each begins with a space.
    private struct Spelling: Sendable {
        let start: [UInt8]
        let whole: [UInt8]
        let variant: [UInt8]

        init(_ text: String) {
            (start, whole) = (Array(" \(text)".utf8), Array(" \(text) ".utf8))
            variant = Array(" \(Words.whole)\(text) ".utf8)
        }
    }

    private let key: [UInt8]
    private let words: [[Spelling]]
    private let fillers: [Spelling]
    /// Whether the search also looks inside words.
    private let isInside: Bool

    init(_ typed: SearchWords, isInside: Bool = false) {
        key = Array(typed.key.utf8)
        words = typed.words.map { $0.map(Spelling.init) }
        fillers = typed.fillers.map(Spelling.init)
        self.isInside = isInside
    }

    /// How well a song matches. The texts come from `Words.indexed`.
    func rank(title: String, artist: String, album: String) -> SearchRank {
        let names = [SearchedName(title), SearchedName(artist), SearchedName(album)]
        var best: SearchRank?
        for (name, field) in zip(names, [SearchRank.Field.title, .artist, .album]) {
            guard let fit = fit(name) else { continue }
            let rank = SearchRank(fit: fit, field: field, missing: missing(name))
            best = best.map { min($0, rank) } ?? rank
        }
        if let best { return best }
        let all = SearchedName(names)
        return SearchRank(fit: together(all), field: .several, missing: missing(all))
    }

    /// How well one name matches. Nil if it does not match alone.
    func fit(_ name: SearchedName) -> SearchRank.Fit? {
        if isInside { return fitInside(name) }
        var isWhole = true
        for spellings in words {
            if spellings.contains(where: { hasWhole($0, in: name) }) { continue }
            guard spellings.contains(where: { name.has($0.start) }) else { return nil }
            isWhole = false
        }
        let start = name.start(key)
        if let start, start != .beginsInWord { return start }
        return isWhole ? .whole : start ?? .prefixes
    }

    /// How an album matches by its name and artist together, if neither matches alone.
    func fit(album: SearchedName, artist: SearchedName) -> SearchRank.Fit? {
        guard fit(artist) == nil, words.contains(where: { $0.contains { has($0, in: album) } }) else { return nil }
        return fit(SearchedName([album, artist])).map { $0 == .whole ? .wholeTogether : .prefixesTogether }
    }

    /// The number of typed filler words that a name lacks.
    func missing(_ name: SearchedName) -> Int { fillers.count { !name.has($0.whole) } }

    private func together(_ name: SearchedName) -> SearchRank.Fit {
        if isInside { return .inside }
        return words.allSatisfy { $0.contains { hasWhole($0, in: name) } } ? .wholeTogether : .prefixesTogether
    }

    private func hasWhole(_ spelling: Spelling, in name: SearchedName) -> Bool {
        name.has(spelling.whole) || name.has(spelling.variant)
    }

    private func has(_ spelling: Spelling, in name: SearchedName) -> Bool {
        name.has(spelling.start) || name.has(spelling.variant)
    }

    private func fitInside(_ name: SearchedName) -> SearchRank.Fit? {
        let essential = name.joined(isEssential: true)
        if essential == key { return .equal }
        let isThere = [essential, name.joined(isEssential: false)].contains {
            SearchedName.position(of: key, in: $0) != nil
        }
        return isThere ? .inside : nil
    }
}

/// A title or a name in folded letters, with a space before each word and after the last one.
struct SearchedName: Sendable {
    private let bytes: [UInt8]

    /// Creates a name from a text of `Words.indexed`.
    init(_ text: String) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 2)
        bytes.append(Self.space)
        bytes.append(contentsOf: text.utf8)
        bytes.append(Self.space)
        self.bytes = bytes
    }

    /// Combines several names.
    init(_ names: [SearchedName]) { bytes = Array(names.map(\.bytes).joined()) }

    private static let space = UInt8(ascii: " ")
    private static let mark = Array(Words.mark.utf8)[...]
    private static let fillers = Set(Words.fillers.map { Array($0.utf8)[...] })

    /// Whether the name has a word with this prefix. The prefix begins with a space.
    func has(_ word: [UInt8]) -> Bool { Self.position(of: word, in: bytes) != nil }

    /// The position of a part in a text.
    static func position(of part: [UInt8], in text: [UInt8]) -> Int? {
        text.withUnsafeBytes { text in
            part.withUnsafeBytes { part in
                guard let start = text.baseAddress, let first = part.baseAddress else { return nil }
                var place = 0
                while place + part.count <= text.count {
                    let left = text.count - part.count - place + 1
                    guard let next = memchr(start + place, Int32(part[0]), left) else { return nil }
                    place = UnsafeRawPointer(next) - start
                    if memcmp(next, first, part.count) == 0 { return place }
                    place += 1
                }
                return nil
            }
        }
    }

    /// How it begins with the search, ignoring spaces. Nil if it does not.
    func start(_ key: [UInt8]) -> SearchRank.Fit? {
        var left = key[...]
        for word in words(isEssential: true) {
            if left.isEmpty { return .begins }
            guard word.starts(with: left.prefix(word.count)) else { return nil }
            if left.count < word.count { return .beginsInWord }
            left = left.dropFirst(word.count)
        }
        return left.isEmpty ? .equal : nil
    }

    /// The words without spaces.
    func joined(isEssential: Bool) -> [UInt8] { Array(words(isEssential: isEssential).joined()) }

    /// The words without their variants.
    private func words(isEssential: Bool) -> [ArraySlice<UInt8>] {
        let words = bytes.split(separator: Self.space).prefix { $0 != Self.mark }
        guard isEssential else { return Array(words) }
        let essential = words.filter { !Self.fillers.contains($0) }
        return essential.isEmpty ? Array(words) : essential
    }
}
