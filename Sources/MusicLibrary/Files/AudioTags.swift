// SPDX-License-Identifier: Apache-2.0

import CTagLib
import Glibc
import CoverArt

/// An audio file's tags as they are in the file: not yet safe to show.
struct AudioTags: Hashable, Sendable {
    var title: String
    /// One element per value of the tag.
    var artists: [String]
    var album: String
    /// Empty if the album has no such tag.
    var albumArtist: String
    /// 0 if the file has no such tag.
    var disc: Int
    /// 0 if the file has no such tag.
    var track: Int
    /// 0 if unknown.
    var milliseconds: Int
    /// Whether the length may be wrong.
    var isDoubtful = false
    var hasCover: Bool
    var gain = TaggedGain()

    /// Creates tags from known values.
    init(
        title: String, artists: [String], album: String, albumArtist: String, disc: Int, track: Int, milliseconds: Int,
        hasCover: Bool
    ) {
        (self.title, self.artists, self.album, self.albumArtist) = (title, artists, album, albumArtist)
        (self.disc, self.track, self.milliseconds, self.hasCover) = (disc, track, milliseconds, hasCover)
    }

    /// Reads a file, which takes milliseconds, or longer on a slow stick. Nil if the file is not audio or cannot be
    /// read.
    init?(of path: String, limits: LibraryLimits) {
        var read = ctaglib_tags()
        var bounds = ctaglib_tags_limits(limits)
        guard ctaglib_tags_read(path, &bounds, &read) == 0 else { return nil }
        defer { ctaglib_tags_free(&read) }
        title = String(cString: read.title)
        artists = Self.parts(read.artists).map { String($0) }.filter { !$0.isEmpty }
        album = String(cString: read.album)
        albumArtist = String(cString: read.album_artist)
        disc = Int(read.disc)
        track = Int(read.track)
        milliseconds = Int(read.milliseconds)
        isDoubtful = read.is_doubtful != 0
        hasCover = read.has_cover != 0
        gain = TaggedGain(Self.parts(read.gains))
        if milliseconds == 0, let length = ADTSLength(of: path) { milliseconds = length.milliseconds }
    }

    /// Splits a text at the separators.
    private static func parts(_ text: UnsafeMutablePointer<CChar>) -> [Substring] {
        String(cString: text).split(separator: Self.separator, omittingEmptySubsequences: false)
    }

    /// Separates two texts in one value.
    static let separator: Character = "\u{1F}"
}

/// The cover in a song's file.
public struct Cover: Hashable, Sendable {
    /// The picture.
    public var bytes: [UInt8]
    /// The type of the bytes: `image/jpeg`, `image/png`, `image/gif` or `image/webp`.
    public var mediaType: String
}

extension Cover {
    /// Reads a file's cover. Nil without a cover, or if it has another type or exceeds the limits.
    init?(of path: String, limits: LibraryLimits) {
        var read = ctaglib_cover()
        var bounds = ctaglib_tags_limits(limits)
        guard ctaglib_cover_read(path, &bounds, &read) == 0 else { return nil }
        defer { ctaglib_cover_free(&read) }
        self.init(Array(UnsafeBufferPointer(start: read.bytes, count: read.count)), limits: limits)
    }

    /// Creates a cover from these bytes. Nil if they are not a picture or too large.
    init?(_ bytes: [UInt8], limits: LibraryLimits) {
        guard bytes.count <= Int(limits.coverBytes), let kind = ArtworkKind(head: bytes) else { return nil }
        (self.bytes, mediaType) = (bytes, kind.mediaType)
    }
}

extension ctaglib_tags_limits {
    fileprivate init(_ limits: LibraryLimits) {
        self.init(
            read_bytes: limits.tagBytes, small_reads: limits.smallReads, text_bytes: limits.tagTextBytes,
            cover_bytes: limits.coverBytes)
    }
}
