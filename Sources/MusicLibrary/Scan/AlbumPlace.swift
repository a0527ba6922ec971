// SPDX-License-Identifier: Apache-2.0

/// A song's position in its album: from its tags, or else from its path. The files of an album are in one folder, or in
/// one folder per disc (`CD 1`, `Album (Disc 2)`) inside it.
struct AlbumPlace: Hashable, Sendable {
    /// The album's folder in the library. Empty for the root of the library.
    let folder: String
    /// Sorts an album's songs, compared byte by byte: by disc, track and file name.
    let key: String

    /// The position of a song. `disc` and `track` come from its tags, or are 0.
    init(path: String, disc: Int, track: Int) {
        var parts = path.split(separator: "/", omittingEmptySubsequences: true)
        let name = parts.popLast() ?? ""
        let ofFolder = parts.last.flatMap { Self.disc(ofFolder: String($0)) }
        if ofFolder != nil { parts.removeLast() }
        folder = parts.joined(separator: "/")
        let numbers = NumberedName(String(name))
        let disc = disc > 0 ? disc : ofFolder ?? numbers.disc ?? 1
        let track = track > 0 ? track : numbers.track ?? numbers.first ?? Self.last
        let order = [NaturalOrder.key(disc), NaturalOrder.key(track), NaturalOrder.key(String(numbers.name))]
        key = order.joined(separator: "\u{1}")
    }

    /// The folder's name: the album of files without tags. Empty for the root of the library.
    var name: String { folder.split(separator: "/").last.map(String.init) ?? "" }

    /// The end of the disc and track of a song without a track.
    static let withoutTrack = NaturalOrder.key(last)
    /// The number for a song without a track. It comes after all songs with a track.
    private static let last = 99_999

    /// The words for a disc in folder names.
    private static let discs: Set<String> = ["cd", "disc", "disk", "disque", "disco", "dvd"]
    private static let spelled = ["one": 1, "two": 2, "three": 3, "four": 4, "i": 1, "ii": 2, "iii": 3, "iv": 4]

    /// The disc number in a folder name.
    static func disc(ofFolder name: String) -> Int? {
        guard name.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "d") }) else { return nil }
        let words = Words(name).words
        for (place, word) in words.enumerated() {
            let letters = String(word.prefix { !$0.isNumber })
            guard discs.contains(letters) else { continue }
            // "CD1", "CD 1" and "Disc One".
            let number = letters != word ? word.dropFirst(letters.count) : (words.dropFirst(place + 1).first ?? "")[...]
            if let number = Self.number(String(number)) { return number }
        }
        return nil
    }

    private static func number(_ text: String) -> Int? {
        if let number = spelled[text] { return number }
        guard (1...2).contains(text.utf8.count), let number = Int(text), number > 0 else { return nil }
        return number
    }
}

/// The numbers at the start of a file name: "04. Title", "1-04 Title" and "CD1-04 Title".
struct NumberedName: Hashable, Sendable {
    private(set) var disc: Int?
    private(set) var track: Int?
    /// The name without its extension.
    let name: Substring
    /// The number at the start of the name, which may be part of the title: "99 Luftballons".
    private(set) var first: Int?
    /// The name without its numbers and its extension.
    private(set) var title: Substring

    init(_ file: String) {
        var name = file[...]
        if let dot = name.lastIndex(of: "."), dot != name.startIndex { name = name[..<dot] }
        self.name = name
        title = name
        guard let (number, digits, rest) = Self.number(name), digits <= 3 else { return }
        first = number
        if digits < 3, rest.first == "-" || rest.first == ".", let (other, more, after) = Self.number(rest.dropFirst()),
            more == 2, let marked = Self.marked(after, isSpaceEnough: true)
        {
            (disc, track, title) = (number, other, marked)
        } else if let marked = Self.marked(rest, isSpaceEnough: digits > 1 && name.hasPrefix("0")) {
            (track, title) = (number, marked)
        }
        if track == 0 { track = nil }
    }

    /// The number at the start of a text, the count of its digits, and the rest.
    private static func number(_ text: Substring) -> (Int, Int, Substring)? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int(Substring(digits)).map { ($0, digits.count, text[digits.endIndex...]) }
    }

    /// The text after the mark between a number and a title: "04. Title", "04 - Title" and "4) Title", but not "99
    /// Luftballons".
    private static func marked(_ text: Substring, isSpaceEnough: Bool) -> Substring? {
        let isMarked = [". ", ") ", " - ", ".\t"].contains { text.hasPrefix($0) }
        guard isMarked || isSpaceEnough && [" ", "-", "_"].contains(text.first) else { return nil }
        let title = text.drop { " .)-_".contains($0) }
        return title.isEmpty ? nil : title
    }
}

/// The order in which people list names: numbers by value, everything else by letters.
enum NaturalOrder {
    /// The sort key of a text, compared byte by byte.
    static func key(_ text: String) -> String {
        let letters = Array(Letters.folded(text).utf8)
        guard letters.contains(where: isDigit) else { return String(decoding: letters, as: UTF8.self) }
        var key: [UInt8] = []
        var place = 0
        while place < letters.count {
            let digits = letters[place...].prefix(while: isDigit)
            if digits.isEmpty {
                key.append(letters[place])
                place += 1
            } else {
                append(digits.drop { $0 == UInt8(ascii: "0") }, to: &key)
                place += digits.count
            }
        }
        return String(decoding: key, as: UTF8.self)
    }

    /// The sort key of a number.
    static func key(_ number: Int) -> String {
        var key: [UInt8] = []
        append(Array(String(max(number, 0)).utf8)[...].drop { $0 == UInt8(ascii: "0") }, to: &key)
        return String(decoding: key, as: UTF8.self)
    }

    private static func isDigit(_ letter: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(letter) }

    /// A longer number is larger, so its length comes first.
    private static func append(_ digits: ArraySlice<UInt8>, to key: inout [UInt8]) {
        key.append(UInt8(ascii: "0") + UInt8(min(digits.count, 60)))
        key.append(contentsOf: digits)
    }
}
