// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The names of a song: from its tags, or from its file's name if the tags are empty. All texts are safe to show and
/// within the limits.
struct SongText: Hashable, Sendable {
    var title: String
    /// All artists in one text, as they are shown.
    var artist: String
    /// All artists, in the order of the tag.
    var artists: [String]
    /// Empty if unknown.
    var album: String
    /// The album's artist, if the tags contain one.
    var albumArtist: String
    /// Whether some of it comes from the file's name.
    var isFromName: Bool

    /// The artist of a song without one.
    static let unknownArtist = "Unknown artist"

    /// Derives a song's names from the raw tags. `path` is the file's path; its last component is the file's name.
    init(
        title: String, artists: [String], album: String, albumArtist: String = "", path: String,
        limits: LibraryLimits = .standard
    ) {
        self.title = Self.line(title, atMost: DJLimits.songTextBytes)
        let names = ArtistNames(artists, limits: limits)
        self.artist = Self.line(names.shown, atMost: DJLimits.songTextBytes)
        self.artists = names.names
        self.album = Self.line(album, atMost: limits.albumBytes)
        self.albumArtist = Self.line(albumArtist, atMost: DJLimits.songTextBytes)
        isFromName = self.title.isEmpty
        if isFromName {
            let name = FileName(path)
            self.title = Self.line(name.title, atMost: DJLimits.songTextBytes)
            if self.artist.isEmpty {
                self.artist = Self.line(name.artist, atMost: DJLimits.songTextBytes)
                self.artists = ArtistNames([name.artist], limits: limits).names
            }
            // A file without tags belongs to the album that its folder is named after.
            if self.album.isEmpty {
                self.album = Self.line(AlbumPlace(path: path, disc: 0, track: 0).name, atMost: limits.albumBytes)
            }
        }
        if self.title.isEmpty { self.title = "?" }
        if self.artist.isEmpty { self.artist = Self.unknownArtist }
        if self.artists.isEmpty { self.artists = [self.artist] }
        self.artists = ArtistNames.adding(ArtistNames.guests(ofTitle: self.title), to: self.artists, limits: limits)
    }

    /// Creates the names with one text for all artists.
    init(
        title: String, artist: String, album: String, albumArtist: String = "", path: String,
        limits: LibraryLimits = .standard
    ) {
        self.init(
            title: title, artists: artist.isEmpty ? [] : [artist], album: album, albumArtist: albumArtist, path: path,
            limits: limits)
    }

    /// A text on one line, without surrounding white space, cut between two characters.
    static func line(_ text: String, atMost limit: Int) -> String {
        if isLine(text, atMost: limit) { return text }
        // Cut the scalars before they form characters: grapheme breaking is the expensive part.
        let head = String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit * 2)))
        let words = head.split { $0.isWhitespace || $0 == "\u{FFFD}" || $0 == "\u{FEFF}" }
        var line = UntrustedText.shown(words.joined(separator: " "))
        while line.utf8.count > limit { line.removeLast() }
        // A cut may leave white space at the end, and removed invisible characters may have separated two words.
        return line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}

extension SongText {
    /// Whether a text is already one line without surrounding white space. That check is fast for ASCII, which is most
    /// of a large library.
    private static func isLine(_ text: String, atMost limit: Int) -> Bool {
        guard text.utf8.count <= limit else { return false }
        let space = UInt8(ascii: " ")
        var last = space
        for byte in text.utf8 {
            guard byte >= space, byte < 0x7F, byte != space || last != space else { return false }
            last = byte
        }
        return text.isEmpty || last != space
    }
}

/// A song's names from its file name: "Artist - Title.mp3", with or without a track number.
private struct FileName {
    var artist = ""
    var title: String

    init(_ path: String) {
        var name = path.split(separator: "/").last.map(String.init) ?? path
        if let dot = name.lastIndex(of: "."), dot != name.startIndex { name = String(name[..<dot]) }
        // Files that were downloaded long ago have underscores instead of spaces.
        if !name.contains(" ") { name = name.replacing("_", with: " ") }
        var parts = String(NumberedName(name + ".").title).split(separator: " - ").map {
            $0.drop(while: \.isWhitespace)
        }
        if parts.count > 1, Self.isNumber(parts[0]) { parts.removeFirst() }
        guard parts.count > 1 else {
            title = parts.first.map(String.init) ?? name
            return
        }
        artist = String(parts[0])
        // "Artist - Album - 04 - Title", or else "Artist - Title - Live".
        let afterNumber = parts.lastIndex(where: Self.isNumber).map { parts[($0 + 1)...] } ?? []
        title = (afterNumber.isEmpty ? parts[1...] : afterNumber).joined(separator: " - ")
    }

    private static func isNumber(_ part: Substring) -> Bool {
        (1...3).contains(part.count) && part.allSatisfy { $0.isASCII && $0.isNumber }
    }
}
