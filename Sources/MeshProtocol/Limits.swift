// SPDX-License-Identifier: Apache-2.0

/// All limits of the wire, of links and of conversations, each with its reason. The limits of radios are in
/// `RadioLimits`.
///
/// A limit that a peer can reach results in a value (a refusal, a dropped frame, a closed link), never in growth.
public enum Limits {
    // MARK: Names and advertisements

    /// Longest name of a node, in characters, which fits on one line of a head unit.
    public static let nameCharacters = 64
    /// Longest name of a node, in UTF-8 bytes: 64 characters of an emoji alphabet still fit an SDU.
    public static let nameBytes = 248
    /// Longest service type, in characters (the rule of the documents that RoadMesh follows; DNS-SD has the same).
    public static let serviceTypeCharacters = 15
    /// A legacy advertisement or scan response: 31 bytes (Core specification, Vol 6, Part B, 2.3.1).
    public static let advertisementBytes = 31
    /// Longest name in a scan response: 31 bytes minus two for its header and nine for further data of the node
    /// (`docs/protocol.md`, "Advertisement").
    public static let advertisedNameBytes = advertisementBytes - 2 - 9
    /// Longest name of a host in the scan response of a relay, whose further data take eight more bytes.
    public static let relayedNameBytes = advertisedNameBytes - 8
    /// Longest accepted identifier of a peer, in bytes. RoadMesh's own identifiers have 32 as text.
    public static let peerIDBytes = 64

    // MARK: Records and messages

    /// Largest accepted SDU, in bytes: 245 + 247 · 8 fills nine link-layer packets to the last byte.
    public static let sduBytes = 2_221
    /// Time for the chunks of one SDU over GATT. The largest SDU has 117 of the smallest chunks, and a phone that sends
    /// one in each event of 30 ms needs three and a half seconds for them.
    public static let chunkTimeout: Duration = .seconds(10)
    /// Maximum number of unacknowledged chunks in transit. The largest chunks are then 16 KB, more than a fast link
    /// carries in a round trip. The limit is half of the range of chunk numbers.
    public static let chunkWindow = 32
    /// Chunks that are acknowledged together: a packet of one byte for two of the largest SDUs.
    public static let chunkAcknowledgements = 8
    /// Smallest SDU that the other side must accept. A handshake packet with the longest name fits it.
    public static let leastSDUBytes = 512
    /// Largest message, in bytes: a snapshot of a full queue with all guests' votes.
    public static let messageBytes = 65_535
    /// Bytes of a message's unit in addition to the application's bytes: flags and a number.
    public static let unitHeaderBytes = 1 + 10
    /// Largest unit that is reassembled from fragments.
    public static let unitBytes = messageBytes + unitHeaderBytes
    /// Largest number of a message. Counters cannot overflow, and no peer reaches it.
    public static let largestNumber: UInt64 = 1 << 62
    /// Frames per second that are read from one link, unless its bearer states a higher limit. A person's taps cause
    /// about ten, and the fragments of a full link over Bluetooth about fifty. Only a peer that sends more has to wait.
    public static let framesPerSecond = 500
    /// Frames that may arrive at once before the limit per second applies. After a gap, all messages of an outbox
    /// arrive at once.
    public static let frameBurst = 2 * outboxMessages
    /// On a fast bearer, the frames of 1/10 of a second may arrive at once, if these are more than `frameBurst`.
    static let frameBurstsPerSecond = 10

    // MARK: Links

