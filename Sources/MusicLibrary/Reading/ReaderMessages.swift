// SPDX-License-Identifier: Apache-2.0

/// A request to the program that reads files: the tags or the cover of one file.
///
/// A request consists of the kind in one byte, the length of the path in four (little-endian), and the path. The
/// program sends one message when it starts, and one per request, in order. A message consists of its length in four
/// bytes and its body, a
/// `ReaderAnswer`.
struct ReaderRequest: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        case tags = 1
        case cover = 2
    }

    var kind: Kind
    var path: String

    var bytes: [UInt8] { [kind.rawValue] + ReaderFields.length(path.utf8.count) + Array(path.utf8) }

    /// The number of bytes before the path.
    static let headBytes = 5

    init(_ kind: Kind, _ path: String) { (self.kind, self.path) = (kind, path) }
}

/// An answer of the program that reads files. A malicious file may control the program, so its answers are not trusted.
enum ReaderAnswer {
    /// The program's first message.
    static let greeting: [UInt8] = ReaderFields.message([])

    /// The message for the tags of a file. Nil means that it is not audio.
    static func message(_ tags: AudioTags?) -> [UInt8] {
        var fields = ReaderFields()
        if let tags { tags.write(to: &fields) }
        return ReaderFields.message(fields.bytes)
    }

    /// The message for the cover of a file.
    static func message(_ cover: Cover?) -> [UInt8] { ReaderFields.message(cover?.bytes ?? []) }
}

/// A sequence of numbers and texts, in the form that the two programs exchange.
struct ReaderFields {
    private(set) var bytes: [UInt8] = []
    private var place = 0
    private(set) var isSound = true

    /// Creates fields to write.
    init() {}

    /// Creates fields to read.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether all reads succeeded and no bytes are left.
    var isWhole: Bool { isSound && place == bytes.count }

    mutating func write(_ text: String) {
        bytes += Self.length(text.utf8.count)
        bytes += text.utf8
    }

    mutating func write(_ number: Int) { bytes += Self.length(number) }

    /// Writes a signed number with three decimals, or nil.
    mutating func write(_ value: Double?) {
        write(value.map { Int(($0 * 1_000).rounded()) + Self.middle } ?? 0)
    }

    private static let middle = 1_000_000

    mutating func decimal() -> Double? {
        let number = number()
        return (1...2 * Self.middle).contains(number) ? Double(number - Self.middle) / 1_000 : nil
    }

    mutating func number() -> Int {
        guard bytes.count - place >= 4 else {
            isSound = false
            return 0
        }
        defer { place += 4 }
        return Self.length(bytes[place..<place + 4])
    }

    mutating func text() -> String {
        let count = number()
        guard count <= bytes.count - place else {
            isSound = false
            return ""
        }
        defer { place += count }
        return String(decoding: bytes[place..<place + count], as: UTF8.self)
    }

    static func length(_ count: Int) -> [UInt8] {
        let count = UInt32(clamping: count)
        return [
            UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8),
            UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 24),
        ]
    }

    static func length(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

    static func message(_ body: [UInt8]) -> [UInt8] { length(body.count) + body }
}

extension AudioTags {
    func write(to fields: inout ReaderFields) {
        let artists = artists.joined(separator: String(Self.separator))
        for text in [title, artists, album, albumArtist] { fields.write(text) }
        for number in [disc, track, milliseconds, isDoubtful ? 1 : 0, hasCover ? 1 : 0] { fields.write(number) }
        for value in [gain.trackGain, gain.trackPeak, gain.albumGain, gain.albumPeak] { fields.write(value) }
    }

    /// The tags of an answer. Nil if the file has no tags or the answer is malformed.
    init?(answer: [UInt8]) {
        var fields = ReaderFields(answer)
        title = fields.text()
        artists = fields.text().split(separator: Self.separator).map { String($0) }
        (album, albumArtist) = (fields.text(), fields.text())
        (disc, track, milliseconds) = (fields.number(), fields.number(), fields.number())
        (isDoubtful, hasCover) = (fields.number() == 1, fields.number() == 1)
        (gain.trackGain, gain.trackPeak) = (fields.decimal(), fields.decimal())
        (gain.albumGain, gain.albumPeak) = (fields.decimal(), fields.decimal())
        guard fields.isWhole else { return nil }
    }
}
