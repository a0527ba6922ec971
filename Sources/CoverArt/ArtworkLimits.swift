// SPDX-License-Identifier: Apache-2.0

/// Every limit of cover art in one place, each with its reason. Tests make them smaller.
struct ArtworkLimits: Sendable {
    /// Largest picture, in bytes: a square of 1,500 pixels in PNG. Each download holds as much in memory.
    var pictureBytes = 4 << 20
    /// All pictures on the disk together, in bytes: some hundred albums, and little of a head unit's flash.
    var cacheBytes = 64 << 20
    /// Pictures on the disk, however small they are: it bounds the table of them and a listing of the folder.
    var cachedPictures = 2_000
    /// How long a picture is shown without asking for it again: covers hardly ever change, and mobile data costs money.
    var freshFor: Duration = .seconds(30 * 86_400)
    /// Largest head of a response, in bytes: good ones have one or two thousand, and a cookie is 4 KiB at most.
    var headBytes = 64 << 10
    /// Time for one picture, including redirects: 4 MiB on a slow phone. A server that sends a few bytes at a time is
    /// dropped.
    var requestTime: Duration = .seconds(30)
    /// Time for a connection: a few lost packets, and less than a person looks at an empty square.
    var connectTime: Duration = .seconds(8)
    /// Redirects on the way to one picture: archives need three, a loop needs all there are.
    var redirects = 5
    /// Downloads at once: the present song and those behind it do not wait for one slow server.
    var concurrentRequests = 4
    /// Pictures that wait for a download: more than a queue's, since nobody else asks.
    var waitingRequests = 128
    /// Addresses and servers whose failure is remembered: five times as many as a queue has songs.
    var rememberedFailures = 512
    /// Pause after a failure that may pass; it doubles with each.
    var firstPause: Duration = .seconds(5)
    /// The longest such pause: a tunnel or a restarting server is over by then.
    var longestPause: Duration = .seconds(5 * 60)
    /// Pause after an answer that will most likely be the same again (no such picture, no picture at all).
    var refusedPause: Duration = .seconds(60 * 60)
    /// The longest pause that a server's Retry-After is given: it is somebody else's word, and a drive is not longer.
    var longestRetryAfter: Duration = .seconds(2 * 60 * 60)
    /// Songs whose pictures are loaded: the one that plays and the next few. Votes reorder the later ones.
    var songsAhead = 6
    /// Pause before a picture that failed is asked for again where its song is still shown. The loader knows better
    /// whether anything is sent.
    var askAgain: Duration = .seconds(15)
    /// Addresses whose failure a person has seen: as many as in one drive.
    var toldFailures = 512
    /// Pictures and failures that wait for their reader: as many as in several drives. The oldest are dropped first.
    var waitingOutput = 4_096
    /// Longer side of a picture that goes over the air, in pixels: what the page shows of what plays, on most screens.
    var smallSide = 160
    /// Qualities of its JPEG that are tried, in percent, until it is small enough (`DJLimits.coverBytes`): the second is for noise.
    var smallQualities = [75, 40]
    /// Address space of the process that makes it, in bytes: its libraries take half of it, and a square of 6,000 pixels fits.
    var scalerBytes = 1 << 30
    /// Processor time of that process, in seconds: it takes 0.3, ten times as much on a slow head unit.
    var scalerSeconds = 10

    /// Those of a running node.
    static let standard = ArtworkLimits()
}
