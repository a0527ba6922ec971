// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Limits of the application, each with its reason.
public enum DJLimits {
    /// Longest song identifier, in bytes: a hash in hexadecimal fits.
    public static let songIDBytes = 64
    /// Longest title or artist, in bytes: two lines of a head unit's screen.
    public static let songTextBytes = 160
    /// Longest address of a cover picture, in bytes: what browsers and servers accept.
    public static let albumArtURLBytes = 2_048
    /// Longest song, in seconds: a day. A longer one is a mistake in a song list.
    public static let songSeconds = 86_400.0
    /// How long a song plays at least, whatever is said of its length: a library of songs without a length must not keep
    /// the head unit busy with going from one to the next.
    public static let shortestSong: MeshInstant = .seconds(1)
    /// Songs of a library that is a JSON list; larger ones come from a folder.
    public static let listedSongs = 10_000
    /// Songs in a queue: several hours of music, and a snapshot that still fits one message.
    public static let queuedSongs = 100
    /// Songs of a list that are queued when the host starts.
    public static let openingSongs = 100
    /// Votes for one song: a train's worth, and as many peers as a node remembers. It bounds what strangers with ever new
    /// identifiers can make everybody carry.
    public static let votes = 256
    /// Guests that a host can have, itself and behind relays.
    public static let connectedPeers = Limits.circuitGuests + Limits.guests + Limits.vouchedGuests
    /// Guests that a state names if there are more: a list that people still read. A thousand names take 40 KB of each
    /// full state, which a relay sends to each of its guests.
    public static let namedGuests = 100
    /// Guests of a host that tells everybody of each at once: as many as it can have without relays. Of more it tells some at a time,
    /// since every change goes over every link of a crowd.
    public static let guestsToldAtOnce = Limits.guests + Limits.vouchedGuests
    /// How long a host with more guests gathers arrivals and goodbyes before it reports them: people do not look for a
    /// name in a list of fifty sooner.
    public static let gatheredArrivals: MeshInstant = .seconds(1)
    /// The same for lost guests. A lost relay loses many guests, which return by other routes within some seconds; a
    /// crowd of a thousand that has lost a tenth needs about ten. Each would be two changes that all others wait for.
    public static let gatheredDepartures: MeshInstant = .seconds(15)
    /// Guests behind relays that get the full state at once on request: one for every other link of an adapter.
    public static let answeredAtOnce = 4
    /// How long a request of a guest behind relays stays valid: as long as the guest waits before it asks again
    /// (`NodeLimits.relayedStateAgain`). When a thousand join at once, hundreds ask, and get the state from their
    /// relays some seconds later. 40 KB for each would occupy the host's links for minutes.
    public static let askedForWhole: MeshInstant = .seconds(20)
    /// Guests behind relays that get a heartbeat at once: 3 KB for the links next to the host, instead of 45 for a
    /// crowd. Each of a thousand gets one in eighty seconds.
    public static let heartbeatsAtOnce = 64
    /// A relay gets a full state when the changes that it keeps are this many times as large, and at most as large as
    /// the largest message. A newcomer behind it has to read that much more, and full states are a fifth of the
    /// traffic. With one, a vote in a crowd of 500 was confirmed after 1.8 s, and with four after 0.5 s.
    public static let changesPerCheckpoint = 4
    /// Largest message, in bytes: what the transport carries of a signed state.
    public static let messageBytes = Limits.sharedBodyBytes
    /// Votes of one guest that wait for their confirmation.
    public static let pendingVotes = 256
    /// Open suggestions of one guest, where the host does not say otherwise: enough to fill a half hour, and the others get
    /// their turn.
    public static let openSuggestions = 5
    /// Songs of one guest in a row while others wait, where the host does not say otherwise.
    public static let songsInARow = 2
    /// Longest search, in bytes: longer than any title and artist that people type.
    public static let searchBytes = 128
    /// Songs or guests that are named where what was typed may mean several: a line's worth.
    public static let namedChoices = 4
    /// Songs that a search finds: what a phone shows on two screens, in one message of some kilobytes.
    public static let searchResults = 20
    /// Artists that a search lists, and albums: a screen has room for them above the songs.
    public static let foundGroups = 5
    /// Songs that a library can report, and how far a person can browse: more than a stick has room for.
    public static let browsedSongs = 100_000
    /// Searches of one guest a second that are answered: each reads the full library.
    public static let searchesPerSecond = 4
    /// Searches that may arrive at once before that counts: a person looks for several songs of a list.
    public static let searchBurst = 8
    /// Largest cover that goes over the air, in bytes: a square of 160 pixels in JPEG has 4 to 9 KB.
    public static let coverBytes = 12 << 10
    /// Largest piece of it, in bytes: it leaves in one record, and a change of the queue waits for no more than that.
    public static let coverPieceBytes = 1_024
    /// Pieces a second that a host sends, to all guests together: 20 KB, a tenth of what a radio can do.
    public static let coverPiecesPerSecond = 20
    /// Pieces that may leave at once before that counts: one for each link of a dongle.
    public static let coverPieceBurst = 7
    /// How long a host sends none after a change of its state: one vote is often followed by others.
    public static let coverRest: MeshInstant = .milliseconds(500)
    /// Covers that a host has ready: of what plays, of what comes next, and of what came before.
    public static let readyCovers = 12
    /// Songs whose covers guests receive, the one that plays first: what a page shows without scrolling.
    public static let coveredSongs = 6
    /// Covers that a guest has: some screens' worth, 400 KB on its disk at most.
    public static let keptCovers = 32
    /// How often a host may start again with another picture of a song while it sends one: a person changes a file
    /// once.
    public static let coverRestarts = 2
    /// How long a guest waits for a piece before it asks again. It doubles each time, up to `longestCoverPause`.
    public static let coverPause: MeshInstant = .seconds(5)
    /// The shortest such pause after the host has reported that there is no cover. A request makes the guest's link
    /// fast for five seconds; a library without covers would do that at every pause.
    public static let noCoverPause: MeshInstant = .seconds(60)
    /// The longest such pause: a song or two.
    public static let longestCoverPause: MeshInstant = .seconds(320)
    /// Wishes of one guest a second that are followed: quick thumbs make some five. Each is a change of the state for
    /// everybody.
    public static let wishesPerSecond = 10
    /// Wishes that may arrive at once before that counts: what a person taps in a few seconds, and after them all votes
    /// that a guest may have pending, since those arrive together when a link is back.
    public static let wishBurst = 50 + pendingVotes
    /// Guests whose wishes are counted: as many as can be linked at a time. Beyond it, guests that have left are
    /// forgotten.
    public static let countedGuests = connectedPeers
    /// Guests that are kept out of a session: more than any session sends away.
    public static let bannedPeers = 256
    /// Songs or guests of a list that are new or elsewhere and compared with each of the others, to see that none is there twice. With
    /// more a set of all is cheaper.
    static let comparedItems = 8
    /// Changes that a guest keeps while it waits for the full state: the writes of some seconds in a crowd.
    public static let heldChanges = 64
    /// Bytes of these changes: as many as the full state may have.
    public static let heldChangeBytes = messageBytes
    /// States that a guest keeps of those it had: as many as a busy crowd's host tells in the second that it takes to change relays. They
    /// share most of what they hold.
    static let recentStates = 16
    /// Steps of the driver that can be undone: what one remembers, and not a history of the drive.
    public static let undoSteps = 5
    /// How long a step can be undone: the driver reaches the button at the next red light. Later, an old song would
    /// surprise people.
    public static let undoTime: MeshInstant = .seconds(120)
    /// Songs that lead back from the present one: an hour of music and more.
    public static let heardSongs = 50
    /// The loudest that a player plays, in percent of what the device can: more would distort.
    public static let loudest = 100
    /// How often a host tells guests which state is the present one: a guest that has missed something without knowing it
    /// shows the wrong queue this long at most.
    public static let stateHeartbeat: MeshInstant = .seconds(5)
    /// A guest whose bytes cost money gets one of this many heartbeats: one each half minute. A broker reports what it
    /// loses.
    public static let meteredHeartbeats = 6
    /// How many seconds a song's place may be off before it is shown again: the round trip of a slow link, and less than
    /// anybody sees on a bar.
    public static let noticedSeconds = 0.5
    /// Songs that the player has failed on and that are not tried again in a session: a folder of them at most, and none
    /// is kept out for good.
    public static let unplayableSongs = 256
    /// How long a passing notice is shown: two short sentences can be read, and the queue is free again soon.
    public static let passingNotice: Duration = .seconds(5)
    /// How long a connection is lost before a tap is offered. Most tunnels and dead zones are over by then.
    public static let retryOffered: Duration = .seconds(10)
    /// Notices on view: more than can be wrong at once in earnest, and all that a screen has room for.
    public static let notices = 8
    /// Peers that are all lost within this long were lost to one cause. A radio that dies takes its links down together;
    /// cars that drive apart, or people who leave, take longer.
    public static let lostTogether: Duration = .seconds(2)
    /// How long a radio that was asked may say nothing before it is taken to work, and those who were lost to have left: a
    /// reset of a controller takes no longer, and who comes back is back by then.
    public static let inferredOutage: Duration = .seconds(30)
}
