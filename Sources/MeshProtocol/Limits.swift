// SPDX-License-Identifier: Apache-2.0

/// Every limit of a node in one place, each with its reason.
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
    /// Longest name in a scan response: 31 bytes less the two of its header.
    public static let advertisedNameBytes = advertisementBytes - 2
    /// Longest identifier of a peer that is believed, in bytes. Ours have 32.
    public static let peerIDBytes = 64

    // MARK: Records and messages

    /// Largest SDU we take, in bytes: 245 + 247 · 8 fills nine link-layer packets to the last byte.
    public static let sduBytes = 2_221
    /// Smallest SDU that the other side must take: a handshake packet with the longest name fits it.
    public static let leastSDUBytes = 512
    /// Largest message, in bytes: a snapshot of a full queue with everybody's votes.
    public static let messageBytes = 65_535
    /// Bytes of a message's unit that are not the application's: flags, a number, two identifiers.
    public static let unitHeaderBytes = 1 + 10 + 2 * 16
    /// Largest unit that is put together from fragments.
    public static let unitBytes = messageBytes + unitHeaderBytes
    /// Largest number of a message: what is counted can never overflow, and nobody gets there.
    public static let largestNumber: UInt64 = 1 << 62
    /// Frames a second that are read from one link. A person's taps are some ten, a full link's fragments some fifty; a
    /// peer that sends more waits, and the others do not.
    public static let framesPerSecond = 500
    /// Frames that may come at once before that counts: everything an outbox holds, after a gap.
    public static let frameBurst = 2 * outboxMessages

    // MARK: Links

    /// Guests of one host: a full bus row and then some; an adapter holds about as many links.
    public static let guests = 16
    /// Links whose handshake is not finished. Each takes a tenth of a second, so a full bus is through in two; each costs
    /// a host four Diffie-Hellman operations, so nobody may have it do many.
    public static let strangers = 8
    /// Handshakes a second that a host lets others begin: a twentieth of a slow box's time. A full bus that comes out of a
    /// tunnel is through at once (`handshakeBurst`).
    public static let handshakesPerSecond = 20
    /// Handshakes that may begin at once before that counts: every guest there can be, twice.
    public static let handshakeBurst = 2 * guests
    /// Time a guest that has linked has for its handshake. Ten supervision timeouts and a slow box.
    public static let handshakeTimeout: Duration = .seconds(5)
    /// Time a host that was dialled has for its answer. Shorter, since a guest whose channel has gone astray in the kernel
    /// (`docs/bluez.md`) gets nowhere before it dials again.
    public static let answerTimeout: Duration = .seconds(3)
    /// How often a live link is asked for an answer, to know its round trip and that somebody is there.
    public static let pingInterval: Duration = .seconds(1)
    /// Silence after an unanswered ping that makes a link dead although the link layer says nothing. With the ping's
    /// interval a peer that has stopped is noticed within three seconds.
    public static let pongTimeout: Duration = .seconds(2)
    /// Pings that may be answered late: a round trip of this many seconds is still measured.
    public static let openPings = 16
    /// Time a goodbye has to leave before the channel closes.
    public static let goodbyeTimeout: Duration = .milliseconds(300)

    /// Pause after a caller that could not be accepted, so that a lack of descriptors does not become a busy loop.
    public static let acceptPause: Duration = .milliseconds(100)

    // MARK: Queues

    /// Reliable messages that wait for one peer. A person taps at most a few a second; a tunnel lasts minutes.
    public static let outboxMessages = 512
    /// Bytes that wait for one peer, whatever they are.
    public static let outboxBytes = 1 << 20
    /// Bytes that wait for all peers together. Identities cost nothing, so what one may cause to wait is not the limit of
    /// what many may.
    public static let allOutboxBytes = 8 << 20
    /// Peers whose conversations are remembered, linked or not: a bus a day for a season. The longest unused goes first.
    public static let conversations = 256
    /// Hosts and guests in earshot that are remembered.
    public static let sightings = 256

    /// Events of an endpoint that wait for their listener before links are not read any more. Those of one more SDU a link
    /// may come on top.
    public static let endpointEvents = 64
    /// Events of a session that wait for one of its listeners: half a second of as much as a link may bring, and 16 MiB of
    /// the largest messages.
    public static let sessionEvents = 256
    /// Changes of a session's state that wait for a listener: more than any session goes through.
    public static let sessionStates = 16
    /// Events of a radio that wait for the transport, which reads them at once; the oldest go first.
    public static let radioEvents = 256
    /// What bluetoothd says that waits for the radio, which reads it at once.
    public static let busEvents = 1_024
    /// Buffer of a channel's socket, each way: a latency queue, so votes do not wait long behind what is in it.
    public static let channelBufferBytes = 16_384

    // MARK: Advertising, scanning and dialling

    /// Advertising interval while a guest is looked for, the shortest there is: a dial that is pending hears one advertisement
    /// and is answered at the next, so a guest has its link back after about 40 ms.
    public static let fastAdvertisingMilliseconds: ClosedRange<Int> = 20...20
    /// Advertising interval when nobody is expected: still found within half a second, an eighth of the airtime.
    public static let slowAdvertisingMilliseconds: ClosedRange<Int> = 150...200
    /// How long a host goes on looking eagerly after a start, a join or a lost link.
    public static let eagerAdvertising: Duration = .seconds(60)
    /// A scan that has heard nobody begins anew after this long; a host nearby is heard within some 30 ms. The pause doubles
    /// each time, since most likely nobody is there.
    public static let firstRescan: Duration = .milliseconds(400)
    /// The longest pause between two such scans: half of what bluetoothd leaves.
    public static let slowestRescan: Duration = .seconds(5)
    /// How often a host that goes on advertising is reported again.
    public static let sightingRepeat: Duration = .seconds(1)
    /// A host that the virtual radio has not heard for this long has gone: 25 slow advertisements in a row were lost.
    /// (bluetoothd keeps its own time for BlueZ, 30 s.)
    public static let virtualSightingLifetime: Duration = .seconds(5)
    /// The virtual radio gives up an attempt to connect after this long. (The kernel takes 40 s, seen in the radio lab.)
    public static let dialAttempt: Duration = .seconds(20)
    /// A dial of the real radio that is pending for this long is made anew: a controller may have forgotten it, and the
    /// kernel hangs on one now and then (`docs/bluez.md`). The guest's place in the air is lost for some milliseconds.
    public static let dialRenewal: Duration = .seconds(10)
    /// And given up after this long, as the kernel gives up its own.
    public static let dialLimit: Duration = .seconds(40)
    /// Dials that fail for a passing reason are repeated this often: one in a hundred fails on real air, so three in a
    /// row are a reason of another kind.
    public static let dialRepeats = 4
    /// Pause before such a repetition, two fast advertisements, and before a dial that is made anew: the kernel lets go of
    /// a closed one a little later and unseen, and one that follows at once takes it over and tells the controller nothing.
    public static let dialPause: Duration = .milliseconds(50)
    /// A dial that has been refused sooner than this was refused by somebody: one that nobody answers takes the kernel 40 s.
    public static let dialAnswered: Duration = .seconds(35)
    /// A link without a channel that is still up after this long is held by bluetoothd alone, and goes: the kernel lets
    /// go by itself after 2 s (outgoing) or 4 s (incoming), and whoever comes back sooner finds the link still there.
    public static let unusedLink: Duration = .seconds(5)
    /// A call to bluetoothd that is not answered by then has failed. It answers in milliseconds, under load in some
    /// hundreds; once in the lab, while links came and went, five seconds were too few.
    public static let busCall: Duration = .seconds(15)
    // MARK: Pairing

    /// How long a box looks for another one to bond with: whoever has typed it here still has to walk over and type it
    /// there.
    public static let pairingSearch: Duration = .seconds(120)
    /// How long a box that has heard another one goes on listening, so that a third is noticed: ten fast advertisements of
    /// each, and a scan that began anew.
    public static let pairingGather: Duration = .seconds(1)
    /// The box that is to be dialled dials itself after this long: the other one may not hear it.
    public static let pairingPatience: Duration = .seconds(5)
    /// How long a person has to compare six digits and answer. Bluetooth itself gives up after 30 s (Core specification,
    /// Vol 3, Part H, 3.4) and ends the link; two seconds sooner, both sides can still be told why.
    public static let pairingAnswer: Duration = .seconds(28)
    /// From one packet of a pairing to the next, where no person is waited for. Keys are made in a second or two on a slow
    /// box; what takes longer hangs.
    public static let pairingStep: Duration = .seconds(10)
    /// How long the reason of a failure may come after the failure: they take different ways, and it is on its way.
    public static let pairingLastWord: Duration = .seconds(1)
    /// Meetings that lead to nothing (a link lost, a bond that one side had forgotten) before a person has to look.
    public static let pairingMeetings = 5
    /// A whole pairing as bluetoothd sees it: two people's answers and what is around them.
    public static let pairingCall: Duration = .seconds(60)
    /// What happens during a pairing that waits to be decided on; there are some ten events in one.
    public static let pairingEvents = 256
    /// Devices of bluetoothd's that a pairing keeps track of.
    public static let pairingDevices = 256

    /// A controller answers a command in milliseconds; one that takes longer has stopped.
    public static let controllerAnswer: Duration = .seconds(1)
    /// Silence after which the link layer drops a link: the kernel's default, and the virtual radio's.
    public static let supervisionTimeout: Duration = .milliseconds(420)

    // MARK: Looking at a box

    /// One part of a look at a box: what has not answered by then is told as silent, and the person is not kept waiting.
    public static let checkup: Duration = .seconds(5)
    /// A program that is asked for its version answers in milliseconds, from a slow card in some hundreds.
    public static let programAnswer: Duration = .seconds(3)
    /// How long one adapter listens for another beside it. In the radio lab it hears it within 100 ms, and one in fifteen
    /// scans has to begin anew.
    public static let hearing: Duration = .seconds(8)
    // MARK: The adapter's health

    /// How often a controller is asked for an answer: one command, and a stopped one is noticed within a quarter of a
    /// minute.
    public static let controllerCheck: Duration = .seconds(5)
    /// A controller that takes longer than this for an answer is silent. The kernel itself holds the next command back for
    /// two seconds where one is not answered.
    public static let controllerSilence: Duration = .seconds(3)
    /// Silences in a row that make a controller one that has stopped: a reset costs everybody's links, so a box that was
    /// merely too busy must not cause one.
    public static let controllerSilences = 3
    /// An adapter that comes back within this time was not pulled out on purpose: a bad contact, a restarted bluetoothd.
    public static let adapterGrace: Duration = .seconds(3)
    /// How often the switches are looked at while one keeps the adapter off.
    public static let switchLook: Duration = .milliseconds(500)
    /// Time that bluetoothd has to switch an adapter on that rfkill blocks no longer. It takes some milliseconds.
    public static let unblockedGrace: Duration = .seconds(1)
    /// Tries to register again before the adapter is reset: one may meet a moment's trouble.
    public static let restoresBeforeReset = 3
    /// Resets before another adapter is taken.
    public static let resetsBeforeMove = 2
    /// Resets longer ago than this are another trouble's.
    public static let resetForgotten: Duration = .seconds(600)
    /// Pause before a step is tried again: half a second, then twice as long each time, up to a minute. A box in a car waits
    /// for somebody for months.
    public static func mendingPause(_ tries: Int) -> Duration {
        min(.milliseconds(500) * (1 << max(0, min(tries - 1, 7))), .seconds(60))
    }
    /// Switching an adapter off or on takes the kernel milliseconds, and up to ten seconds where the controller does not
    /// answer.
    public static let powerCall: Duration = .seconds(30)
    /// How often an advertisement that nothing seems to be wrong with is registered anew: nobody says so when a controller
    /// has dropped it. It costs a few commands, and the air some milliseconds.
    public static let advertisingRenewal: Duration = .seconds(10)
    /// A registration that bluetoothd fails for no reason that it tells is tried this often, at such a pause.
    public static let registerTries = 3
    /// The pause.
    public static let registerPause: Duration = .milliseconds(200)
    /// A scan that has heard somebody begins anew after this long without a word from anybody: twice the time after which
    /// bluetoothd restarts it and everybody who is there is reported again.
    public static let quietScan: Duration = .seconds(20)
    /// bluetoothd's own pause between two scans is shorter than this.
    public static let scanBreath: Duration = .seconds(2)

    // MARK: Tuning links

    /// Payload of a link-layer packet that is asked for, in bytes: the longest there is (Vol 6, Part B, 4.5.10).
    public static let linkPacketBytes = 251
    /// The time that such a packet takes on 1M, in microseconds.
    public static let linkPacketMicroseconds = 2_120
    /// Connection interval while data flows or a guest comes back, in units of 1.25 ms: 11.25 to 15 ms, so that a full bus
    /// still has its turns.
    public static let briskInterval: ClosedRange<Int> = 9...12
    /// Connection interval while nothing is said, in units of 1.25 ms: 30 to 50 ms, the kernel's own, so that the first
    /// vote after a silence is as fast as without tuning.
    public static let calmInterval: ClosedRange<Int> = 24...40
    /// Silence of a link after which it is calm: between two taps of one person.
    public static let briskTime: Duration = .seconds(5)
    /// That a link is used is told at most this often: a few times within the time that it stays brisk.
    public static let useNews: Duration = .seconds(1)
    /// An SDU to the host of more bytes than this is somebody's data: a vote has 26, an acknowledgement 22, a ping 19.
    public static let idleBytesToHost = 24
    /// The same from the host: the change that a vote makes has 45, a heartbeat 33.
    public static let idleBytesFromHost = 40
    /// Silence after which a tuned link is given up, in units of 10 ms: 720 ms. With the kernel's 420 ms some 3 % of the
    /// connections on real air were dropped in one report, with 720 ms none.
    public static let tunedSupervision = 72
    /// Pause before the first wish: a guest that comes back is through with its handshake by then, which no wish could make
    /// faster, and some would hold up.
    public static let tuningDelay: Duration = .milliseconds(500)
    /// Time that the side that has dialled has for its wishes before the other begins with its own.
    public static let tuningPatience: Duration = .seconds(2)
    /// A change of a link is made some events later, the six of 50 ms and a few more. Without a word by then it is taken
    /// for lost.
    public static let tuningAnswer: Duration = .seconds(2)
}
