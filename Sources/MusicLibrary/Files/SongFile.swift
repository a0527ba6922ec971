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
    /// Whether the length may be wrong.
    var isDoubtful: Bool
    var hasCover: Bool
    /// How loud it is, as its tags say.
    var gain: TaggedGain
    /// What came of playing it. Nil if that was not done.
    var played: PlayedOutcome?

    /// A file of a content, with these tags; nil where TagLib reads none.
    init(_ wanted: LibraryScan.ToRead, content: String, tags: AudioTags?, limits: LibraryLimits) {
        (file, number, self.content) = (wanted.file, wanted.number, content)
        text = SongText(
            title: tags?.title ?? "", artists: tags?.artists ?? [], album: tags?.album ?? "",
            albumArtist: tags?.albumArtist ?? "", path: file.path, limits: limits)
        disc = tags?.disc ?? 0
        track = tags?.track ?? 0
        milliseconds = tags?.milliseconds ?? 0
        isDoubtful = tags?.isDoubtful ?? false
        hasCover = tags?.hasCover ?? false
        gain = tags?.gain ?? TaggedGain()
        isMusic = milliseconds > 0 && milliseconds <= Int(DJLimits.songSeconds) * 1_000
    }

    /// Whether the player may know more of it than TagLib.
    var isForPlayer: Bool { !isMusic || text.isFromName && AudioFormat.isTaggedForPlayer(file.path) }

    /// Takes what the player says of a file.
    mutating func take(_ outcome: PlayedOutcome, limits: LibraryLimits) {
        guard case .plays(let file) = outcome else {
            (played, isMusic) = (outcome, false)
            return
        }
        let tags = file.audioTags
        if text.isFromName {
            text = SongText(
                title: tags.title, artists: tags.artists, album: tags.album, albumArtist: tags.albumArtist,
                path: self.file.path, limits: limits)
            if disc == 0 { disc = tags.disc }
            if track == 0 { track = tags.track }
        }
        (milliseconds, isDoubtful) = (file.milliseconds, false)
        isMusic = milliseconds <= Int(DJLimits.songSeconds) * 1_000
        played = isMusic ? outcome : .fails("it plays for too long")
    }
}
