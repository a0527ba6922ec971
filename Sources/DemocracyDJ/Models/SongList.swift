// SPDX-License-Identifier: Apache-2.0

/// A list of songs as people write it: a JSON array of objects with `id`, `title`, `artist`, `duration` (seconds) and
/// optionally `albumArtURL`. An error names the song and the field.
public struct SongList: Decodable, Sendable {
    /// The songs, in their order.
    public let songs: [Song]

    /// An error in a list. Songs are counted from one, as people do.
    public enum Problem: Error, Hashable, Sendable {
        /// The list contains no songs.
        case empty
        /// More than `DJLimits.listedSongs`.
        case tooManySongs
        /// A song lacks a field.
        case missing(field: String, song: Int)
        /// A field has the wrong type or an invalid value.
        case wrong(field: String, song: Int, needs: String)
        /// A song has an unknown field, most likely a typing error.
        case unknown(field: String, song: Int)
        /// Two songs have one identifier.
        case duplicate(id: String, song: Int)
        /// An entry is not an object.
        case notASong(song: Int)
    }

    /// Reads and checks a list.
    public init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        var songs: [Song] = []
        var ids: Set<String> = []
        while !container.isAtEnd {
            let number = songs.count + 1
            guard number <= DJLimits.listedSongs else { throw Problem.tooManySongs }
            guard let fields = try? container.nestedContainer(keyedBy: AnyKey.self) else {
                throw Problem.notASong(song: number)
            }
            let song = try Self.song(number, fields)
            guard ids.insert(song.id).inserted else { throw Problem.duplicate(id: song.id, song: number) }
            songs.append(song)
        }
        guard !songs.isEmpty else { throw Problem.empty }
        self.songs = songs
    }

    private static let fields = ["id", "title", "artist", "duration", "albumArtURL"]

    private static func song(_ number: Int, _ container: KeyedDecodingContainer<AnyKey>) throws -> Song {
        // Unknown fields come first: "titel" explains a missing "title" better than the reverse.
        if let unknown = container.allKeys.map(\.stringValue).sorted().first(where: { !fields.contains($0) }) {
            throw Problem.unknown(field: unknown, song: number)
        }
        func text(_ field: String, atMost limit: Int) throws -> String {
            guard container.contains(AnyKey(field)) else { throw Problem.missing(field: field, song: number) }
            let text = try? container.decode(String.self, forKey: AnyKey(field))
            guard let text, !text.isEmpty, text.utf8.count <= limit else {
                throw Problem.wrong(field: field, song: number, needs: "a text of 1 to \(limit) bytes")
            }
            return text
        }
        let id = try text("id", atMost: DJLimits.songIDBytes)
        guard !id.contains(where: \.isWhitespace) else {
            throw Problem.wrong(field: "id", song: number, needs: "a text without spaces, since people type it")
        }
        let title = try text("title", atMost: DJLimits.songTextBytes)
        let artist = try text("artist", atMost: DJLimits.songTextBytes)
        guard container.contains(AnyKey("duration")) else {
            throw Problem.missing(field: "duration", song: number)
        }
        guard let duration = try? container.decode(Double.self, forKey: AnyKey("duration")),
            duration > 0, duration <= DJLimits.songSeconds
        else {
            throw Problem.wrong(field: "duration", song: number, needs: "a number of seconds, 1 to 86400")
        }
        let art =
            container.contains(AnyKey("albumArtURL")) ? try text("albumArtURL", atMost: DJLimits.albumArtURLBytes) : nil
        if let art, !["http://", "https://"].contains(where: art.lowercased().hasPrefix) {
            throw Problem.wrong(field: "albumArtURL", song: number, needs: "an http:// or https:// address")
        }
        return Song(id: id, title: title, artist: artist, duration: duration, albumArtURL: art)
    }

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
