// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Limits of the dashboard, each with its reason.
public enum DashboardLimits {
    // MARK: Connections

    /// Connections in total: a bus full of phones with several each. A further connection replaces an idle one.
    public static let connections = 160
    /// Connections from one address. A phone's browser opens six, and several phones may share a router's address.
    static let connectionsPerAddress = 64
    /// Connections that are reserved for browsers on this device, for two screens in the car. At most a quarter of all
    /// connections.
    static let keptConnections = 12
    /// Connections that wait to be accepted, in case most phones connect at once.
    static let backlog = 128
    /// The first pause before the dashboard tries again to listen. It doubles each time. The usual cause is a network
    /// that comes up.
    static let firstListenPause: MeshInstant = .seconds(1)
    /// The longest pause before the dashboard tries again to listen: a person who has plugged in the network waits for
    /// it.
    static let longestListenPause: MeshInstant = .seconds(10)
    /// The pause between a change of the device's addresses and the next look at them. A network that comes up changes
    /// several things.
    static let networkSettle: Duration = .milliseconds(300)
    /// The time until a request must be complete. A request is one packet, which bad Wi-Fi resends a few times.
    static let requestTime: Duration = .seconds(10)
    /// How long an idle connection stays open for the next request. Browsers also close idle connections after about
    /// this time.
    static let keptOpen: Duration = .seconds(60)
    /// The time to send an answer that is not a stream. The longest answer is a large cover over bad Wi-Fi.
    static let answerTime: Duration = .seconds(30)
    /// How long a client may read nothing while data waits for it. A phone that is present reads within milliseconds.
    static let writeTime: Duration = .seconds(10)
    /// Bytes that the kernel buffers for a client that does not read: room for two of the largest views.
    static let sendBufferBytes = 128 << 10
    /// All header fields of a request, in bytes. Cookies of other services on `localhost` are included.
    static let headerBytes = 16 << 10
    /// Header fields of a request. Browsers send about twenty.
    static let headerFields = 64
    /// The largest body of a request, in bytes. A command has about a hundred.
    static let bodyBytes = 4 << 10
    /// Bytes of an oversized body that are read before the connection is closed.
    static let swallowedBodyBytes = 64 << 10

    // MARK: Streams

    /// Streams of all web guests together: as many as each may have. The driver's streams have slots of their own.
    static let guestStreams = webGuests * streamsPerGuest
    /// Streams of web guests to one address, for phones that share a router's address.
    static let streamsPerAddress = 40
    /// Streams of one web guest. The second one may be another tab, or a stream that the phone has abandoned. A further
    /// stream ends the oldest.
    static let streamsPerGuest = 2
    /// Streams of the node's own page: screens in the car, with several tabs each.
    static let driverStreams = 32
    /// Driver streams to one address, so that a program that opens many streams leaves slots to the driver.
    static let driverStreamsPerAddress = 16
    /// The pause between two views of a stream. Twenty views a second look immediate, and more would drain a phone's
    /// battery.
    static let viewPause: Duration = .milliseconds(50)
    /// Number of viewers for which `viewPause` is long enough. Each further group of this size adds the same pause
    /// again.
    static let viewersPerPause = 4
    /// Silence on a stream after which a ping is sent. Phones' routers forget idle connections after a minute or more,
    /// and a client that has gone is noticed within `writeTime` after the ping.
    static let ping: Duration = .seconds(5)
    /// How long an encoded view is reused for other viewers. The position in the song may be off by this much.
    static let encodedViewLife: Duration = .milliseconds(250)
    /// The interval for checks that are not urgent: link strength, notices that expire, absent guests.
    static let tick: Duration = .seconds(1)
    /// How long streams have to send the last view when the node has ended. The node must end within two seconds in
    /// total.
    public static let lastView: Duration = .milliseconds(400)

    // MARK: Wishes

    /// Commands of one person that are accepted per second. People do not tap faster for long.
    static let commandsPerSecond = 5
    /// Commands that may arrive in a burst, such as votes that were queued while the page was disconnected.
    static let commandBurst = 40
    /// Requests to join from one address per second. Each costs a key multiplication.
    static let joinsPerSecond = 2
    /// Requests to join in a burst, because many people may share a router's address.
    static let joinBurst = 32
    /// Addresses and people with a remembered rate: more than there can be connections.
    static let rememberedRates = 512
    /// Inputs that wait for the node before commands are refused. They may wait while the disk hangs for seconds.
    static let waitingInputs = 512
    /// Taps of a web guest that are not on the node's disk yet: as many as a page queues.
    static let waitingTaps = 64
    /// How long a tap waits for the node's disk. The page gives up after 8 s.
    static let tapTime: Duration = .seconds(5)
    /// Time for a guest's host to answer a search.
    static let searchTime: Duration = .seconds(5)
    /// Searches that wait for the host's answer, for all pages of one guest's node.
    static let waitingSearches = 16
    /// The longest search, in bytes: the host's own limit.
    static let searchBytes = DJLimits.searchBytes

    // MARK: Web guests

    /// Web guests of a host: as many as its node admits.
    static let webGuests = Limits.vouchedGuests
    /// Maximum number of web guests of one address, as a multiple of the slots that stay free. One address gets 24 of
    /// 32 slots, and other phones get the rest. Phones behind one router share an address.
    static let webGuestShare = 3
    /// How long a web guest without a stream counts as present. A phone may sleep between two songs.
    static let absence: Duration = .seconds(30)
    /// Sessions of one web guest. A phone that lost its cookie gets a new session.
    static let sessionsPerGuest = 4
    /// How long a browser keeps its cookies after its last visit, in seconds: the longest time that browsers allow.
    static let cookieSeconds = 400 * 86_400

    // MARK: Pictures

    /// The largest cover that is sent, in bytes: the largest that the node loads.
    static let pictureBytes = 4 << 20
    /// Covers in memory at the same time, 32 MiB in total at most. Further requests wait.
    static let picturesAtOnce = 8
    /// Slots of `picturesAtOnce` that are reserved for the node's own page.
    static let driverPicturesAtOnce = 2
    /// Requests for covers that wait for a slot. Several phones may show a queue for the first time.
    static let waitingPictures = 64
    /// How long a request for a cover waits for a slot. Meanwhile the phone shows the song without its cover.
    static let pictureWait: Duration = .seconds(3)
    /// Bytes of a cover that are written to a connection at a time. Each piece takes little time, and a cover has few
    /// pieces.
    static let pictureChunkBytes = 32 << 10
    /// How long a browser may open its cached page without a request, in seconds: people who drive once a week open it
    /// without the network.
    static let pageSeconds = 7 * 86_400
    /// How long a browser shows a cover without asking again, in seconds.
    static let pictureSeconds = 600
    /// The longest address in a QR code, in bytes: a code that a phone reads from an arm's length.
    static let invitationBytes = 256
}
