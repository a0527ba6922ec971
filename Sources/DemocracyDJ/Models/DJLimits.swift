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
    /// Longest song, in seconds: a day. A longer one is an error in a song list.
    public static let songSeconds = 86_400.0
    /// Shortest time that a song plays, whatever its stated length. Otherwise a library of songs without a length would
    /// keep the head unit busy with starting the next one.
    public static let shortestSong: MeshInstant = .seconds(1)
    /// Maximum number of songs of a library that is a JSON list. Larger libraries come from a folder.
    public static let listedSongs = 10_000
    /// Maximum number of songs in a queue: several hours of music, and the snapshot still fits one message.
    public static let queuedSongs = 100
    /// Songs of a list that are queued when the host starts.
    public static let openingSongs = 100
    /// Maximum number of votes for one song: a train's worth, and as many peers as a node remembers. The limit bounds
    /// the data that every node must store for strangers who keep changing their identifiers.
    public static let votes = 256
    /// Maximum number of guests of a host, linked directly or behind relays.
    public static let connectedPeers = Limits.circuitGuests + Limits.guests + Limits.vouchedGuests
    /// Maximum number of guests in a state's list: as many as people still read. A thousand names take 40 KB of each
    /// full state, which a relay sends to each of its guests.
    public static let namedGuests = 100
    /// A host with at most this many guests, as many as it can have without relays, announces each arrival at once.
    /// With more guests it announces arrivals in groups, because every change crosses every link of a crowd.
    public static let guestsToldAtOnce = Limits.guests + Limits.vouchedGuests
    /// How long a host with more guests gathers arrivals and goodbyes before it announces them. People do not look for
    /// a name in a list of fifty any sooner.
    public static let gatheredArrivals: MeshInstant = .seconds(1)
    /// How long a host with more than `guestsToldAtOnce` guests gathers lost guests before it announces them. A lost
    /// relay loses many guests, and they return by other routes within some seconds. A crowd of a thousand that has
    /// lost a tenth of its guests needs about ten seconds. Without the delay each lost guest would cost two changes
    /// that all others wait for.
    public static let gatheredDepartures: MeshInstant = .seconds(15)
    /// Guests behind relays that get a requested full state at the same time: one for every other link of an adapter.
    public static let answeredAtOnce = 4
    /// How long a state request of a guest behind relays stays valid: as long as the guest waits before it asks again
    /// (`NodeLimits.relayedStateAgain`). When a thousand join at once, hundreds ask, and get the state from their
    /// relays some seconds later. 40 KB for each would occupy the host's links for minutes.
    public static let askedForWhole: MeshInstant = .seconds(20)
    /// Guests behind relays that get a heartbeat per round: 3 KB over the links next to the host, instead of 45 KB for
    /// a crowd. Each of a thousand guests gets one every eighty seconds.
    public static let heartbeatsAtOnce = 64
    /// A relay gets a full state when the changes that it keeps are this many times as large as the state, or as large
    /// as the largest message. A larger factor means more data for a guest that joins behind the relay. With this
    /// factor full states are a fifth of the traffic. A vote in a crowd of 500 was confirmed after 1.8 s with a factor
    /// of 1, and after 0.5 s with 4.
    public static let changesPerCheckpoint = 4
    /// Largest message, in bytes: the most that fits into a signed update of the transport.
    public static let messageBytes = Limits.sharedBodyBytes
    /// Maximum number of unconfirmed votes of one guest.
    public static let pendingVotes = 256
    /// Default for the open suggestions of one guest: enough for half an hour, and other guests get a chance.
    public static let openSuggestions = 5
    /// Default for the songs of one guest that play in a row while other guests wait.
    public static let songsInARow = 2
    /// Longest search, in bytes: longer than any title and artist that people type.
    public static let searchBytes = 128
    /// Songs or guests that a notice names if the typed text is ambiguous: as many as fit a line.
    public static let namedChoices = 4
    /// Maximum number of songs in a search result: two screens of a phone, in one message of some kilobytes.
    public static let searchResults = 20
    /// Maximum number of artists, and of albums, in a search result: a screen has room for them above the songs.
    public static let foundGroups = 5
    /// Maximum number of songs that a library can report, and how far a person can browse: more than fit on a USB
    /// stick.
    public static let browsedSongs = 100_000
    /// Searches per second that a host answers for one guest. Each one reads the full library.
    public static let searchesPerSecond = 4
    /// Searches that may arrive at once before `searchesPerSecond` applies: a person looks for several songs of a list.
    public static let searchBurst = 8
    /// Largest cover that is sent over the air, in bytes. A JPEG of 160 by 160 pixels has 4 to 9 KB.
    public static let coverBytes = 12 << 10
    /// Largest piece of a cover, in bytes. It leaves in one record, so a change of the queue waits for one piece at
    /// most.
    public static let coverPieceBytes = 1_024
    /// Pieces per second that a host sends to all guests together: 20 KB, a tenth of a radio's capacity.
    public static let coverPiecesPerSecond = 20
    /// Pieces that may leave at once before `coverPiecesPerSecond` applies: one for each link of a dongle.
    public static let coverPieceBurst = 7
    /// How long a host sends no covers after a change of its state. A vote is often followed by others.
    public static let coverRest: MeshInstant = .milliseconds(500)
    /// Covers that a host keeps ready: those of the present song, the next ones and the previous ones.
    public static let readyCovers = 12
    /// Number of songs for which guests receive covers, starting with the present one: what a page shows without
    /// scrolling.
    public static let coveredSongs = 6
    /// Maximum number of covers that a guest keeps: some screens' worth, at most 400 KB on its disk.
    public static let keptCovers = 32
    /// How often a host may start again with another picture of a song during its transfer. A person changes a file
    /// once.
    public static let coverRestarts = 2
    /// How long a guest waits for a piece before it asks again. The pause doubles each time, up to `longestCoverPause`.
    public static let coverPause: MeshInstant = .seconds(5)
    /// Shortest pause after the host has reported that a song has no cover. Each request keeps the guest's link at its
    /// fast interval for five seconds. With a library without covers this would happen after every pause.
    public static let noCoverPause: MeshInstant = .seconds(60)
    /// Longest pause between two requests for a cover: a song or two.
    public static let longestCoverPause: MeshInstant = .seconds(320)
    /// Wishes per second that a host accepts from one guest. Quick thumbs make about five. Each one changes the state
    /// of every guest.
    public static let wishesPerSecond = 10
    /// Wishes that may arrive at once before `wishesPerSecond` applies: a person's taps in a few seconds, plus all
    /// votes that a guest may have pending. The pending votes arrive together when a link is back.
    public static let wishBurst = 50 + pendingVotes
    /// Number of guests for which wishes are counted: as many as can be linked at a time. Beyond that the host forgets
    /// guests that have left.
    public static let countedGuests = connectedPeers
    /// Maximum number of removed guests that a session remembers: more than any session removes.
    public static let bannedPeers = 256
    /// With at most this many new or moved elements, each is compared with every element of the list to find
    /// duplicates. With more, a set of all elements is cheaper.
    static let comparedItems = 8
    /// Maximum number of changes that a guest keeps while it waits for the full state: some seconds of writes in a
    /// crowd.
    public static let heldChanges = 64
    /// Maximum number of bytes of the changes that a guest keeps while it waits: as many as the full state may have.
    public static let heldChangeBytes = messageBytes
    /// Recent states that a guest keeps: as many as the host of a busy crowd sends in the second that it takes to
    /// change relays. The states share most of their storage.
    static let recentStates = 16
    /// Steps of the driver that can be undone: as many as a person remembers. Undo is not a history of the drive.
    public static let undoSteps = 5
    /// How long a step can be undone: the driver reaches the button at the next red light. Later, an old song would
    /// surprise people.
    public static let undoTime: MeshInstant = .seconds(120)
    /// Songs that "previous" can go back through: more than an hour of music.
    public static let heardSongs = 50
    /// Highest volume of a player, in percent of the device's maximum. More would distort.
    public static let loudest = 100
    /// How many decibels `duck` lowers the music. Speech is well understood over a background that is at least 20 dB
    /// lower (WCAG 2.2, 1.4.7).
    public static let duck = 20
    /// Maximum number of decibels that `duck` accepts. In a car with a running engine, music that is 60 dB lower is
    /// inaudible.
    public static let deepestDuck = 60
    /// Interval at which a host reports its current revision. A guest that has missed a change without knowing it shows
    /// a wrong queue for at most this long.
    public static let stateHeartbeat: MeshInstant = .seconds(5)
    /// A guest on a metered link gets only one of this many heartbeats: one each half minute. That is enough, because a
    /// lost message ends the channel over a broker.
    public static let meteredHeartbeats = 6
    /// A displayed position in a song is corrected if it is off by more than this many seconds. This is the round trip
    /// of a slow link, and less than people notice on a progress bar.
    public static let noticedSeconds = 0.5
    /// Songs that the player has failed on and that a session does not try again. The limit covers a folder of broken
    /// songs, and no song is excluded permanently.
    public static let unplayableSongs = 256
    /// How long a passing notice is shown: long enough to read two short sentences, and short enough that the queue is
    /// visible again soon.
    public static let passingNotice: Duration = .seconds(5)
    /// How long a connection is lost before the notice offers a button. Most tunnels and dead zones are shorter.
    public static let retryOffered: Duration = .seconds(10)
    /// Maximum number of notices on the screen: more than are ever wrong at once, and all that a screen has room for.
    public static let notices = 8
    /// Peers that are all lost within this time have one common cause. A failing radio loses all its links together.
    /// Cars that drive apart, and people who leave, take longer.
    public static let lostTogether: Duration = .seconds(2)
    /// How long a radio may take to answer a query. After that the radio is assumed to work, and the lost peers are
    /// assumed to have left. The reset of a controller takes less time, and returning peers are back sooner.
    public static let inferredOutage: Duration = .seconds(30)
}
