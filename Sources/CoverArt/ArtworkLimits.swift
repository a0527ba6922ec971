// SPDX-License-Identifier: Apache-2.0

/// All limits of cover art, each with its reason. Tests use smaller values.
struct ArtworkLimits: Sendable {
    /// Largest picture, in bytes: a PNG of 1,500 by 1,500 pixels. Each download uses this much memory.
    var pictureBytes = 4 << 20
    /// All pictures on the disk together, in bytes: some hundred albums, and little of a head unit's flash memory.
    var cacheBytes = 64 << 20
    /// Maximum number of pictures on the disk, however small they are. This bounds their table and the listing of the
    /// folder.
    var cachedPictures = 2_000
    /// Time that a picture is shown without a new request. Covers almost never change, and mobile data cost money.
    var freshFor: Duration = .seconds(30 * 86_400)
    /// Largest head of a response, in bytes. Usual heads have one or two thousand bytes, and a cookie has 4 KiB at
    /// most.
    var headBytes = 64 << 10
    /// Time for one picture, including redirects: 4 MiB on a slow phone. A server that sends a few bytes at a time is
    /// dropped.
    var requestTime: Duration = .seconds(30)
    /// Time for a connection. It allows for a few lost packets, and is shorter than a person looks at an empty square.
    var connectTime: Duration = .seconds(8)
    /// Redirects of one picture. Archives need three; the limit ends a loop.
    var redirects = 5
    /// Downloads at once, so that the current song and the next ones do not wait for one slow server.
    var concurrentRequests = 4
    /// Pictures that wait for a download: more than the songs of a queue, which are the only source of requests.
    var waitingRequests = 128
    /// URLs and servers with a remembered failure: five times the number of songs in a queue.
    var rememberedFailures = 512
    /// Pause after a failure that may be temporary. The pause doubles with each failure.
    var firstPause: Duration = .seconds(5)
    /// The longest pause after failures that may be temporary. A tunnel or a server's restart takes less time.
    var longestPause: Duration = .seconds(5 * 60)
    /// Pause after an answer that will most likely be the same again (no such picture, or not a picture).
    var refusedPause: Duration = .seconds(60 * 60)
    /// The longest accepted Retry-After. A server is not trusted, and a drive is not longer.
    var longestRetryAfter: Duration = .seconds(2 * 60 * 60)
    /// Number of songs whose pictures are loaded: the current song and the next five. Votes may still reorder later
    /// songs.
    var songsAhead = 6
    /// Pause before a failed picture is requested again if its song is still shown. The loader decides whether to send
    /// a request.
    var askAgain: Duration = .seconds(15)
    /// Number of remembered URLs whose failure a person has seen: as many as in one drive.
    var toldFailures = 512
    /// Pictures and failures that wait for their reader: as many as in several drives. The oldest are dropped first.
    var waitingOutput = 4_096
    /// Longer side of a picture that is sent over the air, in pixels: the page's size of the current cover on most
    /// screens.
    var smallSide = 160
    /// JPEG qualities to try, in percent, until the picture is small enough (`DJLimits.coverBytes`). Only noisy
    /// pictures need the second one.
    var smallQualities = [75, 40]
    /// Memory for data of the process that scales a picture, in bytes. The process needs 150 MB for a small picture. A
    /// picture of 6,000 by 6,000 pixels fits.
    var scalerBytes = 1 << 29
    /// Processor time of the process that scales a picture, in seconds. It needs 0.3 s, or ten times as much on a slow
    /// head unit.
    var scalerSeconds = 10

    /// The limits of a running node.
    static let standard = ArtworkLimits()
}
