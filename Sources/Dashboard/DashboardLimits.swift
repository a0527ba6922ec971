// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Limits of the dashboard, each with its reason.
public enum DashboardLimits {
    // MARK: Connections

    /// Connections in all: a bus of phones with several each. More make room by closing those that have nothing to do.
    public static let connections = 160
    /// Connections from one address: a phone's browser has six, and some phones may stand behind one router.
    static let connectionsPerAddress = 64
    /// Those of all that are kept for browsers of this device: two screens in the car. Of few, a quarter.
    static let keptConnections = 12
    /// Connections that wait to be accepted: a burst of all that are allowed.
    static let backlog = 128
    /// Pause before a page that cannot listen tries again; it doubles with each. Most wait for a network that is coming up.
    static let firstListenPause: MeshInstant = .seconds(1)
    /// The longest such pause: a person who has plugged the network in waits for it.
    static let longestListenPause: MeshInstant = .seconds(10)
    /// Pause from a change of the device's addresses to a look at them: a network that comes up changes several things.
    static let networkSettle: Duration = .milliseconds(300)
    /// Time a request has until it is there as a whole: it is one packet, sent a few times on bad Wi-Fi.
    static let requestTime: Duration = .seconds(10)
    /// How long a used connection is kept for the next request. Browsers close theirs after about as long.
    static let keptOpen: Duration = .seconds(60)
    /// Time an answer has until it has left, other than a stream: a large cover on bad Wi-Fi.
    static let answerTime: Duration = .seconds(30)
    /// How long a client may read nothing of what waits for it. A phone that is there reads within milliseconds.
    static let writeTime: Duration = .seconds(10)
    /// Bytes that the kernel keeps for a client that does not read: two of the largest views.
    static let sendBufferBytes = 128 << 10
    /// All of a request's header fields, in bytes: cookies of other services on `localhost` come along.
    static let headerBytes = 16 << 10
    /// Header fields of a request: browsers send some twenty.
    static let headerFields = 64
    /// Largest body of a request, in bytes: a command is some hundred.
    static let bodyBytes = 4 << 10
    /// Bytes of a body that is too large that are read before the connection is closed.
    static let swallowedBodyBytes = 64 << 10

    // MARK: Streams

    /// Streams of all web guests together: as many as each may have. The driver's streams have slots of their own.
    static let guestStreams = webGuests * streamsPerGuest
    /// Streams of web guests to one address, for phones behind one router.
    static let streamsPerAddress = 40
    /// Streams of one web guest: a second tab, or one that the phone has left behind. More end the oldest.
    static let streamsPerGuest = 2
    /// Streams of who may see the node's own page: screens in the car, with several tabs each.
    static let driverStreams = 32
    /// Those of them to one address, so that a program that opens many leaves places to the driver.
    static let driverStreamsPerAddress = 16
    /// Pause between two views of a stream: twenty a second look like at once, and more cost a phone its battery.
    static let viewPause: Duration = .milliseconds(50)
    /// Viewers with views of their own for which that pause is right; each more of this many makes it longer.
    static let viewersPerPause = 4
    /// Silence on a stream after which a ping is sent: phones' routers forget connections after a minute and more, and
    /// a client that has gone is noticed within `writeTime` after it.
    static let ping: Duration = .seconds(5)
    /// How long an encoded view is reused for other viewers: the position in the song may be off by this much.
    static let encodedViewLife: Duration = .milliseconds(250)
    /// How often what is of no hurry is looked at: links' strength, notices that go, guests that are gone.
    static let tick: Duration = .seconds(1)
    /// How long streams have to take the last view when the node has ended: the node's whole end is to take less than
    /// two seconds.
    public static let lastView: Duration = .milliseconds(400)

    // MARK: Wishes

    /// Commands of one person a second that are followed: people do not tap faster for long.
    static let commandsPerSecond = 5
    /// Commands that may come at once before that counts: votes kept through a gap.
    static let commandBurst = 40
    /// Requests to join from one address a second, and at once: each costs a key's multiplication.
    static let joinsPerSecond = 2
    /// See `joinsPerSecond`: everybody behind one router, at once.
    static let joinBurst = 32
    /// Addresses and people whose rates are remembered: more than there can be connections.
    static let rememberedRates = 512
    /// Inputs that wait for the node before commands are refused: a disk that hangs for seconds.
    static let waitingInputs = 512
    /// Taps of a web guest that are not on the node's disk yet: the queued taps of a page.
    static let waitingTaps = 64
    /// How long a tap of a web guest waits until the node has it on its disk. The page gives up after 8 s.
    static let tapTime: Duration = .seconds(5)
    /// How long a guest's host has for an answer to a search.
    static let searchTime: Duration = .seconds(5)
    /// Searches that wait for the host's answer: of all pages of one guest's node.
    static let waitingSearches = 16
    /// Longest search, in bytes: the host's own limit.
    static let searchBytes = DJLimits.searchBytes

    // MARK: Web guests

    /// Web guests of a host: as many as its node admits.
    static let webGuests = Limits.vouchedGuests
    /// One address has at most so many of them as there are places free, times this: 24 of 32, and the rest is for other phones. Those behind
    /// one router have one address together.
    static let webGuestShare = 3
    /// How long a web guest without a stream counts as present: a phone that sleeps between two songs.
    static let absence: Duration = .seconds(30)
    /// Sessions of one web guest: a phone that lost its cookie comes with a new one.
    static let sessionsPerGuest = 4
    /// How long a browser keeps its cookies after it was there last, in seconds: as long as browsers keep any.
    static let cookieSeconds = 400 * 86_400

    // MARK: Pictures

    /// Largest cover that is sent, in bytes: what the node loads at most.
    static let pictureBytes = 4 << 20
    /// Covers in memory at once; others wait. Together 32 MiB at most.
    static let picturesAtOnce = 8
    /// Those of them that are kept for who may see the node's own page.
    static let driverPicturesAtOnce = 2
    /// Requests for covers that wait for a place: those of several phones that show a queue for the first time.
    static let waitingPictures = 64
    /// How long such a request waits. A phone shows the song without its cover in the meantime.
    static let pictureWait: Duration = .seconds(3)
    /// What is given to a connection at a time, in bytes: less than what is worth waiting for, and a cover in few pieces.
    static let pictureChunkBytes = 32 << 10
    /// How long a browser may open the page without asking, in seconds: from one week's drive to the next.
    static let pageSeconds = 7 * 86_400
    /// How long a browser shows a cover without asking again, in seconds.
    static let pictureSeconds = 600
    /// Longest address in a QR code, in bytes: a code that a phone reads from an arm's length.
    static let invitationBytes = 256
}
