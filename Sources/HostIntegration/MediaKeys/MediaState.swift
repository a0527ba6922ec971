// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Details of a song that guests do not see.
public struct SongDetails: Hashable, Sendable {
    /// The song.
    public var songID: Song.ID
    /// The album of the song. Nil without an album.
    public var album: String?
    /// The address of a file with its cover; nil without a cover.
    public var cover: String?

    /// Details of a song.
    public init(songID: Song.ID, album: String? = nil, cover: String? = nil) {
        (self.songID, self.album, self.cover) = (songID, album, cover)
    }
}

/// A playback in the form of the session bus (MPRIS 2.2, "Metadata").
struct MediaState: Hashable, Sendable {
    /// The shown data of a song.
    struct Track: Hashable, Sendable {
        /// An object path, which the specification requires as an identifier.
        var path: String
        var title: String
        var artist: String
        var album: String?
        var artURL: String?
        var length: MeshInstant
    }

    enum Status: String, Sendable {
        case playing = "Playing"
        case paused = "Paused"
        case stopped = "Stopped"
    }

    var status = Status.stopped
    var track: Track?
    /// The volume, from 0 to 1.
    var volume = 1.0
    /// Whether there is a previous song.
    var canGoBack = false
    /// The position in the song at the time `at`.
    private var elapsed: MeshInstant = .zero
    /// The time of that position.
    private var at: MeshInstant = .zero

    /// No song plays.
    init() {}

    /// The state of this playback at the time `now`.
    init(_ playback: Playback, _ details: SongDetails? = nil, now: MeshInstant, limits: MediaKeysLimits) {
        volume = Double(playback.volume ?? DJLimits.loudest) / Double(DJLimits.loudest)
        guard let song = playback.song else { return }
        canGoBack = playback.canGoBack
        status = playback.isPlaying && playback.hasSound ? .playing : .paused
        (elapsed, at) = (playback.elapsed, now)
        let text = { Self.text($0, bytes: limits.textBytes) }
        let details = details?.songID == song.id ? details : nil
        track = Track(
            path: Self.path(of: song.id), title: text(song.title), artist: text(song.artist),
            album: details?.album.map(text),
            // A truncated URL would be wrong, so a long one is dropped.
            artURL: (details?.cover ?? song.albumArtURL).flatMap { $0.utf8.count <= limits.textBytes ? text($0) : nil },
            length: .seconds(max(0, min(song.duration.isFinite ? song.duration : 0, 365 * 86_400))))
    }

    /// Whether everything except the song and its position is equal.
    func isSameStatus(as other: MediaState) -> Bool {
        (status, volume, canGoBack) == (other.status, other.volume, other.canGoBack)
    }

    /// The current position in the song, never beyond its end.
    func place(_ now: MeshInstant) -> MeshInstant {
        guard let track else { return .zero }
        let place = max(.zero, elapsed + (status == .playing ? now - at : .zero))
        return track.length > .zero ? min(place, track.length) : place
    }

    /// A song's identifier as an object path: letters and digits stay, other bytes become hexadecimal digits.
    private static func path(of song: Song.ID) -> String {
        let name = song.utf8.prefix(DJLimits.songIDBytes).map { byte -> String in
            let scalar = Unicode.Scalar(byte)
            let isPlain = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
            return isPlain ? String(Character(scalar)) : "_" + Hex.text([byte])
        }
        return "/org/roadmesh/song/" + (name.isEmpty ? "_" : name.joined())
    }

    /// A text that D-Bus accepts. D-Bus refuses NUL and Unicode's noncharacters, and disconnects a peer that sends
    /// them.
    private static func text(_ text: String, bytes limit: Int) -> String {
        var result = String.UnicodeScalarView()
        var bytes = 0
        for scalar in UntrustedText.shown(text).unicodeScalars {
            let isRefused = scalar.value & 0xFFFE == 0xFFFE || (0xFDD0...0xFDEF).contains(scalar.value)
            let shown = isRefused ? "\u{FFFD}" : scalar
            bytes += UTF8.width(shown)
            guard bytes <= limit else { break }
            result.append(shown)
        }
        return String(result)
    }
}
