// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc

/// Which songs are made equally loud.
public enum Loudness: String, Hashable, Sendable, CaseIterable {
    /// Each song is as loud as every other.
    case track
    /// Each album is as loud as every other, and its songs keep their differences.
    case album
    /// Songs are as loud as their files.
    case off
}

/// What a file's tags say of how loud it is (ReplayGain 2.0, and R128 of Opus), as gains in decibels and peaks with 1 as full
/// scale.
struct TaggedGain: Hashable, Sendable {
    var trackGain: Double?
    var trackPeak: Double?
    var albumGain: Double?
    var albumPeak: Double?

    /// A file that says nothing.
    init() {}

    /// The texts of `ctaglib_tags.gains`, in their order.
    init(_ texts: [Substring]) {
        guard texts.count == 6 else { return }
        trackGain = Self.decibels(texts[0]) ?? Self.r128(texts[4])
        trackPeak = Self.peak(texts[1])
        albumGain = Self.decibels(texts[2]) ?? Self.r128(texts[5])
        albumPeak = Self.peak(texts[3])
    }

    /// "-7.03 dB".
    private static func decibels(_ text: Substring) -> Double? {
        let number = text.drop { $0.isWhitespace || $0 == "+" }.prefix { !$0.isWhitespace && !"dD".contains($0) }
        return Double(number.replacing(",", with: ".")).flatMap { SongGain.sensible.contains($0) ? $0 : nil }
    }

    private static func peak(_ text: Substring) -> Double? {
        decibels(text).flatMap { $0 > 0 && $0 <= SongGain.largestPeak ? $0 : nil }
    }

    /// A number of 256ths of a decibel, for -23 LUFS (RFC 7845, 5.2.1).
    private static func r128(_ text: Substring) -> Double? {
        Int(text).map { Double($0) / 256 + 5 }.flatMap { SongGain.sensible.contains($0) ? $0 : nil }
    }
}

/// Decides how much louder or softer than its file a song plays.
struct SongGain: Hashable, Sendable {
    /// As loud as ReplayGain 2.0 makes songs, in LUFS.
    static let target = -18.0
    /// Softer than this, in LUFS, is silence.
    static let silence = -65.0
    /// Gains that a tag may say, in decibels.
    static let sensible = -51.0...51.0
    /// Peaks that a tag may say, and that a decoder may make: 24 dB above full scale.
    static let largestPeak = 16.0
    /// A song that is neither tagged nor measured yet plays this much softer, in decibels: most songs of the last decades do.
    static let unknown = -8.0
    /// The largest gain, in decibels: more would make noise of a silent recording.
    static let largest = 12.0

    var tags = TaggedGain()
    /// What was measured, in LUFS; nil for silence and for what was not.
    var loudness: Double?
    var peak: Double?
    /// The same of all songs of the album, where all of them were measured.
    var albumLoudness: Double?
    var albumPeak: Double?
    /// Whether it was measured.
    var isMeasured = false

    /// The gain in decibels.
    func decibels(_ mode: Loudness) -> Double {
        switch mode {
        case .off: 0
        case .track: ofTrack
        case .album: ofAlbum ?? ofTrack
        }
    }

    /// The loudness of several songs one after the other, by their lengths: the mean of their energy.
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

    /// No sample leaves full scale. If the peak is not known, nothing gets louder.
    private static func bounded(_ gain: Double, peak: Double?) -> Double {
        guard let peak else { return min(gain, 0) }
        guard peak > 0 else { return 0 }
        return min(gain, -20 * log10(peak), largest)
    }
}
