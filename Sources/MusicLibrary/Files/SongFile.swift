// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// A file that was read.
struct SongFile: Hashable, Sendable {
    var file: LibraryScan.Found
    /// The row that it is known to be.
    var number: Int64?
    /// `ContentID`.
    var content: String
    /// Whether it plays: it is audio, and its length is known.
    var isMusic: Bool
    var text: SongText
    /// Those of the tags; 0 where they say none.
    var disc: Int
    var track: Int
    var milliseconds: Int
    var hasCover: Bool

    /// A file of a content, with these tags; nil where TagLib reads none.
    init(_ wanted: LibraryScan.ToRead, content: String, tags: AudioTags?, limits: LibraryLimits) {
        (file, number, self.content) = (wanted.file, wanted.number, content)
        text = SongText(
            title: tags?.title ?? "", artist: tags?.artist ?? "", album: tags?.album ?? "",
            albumArtist: tags?.albumArtist ?? "", path: file.path, limits: limits)
        disc = tags?.disc ?? 0
        track = tags?.track ?? 0
        milliseconds = tags?.milliseconds ?? 0
        hasCover = tags?.hasCover ?? false
        isMusic = milliseconds > 0 && milliseconds <= Int(DJLimits.songSeconds) * 1_000
    }
}