    /// Guests of one host: more than a full bus row. An adapter holds about as many links.
    public static let guests = 16
    /// Guests of one host that a bearer vouches for. They need no link of the adapter, and a bus has twice as many
    /// seats.
    public static let vouchedGuests = 2 * guests
    /// Links with an unfinished handshake at each entrance: Bluetooth, the network, a broker. Each handshake takes a
    /// tenth of a second, so a full bus needs two tenths. Each handshake costs a host four Diffie-Hellman operations,
    /// so a stranger must not start many.
    public static let halfOpenLinks = 8
    /// Additional links at each entrance for nodes that have joined before. Strangers who fill all the other links do
    /// not keep these nodes out.
    public static let halfOpenLinksOfKnown = 4
    /// Handshakes per second that other nodes may begin with a host over Bluetooth: they take a twentieth of a slow
    /// device's time. A full bus that comes out of a tunnel is admitted at once (`handshakeBurst`).
    public static let handshakesPerSecond = 20
    /// Handshakes per second that other nodes may begin with a host in the network, and the same number at a broker.
    public static let handshakesPerSecondBesideAir = 10
    /// Handshakes that may begin at once before these rates apply: all possible guests, twice.
    public static let handshakeBurst = 2 * guests
    /// Additional handshakes per second at each entrance, of initiators that the first packet shows to be known. All
    /// possible guests may begin at once. Replayed packets cannot cause more handshakes than this.
    public static let handshakesPerSecondOfKnown = 5
    /// Time for the initiator's first packet, which is sent as soon as the channel is open.
    public static let knownHelloTimeout: Duration = .seconds(1)
    /// Time that a linked guest has for its handshake: ten supervision timeouts and the time of a slow device.
    public static let handshakeTimeout: Duration = .seconds(5)
    /// Time that a dialled host has for its answer. It is shorter than `handshakeTimeout`, because a guest whose
    /// channel is misrouted in the kernel (`docs/bluez.md`) makes no progress until it dials again.
    public static let answerTimeout: Duration = .seconds(3)
    /// Frames and records that are accepted before the answer that opens a link. Today the answer is the first frame,
    /// but a later version may send a few frames before it. A peer that has not answered cannot make this side decrypt
    /// many records.
    public static let framesBeforeAnswer = 16
    /// Time between two pings of a live link, which measure the round trip and detect a lost peer.
    public static let pingInterval: Duration = .seconds(1)
    /// An initiator that is pinged on a carrier or in a circuit sends its own ping only once in this many intervals:
    /// people rarely look at its round trip, and it changes slowly.
    static let pingsPerRoundTrip = 8
    /// Silence after an unanswered ping that ends a link although the link layer reports no loss. Together with the
    /// ping interval, a stopped peer is detected within three seconds.
    public static let pongTimeout: Duration = .seconds(2)
    /// The silence that a relay and the nodes behind it request on their link: a ping every two seconds instead of
    /// every second. A relay has seven such links for hours, mostly idle. A stopped peer is detected within six
    /// seconds, sooner if a message waits (`circuitPatience`). The link layer detects a lost radio as usual.
    public static let carrierSilence: Duration = .seconds(4)
    /// The silence that a node requests on a link with paid traffic: a ping every ten seconds instead of every
    /// second. A message that waits for its acknowledgement causes a ping sooner (`circuitPatience`).
    public static let meteredSilence: Duration = .seconds(20)
    /// The longest silence that a peer may request. A sleeping phone wakes for its links within a minute.
    public static let longestSilence: Duration = .seconds(60)
    /// Maximum number of unanswered pings. A round trip of this many seconds is still measured.
    public static let openPings = 16
    /// If a live link of a peer is replaced by a newer one this many times within `replacementTime`, two nodes share
    /// one identity. Each node would end the other's link within a tenth of a second. A guest with an unstable link
    /// never reconnects that often.
    public static let replacements = 5
    /// Time for `replacements`. Afterwards both nodes are refused for the same time, so that both learn the reason.
    public static let replacementTime: Duration = .seconds(10)
    /// Silence after which the link layer drops a link. This is the default of the kernel and of the virtual radio.
    public static let supervisionTimeout: Duration = .milliseconds(420)
    /// Time after which the virtual radio and the simulator cancel an attempt to connect. (The kernel takes 40 s, as
    /// seen in the radio lab. `RadioLimits` has the times of a dial over BlueZ.)
    public static let dialAttempt: Duration = .seconds(20)
    /// Records that may follow an answer before the initiator has proved that its hello is not a replay: a snapshot of
    /// some songs. A replayed hello costs no more airtime than that.
    public static let earlyRecords = 4
    /// Circuits with an unsent refusal. Further circuits are not answered: an honest node does not open many circuits
    /// at a node that refuses them.
    public static let circuitRefusals = 8
    /// Maximum number of relays of a circuit: a convoy of two kilometres with radios that reach thirty metres.
    public static let circuitHops: UInt8 = 64
    /// Circuits of a node that is not a relay. The node needs one circuit, and a second while it changes its route.
    public static let circuitsOfGuest = 8
    /// Maximum number of circuits through a relay, and therefore on the link to its parent: as many as the largest
    /// crowd has. If only one of the nodes in the host's range is a relay, all others are behind it.
    public static let relayedCircuits = 1_024
    /// Upper bound of a circuit's number: seven bytes of a varint.
    static let circuitNumbers: UInt64 = 1 << 49
    /// SDUs that may wait for a circuit: a vote, its answer and the taps of two more people. Each may have
    /// `innerSDUBytes`. So a relay with full circuits stores 22 MB. While people only vote, it stores a tenth of a
    /// percent of that.
    static let circuitCredits: UInt64 = 4
    /// Records that are sent before a goodbye on a link with circuits, to send the goodbyes of the circuits.
    package static let lastRecords = 64
    /// Maximum number of credits. Further credits have no effect.
    static let mostCredits: UInt64 = 1 << 16
    /// Largest SDU inside a circuit: the size of a record of `sduBytes` without its tag and a frame's header of ten
    /// bytes.
    public static let innerSDUBytes = sduBytes - 16 - 10
    /// Smallest SDU of a channel with circuits: `leastSDUBytes` and a frame around them.
    public static let leastCarrierSDUBytes = leastSDUBytes + sduBytes - innerSDUBytes
    /// Guests of one host on circuits: a crowd. They need no links of the host's adapter.
    public static let circuitGuests = 1_024
    /// A link has at most this many times as many guests in circuits as there are free slots. So 992 guests fit behind
    /// one relay, and an attacker behind one relay leaves slots to guests behind other relays.
    static let circuitShare = 31
    /// Bytes of unfinished units in the circuits of one link, from guests that send to this node. Guests' messages are
    /// short, and most fit one record.
    static let unfinishedBytes = 4 * messageBytes
    /// Time for a unit, from its first fragment to its last: the largest unit on a link that carries 1 KB per second.
    static let unitTimeout: Duration = .seconds(64)
    /// Unfinished handshakes on circuits. The end of a circuit is always reported, so a silent handshake costs little
    /// more than its slot. In a crowd a handshake takes seconds, and all handshakes start at once.
    public static let halfOpenCircuits = 7 * halfOpenCircuitsOfRelay
    /// Unfinished handshakes on the circuits of one link. With this limit seven relays leave slots to each other. If a
    /// single relay is between the host and the crowd, fifty guests per second can join with handshakes of five
    /// seconds. A refused guest tries again at once, and takes airtime from the others.
    public static let halfOpenCircuitsOfRelay = 256
    /// Handshakes per second that others may begin on circuits. When a relay is gone, all nodes behind it return at
    /// once. These handshakes take a tenth of a slow device's time.
    public static let circuitHandshakesPerSecond = 100
    /// Handshakes on circuits that may begin at once before this rate applies.
    public static let circuitHandshakeBurst = 200
    /// Time in which a peer that was linked in a circuit may resume with the stored handshake secret. A rejoin does not
    /// agree on new keys, so this time limits the traffic that an attacker with a node's memory can read. The time is
    /// long enough for a drive with tunnels every few minutes.
    static let rejoinTime: Duration = .seconds(3_600)
    /// Peers with a stored handshake secret, about 300 bytes each: as many as may be linked in circuits.
    package static let rejoins = circuitGuests
    /// Longest silence of the ends of a circuit. It can be long, because each link on the route detects its own end.
    public static let circuitSilence: Duration = .seconds(20)
    /// Longest silence of the ends of a circuit in a crowd. A ping to each of a thousand nodes every ten seconds would
    /// be a third of the traffic on the links next to the host.
    static let crowdedSilence = longestSilence
    /// A host with more circuits than this counts as the host of a crowd.
    static let fewCircuits = 64
    /// Time that a message in a circuit waits for its acknowledgement before the other end is pinged.
    static let circuitPatience: Duration = .seconds(2)
    /// Time that the circuit of a guest that has moved to a better route stays until the host closes it: some round
    /// trips over a busy route of several hops. The link to the relay is kept no longer than that.
    static let lingeringCircuit: Duration = .milliseconds(1_500)
    /// Silence after the ping of `circuitPatience` that ends a circuit. A guest leaves a relay that drops its data
    /// within six seconds.
    static let circuitDoubt: Duration = .seconds(4)
    /// Additional time for a handshake per hop. The handshake passes each hop up to four times. When a crowd joins, it
    /// waits up to a third of a second each time for the data in the controllers. A cancelled handshake must start
    /// again.
    static let hopTime: Duration = .seconds(2)
    /// Maximum additional time for hops. A relay that lies about its hops delays a node no longer than this.
    static let longestHopTime: Duration = .seconds(30)
    /// Links of a dongle's radio, including the link to the relay's own parent.
    public static let radioLinks = 7
    /// The last slots of a radio, which are reserved for relays: each relay brings six more nodes, and other nodes can
    /// join behind it. Two slots are reserved, because several relays may arrive together, and a guest that must leave
    /// needs a second or two.
    public static let placesForRelays = 2
    /// Nodes that a relay accepts: as many as a dongle has links.
    public static let relayChildren = radioLinks
    /// Longest update for all guests. With its signature and name it has the size of the largest message.
    public static let sharedBodyBytes = messageBytes - StateSignature.byteCount - StateName.byteCount
    /// Size of a relay's log of the host's state: twice the largest signed state together with as many bytes of
    /// changes.
    static let sharedLogBytes = 4 * (messageBytes + 1)
    /// States that a node reports when it moves behind a relay. The relay has one of these states too, unless the node
    /// was without a link for longer than its recent states cover. The report costs 128 bytes for each new route.
    public static let namedStates = 16
    /// Bytes of the state that a node keeps until it has the key of the signature: the largest state and the updates
    /// after it.
    static let heldStateBytes = 2 * (messageBytes + 1)
    /// Bytes of a responder's proof in its hello. An answer with it fits the smallest channel.
    public static let proofBytes = 64
    /// Digits of a PIN: short enough to be read aloud in a car, and long enough with so few `guesses`.
    public static let pinDigits = 6
    /// Bytes that identify an invitation. A host has few, and never two with the same name.
    public static let invitationBytes = 8
    /// Bytes of an invitation's secret: too many to guess.
    public static let invitationSecretBytes = 16
    /// Bytes of an invitation's code as text. The longest service fits.
    static let invitationTextBytes = 256
    /// Maximum number of valid invitations of a host: a table at a party. Each is a row in the store and a line on the
    /// page.
    public static let invitations = 32
    /// A clock counts as set if its time has changed by at least this many seconds. Times are in seconds, so a
    /// difference of one may be rounding.
    static let clockStep: Int64 = 2
    /// Longest validity of an invitation, in seconds: until next month's party.
    public static let invitationSeconds: UInt32 = 31 * 86_400
    /// Times that a guest sends its tag for one PIN without a valid answer, over all hosts and restarts. After that it
    /// joins only hosts that have proved a PIN before, until its person presses Retry. Each tag lets a host check one
    /// guess. A link that breaks at that time counts as well, so several are allowed.
    public static let unansweredProofs = 5
    /// PINs for which a guest counts its unanswered tags: the PINs of the last cars.
    static let countedSecrets = 16
    /// Bytes of the hash that identifies a PIN for which a guest counts its tags.
    static let countedSecretBytes = 16
    /// Wrong guesses of a host's PIN before strangers have to wait. They are counted over all strangers, because
    /// identities cost nothing. A family mistypes once or twice.
    static let guesses = 5
    /// Guesses that are reserved for strangers over Bluetooth: guessers in the network, at a broker and at the page
    /// cannot use them up.
    static let guessesOfAir = 2
    /// Time after which one more guess is allowed: 432 a day in addition to the first five, at any pace. Guessing half
    /// of the PINs takes three years. A guest with the right PIN waits no longer than this.
    static let guessInterval: Duration = .seconds(200)
    /// Time for sending a goodbye before the channel closes.
    public static let goodbyeTimeout: Duration = .milliseconds(300)

