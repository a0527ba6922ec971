// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MusicLibrary

@Suite("How loud songs are")
struct SongGainTests {
    private func tags(_ texts: String...) -> TaggedGain { TaggedGain(texts.map { $0[...] }) }

    @Test("gains in tags are read in the forms that programs write")
    func parsing() {
        let replayGain = tags("-7.03 dB", "0.988553", "+2.5 dB", "1.1", "", "")
        #expect(replayGain.trackGain == -7.03 && replayGain.trackPeak == 0.988553)
        #expect(replayGain.albumGain == 2.5 && replayGain.albumPeak == 1.1)
        #expect(tags("-7,03dB", "", "", "", "", "").trackGain == -7.03)
        // Opus counts in 256ths of a decibel, from -23 LUFS.
        #expect(tags("", "", "", "", "-1280", "256").trackGain == 0)
        #expect(tags("", "", "", "", "-1280", "256").albumGain == 6)
        for rubbish in ["", "loud", "nan", "inf", "1e99 dB", "-64 dB"] {
            #expect(tags(rubbish, rubbish, rubbish, rubbish, "", rubbish) == TaggedGain(), "\(rubbish)")
        }
    }

    @Test("a song is as loud as ReplayGain has it, and no sample of it leaves full scale")
    func track() {
        var gain = SongGain()
        #expect(gain.decibels(.track) == SongGain.unknown && gain.decibels(.off) == 0)
        (gain.loudness, gain.peak, gain.isMeasured) = (-10, 1, true)
        #expect(gain.decibels(.track) == -8)
        (gain.loudness, gain.peak) = (-24, 0.5)
        #expect(gain.decibels(.track).isClose(to: 6))
        (gain.loudness, gain.peak) = (-24, 0.9)
        #expect(gain.decibels(.track).isClose(to: 0.915))
        gain.tags = tags("-3 dB", "0.7", "", "", "", "")
        #expect(gain.decibels(.track) == -3, "a tag goes before what was measured")
        gain.tags = tags("+9 dB", "0.5", "", "", "", "")
        #expect(gain.decibels(.track).isClose(to: 6.02))
        (gain.tags.trackPeak, gain.peak) = (nil, nil)
        #expect(gain.decibels(.track) == 0, "without a peak nothing gets louder")
        var silence = SongGain()
        silence.isMeasured = true
        #expect(silence.decibels(.track) == 0)
        (silence.loudness, silence.peak) = (-60, 0.001)
        #expect(silence.decibels(.track) == SongGain.largest)
    }

    @Test("the songs of an album keep their differences")
    func album() {
        var gain = SongGain(loudness: -30, peak: 0.5, albumLoudness: -12, albumPeak: 1, isMeasured: true)
        #expect(gain.decibels(.album) == -6)
        gain.tags = tags("+6 dB", "0.5", "-4 dB", "0.9", "", "")
        #expect(gain.decibels(.album) == -4)
        (gain.tags, gain.albumLoudness) = (TaggedGain(), nil)
        #expect(gain.decibels(.album) == gain.decibels(.track), "an album that is not measured yet")
        let mean = SongGain.mean([(loudness: -10, weight: 1), (loudness: -10, weight: 3)])
        #expect(mean?.isClose(to: -10) == true)
        #expect(SongGain.mean([]) == nil)
    }
}

extension Double {
    fileprivate func isClose(to other: Double) -> Bool { abs(self - other) < 0.01 }
}
