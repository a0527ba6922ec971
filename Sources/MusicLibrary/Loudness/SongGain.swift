// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc

/// Which loudness to normalise.
public enum Loudness: String, Hashable, Sendable, CaseIterable {
    /// All songs play equally loud.
    case track
    /// All albums play equally loud, and their songs keep their differences.
    case album
    /// No change to the files' loudness.
    case off
}

/// The loudness tags of a file (ReplayGain 2.0, and R128 of Opus): gains in decibels and peaks, where 1 is full scale.
struct TaggedGain: Hashable, Sendable {
    var trackGain: Double?
    var trackPeak: Double?
    var albumGain: Double?
    var albumPeak: Double?

    /// A file without such tags.
    init() {}

    /// Parses the texts of `ctaglib_tags.gains`, in their order.
    init(_ texts: [Substring]) {
        guard texts.count == 6 else { return }
        trackGain = Self.decibels(texts[0]) ?? Self.r128(texts[4])
        trackPeak = Self.peak(texts[1])
        albumGain = Self.decibels(texts[2]) ?? Self.r128(texts[5])
        albumPeak = Self.peak(texts[3])
    }

    /// Parses "-7.03 dB".
    private static func decibels(_ text: Substring) -> Double? {
        let number = text.drop { $0.isWhitespace || $0 == "+" }.prefix { !$0.isWhitespace && !"dD".contains($0) }
        return Double(number.replacing(",", with: ".")).flatMap { SongGain.sensible.contains($0) ? $0 : nil }
    }

    private static func peak(_ text: Substring) -> Double? {
        decibels(text).flatMap { $0 > 0 && $0 <= SongGain.largestPeak ? $0 : nil }
    }

    /// Parses a number of 1/256 dB relative to -23 LUFS (RFC 7845, 5.2.1).
    private static func r128(_ text: Substring) -> Double? {
        Int(text).map { Double($0) / 256 + 5 }.flatMap { SongGain.sensible.contains($0) ? $0 : nil }
    }
}

/// Decides the gain with which a song plays.
struct SongGain: Hashable, Sendable {
    /// The target loudness of ReplayGain 2.0, in LUFS.
    static let target = -18.0
    /// Anything quieter than this counts as silence, in LUFS.
    static let silence = -65.0
    /// Plausible gains of a tag, in decibels.
    static let sensible = -51.0...51.0
    /// The largest plausible peak, of a tag or of a decoder: 24 dB above full scale.
    static let largestPeak = 16.0
    /// The gain of a song without tags that is not measured yet, in decibels. Most songs of the last decades need it.
    static let unknown = -8.0
    /// The largest gain, in decibels: more would turn a silent recording into noise.
    static let largest = 12.0

    var tags = TaggedGain()
    /// The measured loudness, in LUFS. Nil for silence, and before the measurement.
    var loudness: Double?
    var peak: Double?
    /// The measured loudness of all songs of the album, in LUFS. Nil until all of them were measured.
    var albumLoudness: Double?
    var albumPeak: Double?
    /// Whether the song was measured.
    var isMeasured = false

    /// The gain in decibels.
    func decibels(_ mode: Loudness) -> Double {
        switch mode {
        case .off: 0
        case .track: ofTrack
        case .album: ofAlbum ?? ofTrack
        }
    }

    /// The mean loudness of several songs by energy, weighted by their lengths.
    static func mean(_ songs: [(loudness: Double, weight: Double)]) -> Double? {
        let all = songs.reduce(0) { $0 + $1.weight }
        guard all > 0 else { return nil }
        var energy = 0.0
        for song in songs { energy += pow(10, song.loudness / 10) * song.weight }
        return 10 * log10(energy / all)
    }

    private var ofTrack: Double {
        if let gain = tags.trackGain { return Self.bounded(gain, peak: tags.trackPeak ?? peak) }
        if let loudness { return Self.bounded(Self.target - loudness, peak: peak) }
        if let gain = tags.albumGain { return Self.bounded(gain, peak: tags.albumPeak ?? peak) }
        return isMeasured ? 0 : Self.unknown
    }

    private var ofAlbum: Double? {
        if let gain = tags.albumGain { return Self.bounded(gain, peak: tags.albumPeak ?? tags.trackPeak ?? peak) }
        return albumLoudness.map { Self.bounded(Self.target - $0, peak: albumPeak) }
    }

    /// Keeps all samples within full scale. If the peak is unknown, the song does not get louder.
    private static func bounded(_ gain: Double, peak: Double?) -> Double {
        guard let peak else { return min(gain, 0) }
        guard peak > 0 else { return 0 }
        return min(gain, -20 * log10(peak), largest)
    }
}
