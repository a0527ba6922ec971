// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol

/// Every limit of the player in one place, each with its reason. Tests make them smaller.
struct PlayerLimits: Sendable {
    /// How far the host's position in a song may be off before the player reports it: a progress bar shows whole
    /// seconds.
    var drift: MeshInstant = .milliseconds(500)
    /// How often the host gets the position although it knows it: one lost report then costs no more.
    var reportEvery: MeshInstant = .seconds(10)
    /// How often mpv is asked where it is while it plays. It is also how a hanging mpv is noticed.
    var askEvery: MeshInstant = .seconds(1)
    /// Time for an answer: mpv answers in milliseconds, and while it reads a slow stick too. People wait no longer.
    var answerTime: MeshInstant = .seconds(5)
    /// Time from mpv's start to its first answer: a cold start from a slow card takes some seconds.
    var startTime: MeshInstant = .seconds(15)
    /// Time from giving a file to mpv to its first sound: a disk that slept has to spin up.
    var loadTime: MeshInstant = .seconds(20)
    /// Time for finding a song's file: as the one before, since it is the same disk.
    var findTime: MeshInstant = .seconds(20)
    /// Time for finding out whether a song or the folder of all songs is at fault: as the one before. A disk that takes
    /// longer is one that is away.
    var checkTime: MeshInstant = .seconds(20)
    /// How often a folder that is away is checked: the message that it is back may be lost.
    var checkAgain: MeshInstant = .seconds(10)
    /// A song that ends this long before its length says so may have lost its file: tags are less wrong than that.
    var earlyEnd: MeshInstant = .seconds(5)
    /// A song that ends this far from the end that its length states has a wrong length. The last known place is off by less.
    var wrongLength: MeshInstant = .seconds(3)
    /// How long the place may stand still while a song plays: a sound card that takes no sound has gone.
    var stallTime: MeshInstant = .seconds(10)
    /// Questions without an answer: a host asks for a few at a time, and an mpv that lets more pile up hangs.
    var waitingRequests = 64
    /// A host that begins a song is within this of its beginning; then the song plays from its very start.
    var beginning: MeshInstant = .seconds(1)
    /// A song is over and the host still wants it: the player reports the end again after this.
    var repeatAfter: MeshInstant = .seconds(3)
    /// Songs in a row that may fail without a pause: a few bad files do no harm.
    var failuresAtOnce = 3
    /// Pause after more; it doubles with each. A stick that was pulled out must not empty a queue of votes in seconds.
    var firstFailurePause: MeshInstant = .seconds(1)
    /// The longest such pause: a person who has put the stick back waits for it.
    var longestFailurePause: MeshInstant = .seconds(30)
    /// Deaths of mpv over one song before it is passed over: the second may be chance no longer.
    var deathsOfSong = 2
    /// How long a song has to have played for a death not to be laid to it, and for mpv to count as well.
    var stableTime: MeshInstant = .seconds(5)
    /// Deaths of mpv in a row before a person sees a notice. A death that is repaired within a second is not shown.
    var silentDeaths = 2
    /// Pause before mpv is started for the third time in a row; it doubles. The first two come at once.
    var firstRestartPause: MeshInstant = .milliseconds(500)
    /// The longest such pause, and that before a sound card is tried again: the person who repairs it waits for it.
    var longestRestartPause: MeshInstant = .seconds(15)
    /// Time for mpv to end before it is killed.
    var endTime: Duration = .seconds(1)
    /// Duration of a duck and of its end. A longer one would cover the first word of a call, and a jump would startle.
    var fadeTime: MeshInstant = .milliseconds(300)
    /// Duration of each step of a fade. Nobody hears 15 steps of 1.3 dB each.
    var fadeStep: MeshInstant = .milliseconds(20)
    /// Largest line that mpv may send, in bytes: its own are some hundred, and a file's tags are not asked for.
    var lineBytes = 64 << 10
    /// Reports that wait for the host: a minute's worth. The oldest go first, since newer ones say more.
    var waitingReports = 64

    /// mpv's volume below which nothing is heard of 16 bits, in percent: its gain is the third power of it, in 256 steps.
    static let leastHeard = 16.0

    /// mpv's volume for one that a driver has set, both in percent: silence is 0, and all else is heard.
    static func playersVolume(_ percent: Int) -> Double {
        percent == 0 ? 0 : leastHeard + (100 - leastHeard) * Double(percent) / 100
    }

    /// mpv's volume for a percentage, lowered by a number of decibels.
    static func playersVolume(_ percent: Int, ducked decibels: Int) -> Double {
        playersVolume(percent) * pow(10, -Double(decibels) / 60)
    }

    /// Those of a running head unit.
    static let standard = PlayerLimits()
}
