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

    /// Reads a file in a folder. Nil where it cannot be opened.
    init?(_ wanted: LibraryScan.ToRead, in folder: String, limits: LibraryLimits) {
        let path = folder + "/" + wanted.file.path
        guard let content = ContentID.read(path, limits: limits) else { return nil }
        let tags = AudioTags(of: path, limits: limits)
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
