// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol

/// Every limit of the player in one place, each with its reason. Tests make them smaller.
struct PlayerLimits: Sendable {
    /// How far the host's position in a song may be off before the player reports it: a progress bar shows whole
    /// seconds.
    var drift: MeshInstant = .milliseconds(500)
    /// Interval at which the position is reported even if the host's position is right. So a lost report has no lasting
    /// effect.
    var reportEvery: MeshInstant = .seconds(10)
    /// How often mpv is asked for its position during playback. A missing answer also reveals a hanging mpv.
    var askEvery: MeshInstant = .seconds(1)
    /// Time for an answer: mpv answers in milliseconds, even while it reads a slow stick. People wait no longer.
    var answerTime: MeshInstant = .seconds(5)
    /// Time from mpv's start to its first answer: a cold start from a slow card takes some seconds.
    var startTime: MeshInstant = .seconds(15)
    /// Time from giving a file to mpv to its first sound: a disk that slept has to spin up.
    var loadTime: MeshInstant = .seconds(20)
    /// Time for finding a song's file: the same as `loadTime`, since it is the same disk.
    var findTime: MeshInstant = .seconds(20)
    /// Time for the check whether a song or the folder of all songs is at fault: the same as `findTime`. A disk that
    /// takes longer counts as away.
    var checkTime: MeshInstant = .seconds(20)
    /// How often a folder that is away is checked, because the report that it is back may be lost.
    var checkAgain: MeshInstant = .seconds(10)
    /// If a song ends at least this long before its stated end, its file may have disappeared. The errors of lengths in
    /// tags are smaller.
    var earlyEnd: MeshInstant = .seconds(5)
    /// If a song ends at least this far from its stated end, the stated length is wrong. The error of the last known
    /// position is smaller.
    var wrongLength: MeshInstant = .seconds(3)
    /// How long the position may stay the same while a song plays. After that the sound card counts as gone.
    var stallTime: MeshInstant = .seconds(10)
    /// Maximum number of unanswered requests. The player sends only a few at a time, so an mpv with more unanswered
    /// requests hangs.
    var waitingRequests = 64
    /// If the host's position is less than this after a song's start, the song plays from its beginning.
    var beginning: MeshInstant = .seconds(1)
    /// If the host still wants a song that is over, the player reports the end again after this time.
    var repeatAfter: MeshInstant = .seconds(3)
    /// Songs in a row that may fail without a pause: a few bad files do no harm.
    var failuresAtOnce = 3
    /// Pause after more than `failuresAtOnce` failures. It doubles with each failure. A stick that was pulled out must
    /// not empty a queue of votes in seconds.
    var firstFailurePause: MeshInstant = .seconds(1)
    /// The longest pause after failures. A person who has put the stick back waits for it.
    var longestFailurePause: MeshInstant = .seconds(30)
    /// Deaths of mpv during one song until the song counts as failed. A second death is hardly a coincidence.
    var deathsOfSong = 2
    /// Time that a song has played until earlier deaths of mpv no longer count against the song or against mpv.
    var stableTime: MeshInstant = .seconds(5)
    /// Deaths of mpv in a row before a person sees a notice. A death that is repaired within a second is not shown.
    var silentDeaths = 2
    /// Pause before mpv is started for the third time in a row; it doubles with each start. The first two starts come
    /// at once.
    var firstRestartPause: MeshInstant = .milliseconds(500)
    /// The longest pause before mpv is started again, and before a sound card is tried again. A person who has repaired
    /// the fault waits for it.
    var longestRestartPause: MeshInstant = .seconds(15)
    /// Time for mpv to end before it is killed.
    var endTime: Duration = .seconds(1)
    /// Duration of the fade when ducking begins or ends. A longer fade would cover the first word of a call, and a
    /// sudden change would startle people.
    var fadeTime: MeshInstant = .milliseconds(300)
    /// Duration of each step of a fade. Steps of 1.3 dB cannot be heard as steps.
    var fadeStep: MeshInstant = .milliseconds(20)
    /// Largest line that mpv may send, in bytes: usual lines have some hundred bytes, because a file's tags are not
    /// requested.
    var lineBytes = 64 << 10
    /// Reports that wait for the host: a minute's worth. The oldest are dropped first, because newer ones are more
    /// useful.
    var waitingReports = 64

    /// mpv's volume in percent below which 16-bit output is silent: mpv's gain is the third power of its volume, in 256
    /// steps.
    static let leastHeard = 16.0

    /// mpv's volume for the driver's volume, both in percent. 0 is silent, and all other values are audible.
    static func playersVolume(_ percent: Int) -> Double {
        percent == 0 ? 0 : leastHeard + (100 - leastHeard) * Double(percent) / 100
    }

    /// mpv's volume for a percentage, lowered by a number of decibels.
    static func playersVolume(_ percent: Int, ducked decibels: Int) -> Double {
        playersVolume(percent) * pow(10, -Double(decibels) / 60)
    }

    /// The limits of a running head unit.
    static let standard = PlayerLimits()
}
