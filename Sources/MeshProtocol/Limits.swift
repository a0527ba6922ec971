// SPDX-License-Identifier: Apache-2.0

/// Every limit of the wire, of links and of conversations, each with its reason. Those of radios are `RadioLimits`.
///
/// A limit that a peer can run into ends in a value (a refusal, a dropped frame, a closed link), never in growth.
public enum Limits {
    // MARK: Names and advertisements

    /// Longest name of a node, in characters: what a head unit shows on one line.
    public static let nameCharacters = 64
    /// Longest name of a node, in UTF-8 bytes: 64 characters of an emoji alphabet still fit an SDU.
    public static let nameBytes = 248
    /// Longest service type, in characters (the rule of the documents RoadMesh follows; DNS-SD has the same).
    public static let serviceTypeCharacters = 15
    /// A legacy advertisement or scan response: 31 bytes (Core specification, Vol 6, Part B, 2.3.1).
    public static let advertisementBytes = 31
    /// Longest name in a scan response: 31 bytes less the two of its header, and less the nine that tell more of the node
    /// (`docs/protocol.md`, "Advertisement").
    public static let advertisedNameBytes = advertisementBytes - 2 - 9
    /// Longest name of a host in the scan response of a relay, which has as much more to tell as eight characters hold.
    public static let relayedNameBytes = advertisedNameBytes - 8
    /// Longest identifier of a peer that is believed, in bytes. Ours have 32.
    public static let peerIDBytes = 64

    // MARK: Records and messages

    /// Largest SDU we take, in bytes: 245 + 247 · 8 fills nine link-layer packets to the last byte.
    public static let sduBytes = 2_221
    /// Time that the chunks of one SDU have, over GATT: the largest is 117 of the smallest chunks, and a phone that sends one in an
    /// event of 30 ms needs three and a half seconds for them.
    public static let chunkTimeout: Duration = .seconds(10)
    /// Chunks that are under way before one has to be acknowledged: 16 KB of the largest, more than a fast link carries in a round trip,
    /// and half of what their numbers tell apart.
    public static let chunkWindow = 32
    /// Chunks that are acknowledged together: a packet of one byte for two of the largest SDUs.
    public static let chunkAcknowledgements = 8
    /// Smallest SDU that the other side must take: a handshake packet with the longest name fits it.
    public static let leastSDUBytes = 512
    /// Largest message, in bytes: a snapshot of a full queue with everybody's votes.
    public static let messageBytes = 65_535
    /// Bytes of a message's unit that are not the application's: flags and a number.
    public static let unitHeaderBytes = 1 + 10
    /// Largest unit that is put together from fragments.
    public static let unitBytes = messageBytes + unitHeaderBytes
    /// Largest number of a message: counters can never overflow, and no peer reaches it.
    public static let largestNumber: UInt64 = 1 << 62
    /// Frames a second that are read from one link. A person's taps are some ten, a full link's fragments some fifty; a
    /// peer that sends more waits, and the others do not.
    public static let framesPerSecond = 500
    /// Frames that may come at once before that counts: everything an outbox holds, after a gap.
    public static let frameBurst = 2 * outboxMessages

    // MARK: Links