    /// Connection intervals that one side may advise the other to use, in units of 1.25 ms: from the shortest possible,
    /// 7.5 ms, to 100 ms, with which a link has seven events before it is lost.
    public static let intervalUnits = 6...80
    /// Range of the duration of a reported dial, in milliseconds. Two advertisements are at most 20.5 s apart.
    public static let dialMilliseconds = 1...30_000

    // MARK: Connection intervals

    /// The intervals of the only link, in units of 1.25 ms: 8.75 ms while data flows, 36.25 ms while idle. The idle
    /// interval is shorter than the kernel's longest, so that the first vote after a silence is as fast as without
    /// tuning.
    public static let aloneIntervals = LinkIntervals(brisk: 7, calm: 29)
    /// The intervals of up to eight links, by slot: 11.25 to 31.25 ms while data flows, 30 to 51.25 ms while idle. No
    /// two have a large common divisor, so they do not collide for long. None is 40, which the kernel uses for new
    /// links. Only the last is longer than the kernel's longest, 50 ms: a kernel refuses longer intervals than it has
    /// dialled with.
    public static let fewIntervals = [(9, 29), (11, 31), (13, 37), (16, 35), (17, 28), (19, 24), (23, 30), (25, 41)]
        .map { LinkIntervals(brisk: $0, calm: $1) }
    /// The intervals of more links, by slot, 23.75 to 58.75 ms. Each of 16 links at once still gets its connection
    /// events, and the supervision timeout of a tuned link is twelve events of 58.75 ms.
    public static let manyIntervals = [19, 21, 23, 25, 26, 29, 31, 32, 37, 41, 43, 47, 27, 34, 35, 33]
        .map { LinkIntervals(brisk: $0, calm: $0) }

    // MARK: Conversations

    /// Reliable messages that wait for one peer. A person taps at most a few times per second, and a tunnel lasts
    /// minutes.
    public static let outboxMessages = 512
    /// Bytes that wait for one peer, of any kind.
    public static let outboxBytes = 1 << 20
    /// Bytes that wait for all peers together. Identities cost nothing, so the limit of one peer does not bound many.
    public static let allOutboxBytes = 8 << 20
    /// Peers with remembered conversations, linked or not. The limit covers the largest crowd of a host, or one busload
    /// of guests a day for some weeks. The longest unused conversation is dropped first.
    public static let conversations = circuitGuests + 256
}
