// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// The result of reading a file.
struct SongFile: Hashable, Sendable {
    var file: LibraryScan.Found
    /// The row of a file that the index knows already.
    var number: Int64?
    /// `ContentID`.
    var content: String
    /// Whether the file can be played: it is audio of known length.
    var isMusic: Bool
    var text: SongText
    /// From the tags. 0 if they do not contain it.
    var disc: Int
    var track: Int
    var milliseconds: Int
    /// Whether the length may be wrong.
    var isDoubtful: Bool
    var hasCover: Bool
    /// The loudness tags.
    var gain: TaggedGain
    /// The result of playing it. Nil if it was not played.
    var played: PlayedOutcome?

    /// A file with this content and these tags. `tags` is nil if TagLib reads none.
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

    /// Whether the player may find data that TagLib does not find.
    var isForPlayer: Bool { !isMusic || text.isFromName && AudioFormat.isTaggedForPlayer(file.path) }

    /// Adds the player's findings.
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
        played = isMusic ? outcome : .fails("it plays too long")
    }
}