    /// Guests of one host: a full bus row and then some; an adapter holds about as many links.
    public static let guests = 16
    /// Guests of one host that a bearer vouches for: they cost the adapter nothing, and a bus has twice as many seats.
    public static let vouchedGuests = 2 * guests
    /// Links with an unfinished handshake at each entrance: the air, the network, a broker. Each takes a tenth of a second, so a full bus
    /// needs two. Each costs a host four Diffie-Hellman operations, so a stranger must not start many.
    public static let halfOpenLinks = 8
    /// More of these at each entrance, for nodes that have joined before: strangers who keep all others busy do not keep them out.
    public static let halfOpenLinksOfKnown = 4
    /// Handshakes a second that a host lets others begin on the air: a twentieth of a slow device's time. A full bus that comes out of
    /// a tunnel is through at once (`handshakeBurst`).
    public static let handshakesPerSecond = 20
    /// The same in the network and at a broker, each.
    public static let handshakesPerSecondBesideAir = 10
    /// Handshakes that may begin at once before that counts: every guest there can be, twice.
    public static let handshakeBurst = 2 * guests
    /// Handshakes a second, beyond these, of initiators that show with their first packet to be known, at each entrance. As many as there can
    /// be guests may begin at once. Replayed packets cost a host no more than that.
    public static let handshakesPerSecondOfKnown = 5
    /// Time for that packet: it leaves as soon as the channel is open.
    public static let knownHelloTimeout: Duration = .seconds(1)
    /// Time a guest that has linked has for its handshake. Ten supervision timeouts and a slow device.
    public static let handshakeTimeout: Duration = .seconds(5)
    /// Time that a dialled host has for its answer. It is shorter, since a guest whose channel is misrouted in the
    /// kernel (`docs/bluez.md`) makes no progress until it dials again.
    public static let answerTimeout: Duration = .seconds(3)
    /// Frames, and records, that are accepted before the answer that opens a link. The answer is the first frame today,
    /// and a later version may put a few in front. A peer that has not answered cannot make this side open records.
    public static let framesBeforeAnswer = 16
    /// How often a live link is pinged, to measure the round trip and detect a peer that is gone.
    public static let pingInterval: Duration = .seconds(1)
    /// An initiator that is pinged on a carrier or in a circuit sends its own ping only once in this many intervals:
    /// people rarely look at its round trip, and it changes slowly.
    static let pingsPerRoundTrip = 8
    /// Silence after an unanswered ping that ends a link although the link layer reports no loss. With the ping
    /// interval, a stopped peer is detected within three seconds.
    public static let pongTimeout: Duration = .seconds(2)
    /// The silence that a relay and the nodes behind it ask for on their link: a ping each two seconds instead of each
    /// second. A relay has seven such links for hours, mostly idle. A stopped peer is detected within six seconds,
    /// sooner if a message waits (`circuitPatience`); the link layer detects a lost radio as usual.
    public static let carrierSilence: Duration = .seconds(4)
    /// The silence that a node asks for on a link whose bytes cost money: a ping each ten seconds instead of each
    /// second. A message that waits for its acknowledgement pings sooner (`circuitPatience`).
    public static let meteredSilence: Duration = .seconds(20)
    /// The longest silence that a peer may ask for: a phone that sleeps wakes for its links within a minute.
    public static let longestSilence: Duration = .seconds(60)
    /// Pings that may be answered late: a round trip of this many seconds is still measured.
    public static let openPings = 16
    /// Times that a live link of a peer is replaced by a newer one within `replacementTime` before these are two nodes with
    /// one identity: each throws the other out within a tenth of a second, and no guest that flickers comes back as fast.
    public static let replacements = 5
    /// See `replacements`; and for how long both are kept out then, so that either hears why.
    public static let replacementTime: Duration = .seconds(10)
    /// Silence after which the link layer drops a link: the kernel's default, and the virtual radio's.
    public static let supervisionTimeout: Duration = .milliseconds(420)
    /// The virtual radio, and the simulator's, give up an attempt to connect after this long. (The kernel takes 40 s, seen
    /// in the radio lab; `RadioLimits` has what a dial over BlueZ takes.)
    public static let dialAttempt: Duration = .seconds(20)
    /// Records that follow an answer before its receiver has proved that it is not a replay: a snapshot of some songs.
    /// A replayed hello costs no more airtime than that.
    public static let earlyRecords = 4
    /// Circuits with an unsent refusal. Further ones are not answered: an honest node does not open many at a node that
    /// refuses them.
    public static let circuitRefusals = 8
    /// Relays that a circuit passes: a convoy of two kilometres with radios that reach thirty metres.
    public static let circuitHops: UInt8 = 64
    /// Circuits of a node that is not a relay: it needs one, and a second while it changes its route.
    public static let circuitsOfGuest = 8
    /// Circuits that pass a relay, and therefore those of the link to its parent: as many as the largest crowd has. If
    /// only one of the nodes at the host's radio is a relay, all others are behind it.
    public static let relayedCircuits = 1_024
    /// What a circuit's number is less than: seven bytes of a varint.
    static let circuitNumbers: UInt64 = 1 << 49
    /// SDUs that wait for a circuit: a vote, its answer and what two more people tap. Each may have `innerSDUBytes`, so a relay
    /// with all its circuits full keeps 22 MB, and a tenth of a percent of that as long as people vote.
    static let circuitCredits: UInt64 = 4
    /// Records that leave before a goodbye of a link with circuits: some goodbyes in each of them.
    package static let lastRecords = 64
    /// Credits beyond which more say nothing.
    static let mostCredits: UInt64 = 1 << 16
    /// Largest SDU inside a circuit: what a record of `sduBytes` holds behind its tag and a frame's header of ten bytes.
    public static let innerSDUBytes = sduBytes - 16 - 10
    /// Smallest SDU of a channel that circuits pass: `leastSDUBytes` and a frame around them.
    public static let leastCarrierSDUBytes = leastSDUBytes + sduBytes - innerSDUBytes
    /// Guests of one host on circuits: a crowd. They cost its adapter nothing.
    public static let circuitGuests = 1_024
    /// A link has at most so many guests in circuits as there are slots left, times this. So 992 guests fit behind one relay, and
    /// an attacker behind one relay leaves slots to guests behind others.
    static let circuitShare = 31
    /// Bytes of unfinished units in the circuits of one link, of guests that send to this node. Guests' messages are short, and most fit one
    /// record.
    static let unfinishedBytes = 4 * messageBytes
    /// Time that a unit has, from its first fragment to its last: the largest on a link that carries 1 KB a second.
    static let unitTimeout: Duration = .seconds(64)
    /// Unfinished handshakes on circuits. A circuit's end is reported, so a quiet one costs little more than its slot.
    /// In a crowd a handshake takes seconds, and all start at once.
    public static let halfOpenCircuits = 7 * halfOpenCircuitsOfRelay
    /// The same behind one link. Seven relays leave slots to each other, and one relay in front of the crowd admits
    /// fifty guests a second whose handshakes take five. A refused guest tries again at once, and takes airtime from
    /// the others.
    public static let halfOpenCircuitsOfRelay = 256
    /// Handshakes a second that others may begin on circuits: when a relay is gone, all behind it come back at once. A tenth of
    /// a slow device's time.
    public static let circuitHandshakesPerSecond = 100
    /// Handshakes on circuits that may begin at once before that counts.
    public static let circuitHandshakeBurst = 200
    /// For how long who was linked in a circuit may come back by what both have kept of their handshake: no new keys are agreed on then, so
    /// who gets hold of a node's memory reads no more than that. A drive has tunnels every few minutes.
    static let rejoinTime: Duration = .seconds(3_600)
    /// Peers with a saved handshake secret, about 300 bytes each: as many as may be linked in circuits.
    package static let rejoins = circuitGuests
    /// How long the ends of a circuit may be silent: each link on the way notices its own end.
    public static let circuitSilence: Duration = .seconds(20)
    /// The same in a crowd: asking each of a thousand every ten seconds whether it is there would be a third of what the links next to the
    /// host carry.
    static let crowdedSilence = longestSilence
    /// Circuits of a host beyond which it is a crowd.
    static let fewCircuits = 64
    /// How long a message in a circuit may wait for its acknowledgement before the other end is asked whether it is there.
    static let circuitPatience: Duration = .seconds(2)
    /// How long the circuit of a guest that has gone over to a better way stays, until the host has closed it: some round trips over a
    /// busy way of several hops. The link to the relay is kept no longer than that.
    static let lingeringCircuit: Duration = .milliseconds(1_500)
    /// Silence after that which makes a circuit dead: a relay that takes and drops is left within six seconds.
    static let circuitDoubt: Duration = .seconds(4)
    /// What is added to the time for a handshake for each hop: it passes that up to four times, and waits each time for what the
    /// controllers on the way already have to send, a third of a second where a crowd joins. One that is given up has to begin again.
    static let hopTime: Duration = .seconds(2)
    /// The longest such time: a relay that lies about its hops delays a node no longer.
    static let longestHopTime: Duration = .seconds(30)
    /// Links that the radio of a dongle holds, its own among them.
    public static let radioLinks = 7
    /// The last slots of a radio, which are reserved for relays: each relay brings six more nodes, and other nodes can
    /// join behind it. Two, since relays arrive together and a guest that must leave takes a second or two.
    public static let placesForRelays = 2
    /// Nodes that a relay takes: what a dongle holds.
    public static let relayChildren = radioLinks
    /// The longest update that is for everybody: signed and named it is a message.
    public static let sharedBodyBytes = messageBytes - StateSignature.byteCount - StateName.byteCount
    /// What a relay keeps of the host's state: the largest there is, and as much again in changes, signed, twice over.
    static let sharedLogBytes = 4 * (messageBytes + 1)
    /// States that a node names when it comes behind a relay: one of them both have had, unless they were parted for longer than a node
    /// keeps states that it could go on from. In bytes: 128 for each way that is opened.
    public static let namedStates = 16
    /// State that has come before the key that it is signed with: the largest there is, and what comes behind it.
    static let heldStateBytes = 2 * (messageBytes + 1)
    /// Bytes of a responder's proof in its hello, so that an answer with it fits the smallest channel.
    public static let proofBytes = 64
    /// Digits of a PIN: short enough to be read aloud in a car, and enough with so few `guesses`.
    public static let pinDigits = 6
    /// Bytes that name an invitation: a host has few, and never two of the same name.
    public static let invitationBytes = 8
    /// Bytes of an invitation's secret: too many to guess.
    public static let invitationSecretBytes = 16
    /// Bytes of an invitation's code as text: the longest service fits.
    static let invitationTextBytes = 256
    /// Invitations of a host that are good at a time: a table at a party. Each is a row in the store and a line on the page.
    public static let invitations = 32
    /// Seconds by which the clock has to differ to be taken for set: times are in whole seconds.
    static let clockStep: Int64 = 2
    /// How long an invitation is good at most, in seconds: until next month's party.
    public static let invitationSeconds: UInt32 = 31 * 86_400
    /// Times that a guest sends its tag for one PIN and gets no valid one back, over all hosts and restarts. After that it joins only
    /// hosts that have proved a PIN before, until its person says Retry. Each lets a host check one guess. A link that breaks in
    /// that moment counts as well, so there are some.
    public static let unansweredProofs = 5
    /// PINs that a guest counts that for: those of the last cars.
    static let countedSecrets = 16
    /// Bytes that tell these apart.
    static let countedSecretBytes = 16
    /// Wrong guesses of a host's PIN before strangers have to wait, all together, since identities cost nothing. A family mistypes
    /// once or twice.
    static let guesses = 5
    /// Guesses that are reserved for strangers on the air: guessers in the network, at a broker and at the page cannot use
    /// them up.
    static let guessesOfAir = 2
    /// Each time that passes gives one of these back: 432 a day and the first five, at any pace, so that guessing half of the PINs
    /// takes three years. A guest with the right PIN waits no longer than that.
    static let guessInterval: Duration = .seconds(200)
    /// Time a goodbye has to leave before the channel closes.
    public static let goodbyeTimeout: Duration = .milliseconds(300)

    /// Connection intervals that one side may advise the other to use, in units of 1.25 ms: from the shortest that there is, 7.5 ms,
    /// to 100 ms, with which a link has seven events before it is given up.
    public static let intervalUnits = 6...80
    /// Milliseconds that a reported dial may have taken: at least one, and two advertisements are at most 20.5 s apart.
    public static let dialMilliseconds = 1...30_000

    // MARK: Conversations

    /// Reliable messages that wait for one peer. A person taps at most a few a second; a tunnel lasts minutes.
    public static let outboxMessages = 512
    /// Bytes that wait for one peer, whatever they are.
    public static let outboxBytes = 1 << 20
    /// Bytes that wait for all peers together. Identities cost nothing, so what one may cause to wait is not the limit of
    /// what many may.
    public static let allOutboxBytes = 8 << 20
    /// Peers whose conversations are remembered, linked or not: the largest crowd that a host can have, so that none is
    /// forgotten when a relay brings many nodes, and a bus a day for some weeks. The longest unused one is dropped
    /// first.
    public static let conversations = circuitGuests + 256
}
