// SPDX-License-Identifier: Apache-2.0

/// The player's findings about a file that it has played to its end.
struct PlayedFile: Hashable, Sendable {
    /// The length of the file.
    var milliseconds: Int
    /// The tags of the file, by their names in lower case.
    var tags: [String: String] = [:]
    /// The loudness of the file (EBU R 128, integrated), in LUFS. Nil for silence.
    var loudness: Double?
    /// The largest sample of the file; 1 is full scale.
    var peak: Double?

    /// The tags as `AudioTags`, the form for tags of all files.
    var audioTags: AudioTags {
        AudioTags(
            title: tags["title"] ?? "", artists: tags["artist"].map { [$0] } ?? [], album: tags["album"] ?? "",
            albumArtist: tags["album_artist"] ?? "", disc: Self.number(tags["disc"]), track: Self.number(tags["track"]),
            milliseconds: milliseconds, hasCover: false)
    }

    /// "3/12" is 3.
    private static func number(_ text: String?) -> Int {
        let digits = (text ?? "").prefix { $0.isASCII && $0.isNumber }
        return digits.count <= 4 ? Int(digits) ?? 0 : 0
    }
}

/// The result of playing a file.
enum PlayedOutcome: Hashable, Sendable {
    case plays(PlayedFile)
    /// The file cannot be played. Carries the player's message.
    case fails(String)
}
