// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Every limit of radios, each with its reason: advertising, scanning, dialling, pairing, the adapter's health, link
/// tuning. Those of the wire are `Limits`.
public enum RadioLimits {
    // MARK: Advertising

    /// Advertising interval while a guest is looked for, the shortest there is: a dial that is pending hears one
    /// advertisement and is answered at the next, so a guest has its link back after about 40 ms.
    public static let fastAdvertisingMilliseconds: ClosedRange<Int> = 20...20
    /// Advertising interval if no guest is expected: a guest still finds the host within half a second, for an eighth
    /// of the airtime.
    public static let slowAdvertisingMilliseconds: ClosedRange<Int> = 150...200
    /// How long a host goes on looking eagerly after a start, a join or a lost link.
    public static let eagerAdvertising: Duration = .seconds(60)
    /// How often an advertisement that nothing seems to be wrong with is registered again: nothing tells when a
    /// controller has dropped it. It costs a few commands, and the air some milliseconds.
    public static let advertisingRenewal: Duration = .seconds(10)
    /// A registration that bluetoothd fails for no reason that it tells is tried this often, at such a pause.
    public static let registerTries = 3
    /// How long a registration is waited for when its adapter has gone off. No less: bluetoothd 5.66 crashes where an advertisement
    /// is taken back just before its registration is answered (once in 150 times in the lab).
    public static let registerGrace: Duration = .milliseconds(500)
    /// The pause.
    public static let registerPause: Duration = .milliseconds(200)
    /// How long the kernel advertises for a program without being asked again: two renewals may come late. A program that
    /// crashes is off the air after this.
    public static let kernelAdvertising: Duration = .seconds(30)
    /// Pause before a refused advertisement is tried again: the kernel stays the same until the device restarts, and a
    /// restarted bluetoothd is asked at once.
    public static let refusedRenewal: Duration = .seconds(60)

    // MARK: Scanning

    /// Hosts and guests in range that are remembered.
    public static let scanResults = 256
    /// A scan without a result restarts after this long. A host nearby is heard within about 30 ms. The pause doubles
    /// each time, since most likely no host is there.
    public static let firstRescan: Duration = .milliseconds(400)
    /// The longest pause between two such scans: half of what bluetoothd leaves.
    public static let slowestRescan: Duration = .seconds(5)
    /// A scan with results restarts if it hears no more for this long: twice the time after which bluetoothd restarts
    /// it and reports all hosts again.
    public static let quietScan: Duration = .seconds(20)
    /// bluetoothd's own pause between two scans is shorter than this.
    public static let scanBreath: Duration = .seconds(2)
    /// How often a host that goes on advertising is reported again.
    public static let scanResultRepeat: Duration = .seconds(1)
    /// A host that the virtual radio has not heard for this long has gone: 25 slow advertisements in a row were lost.
    /// (bluetoothd keeps its own time for BlueZ, 30 s, and no shorter one would be sure: a controller that filters
    /// duplicates reports a host every ten seconds. A host that says goodbye to a guest is off its list at once.)
    public static let virtualScanResultLifetime: Duration = .seconds(5)

    // MARK: Dialling

    /// A dial of the real radio that is pending for this long is made again: a controller may have forgotten it
    /// (`docs/bluez.md`). The guest's place in the air is lost for some milliseconds.
    public static let dialRenewal: Duration = .seconds(10)
    /// A dial over an existing link is answered within some connection events of at most 60 ms. If it takes this long,
    /// the kernel has given the answer to another channel (`docs/bluez.md`), and a second dial starts.
    public static let linkedDialRenewal: Duration = .seconds(1)
    /// Dials over one link at the same time. Each has another identifier. bluetoothd has two channels on a link whose
    /// identifiers can collide.
    public static let linkedDials = 4
    /// And given up after this long, as the kernel gives up its own.
    public static let dialLimit: Duration = .seconds(40)
    /// Dials that fail for a passing reason are repeated this often: one in a hundred fails on real air, so three in a
    /// row are a reason of another kind.
    public static let dialRepeats = 4
    /// Pause before such a repetition, two fast advertisements, and before a renewed dial. The kernel releases a closed
    /// dial a little later; a dial that follows at once takes it over, and the controller does not start again.
    public static let dialPause: Duration = .milliseconds(50)
    /// A dial that fails sooner than this was refused by the other side: the kernel takes 40 s to give up an unanswered
    /// one.
    public static let dialAnswered: Duration = .seconds(35)
    /// Only bluetoothd holds a link that has no channel and is still up after this long, so the node ends it. The
    /// kernel ends it after 2 s (outgoing) or 4 s (incoming); a peer that comes back sooner can still use it.
    public static let unusedLink: Duration = .seconds(5)
    /// A link on which no channel was ever opened ends after this long. A guest opens its channel within a second or
    /// two, and a person who pairs a telephone with the car has typed six digits by then.
    public static let emptyLink: Duration = .seconds(30)
    /// Such links in all; where there are more, the oldest go. The smallest controllers take eight links.
    public static let emptyLinks = 3
    /// How long such a link is kept even if there are too many. Guests that link at once open their channels one after
    /// the other, which takes seconds on a busy device, and bluetoothd takes two more seconds to end a link.
    public static let firstChannel: Duration = .seconds(5)
    /// Callers that the virtual radio accepts in a second: four times as many as a node answers, and more than a controller
    /// brings about. A program can dial 13,000 times a second, and each caller takes the node a fraction of a millisecond.
    public static let virtualCallersPerSecond = 80
    /// Those of them that may come at once: all guests of a host, twice.
    public static let virtualCallerBurst = 2 * Limits.guests
    /// How often it is looked whether the next one may come: between two of them.
    public static let callerPause: Duration = .milliseconds(10)
    /// Pause after a caller that could not be accepted, so that a lack of descriptors does not become a busy loop.
    public static let acceptPause: Duration = .milliseconds(100)

    // MARK: Two bearers

    /// How long the air waits for the network, where a peer is heard on both: a host in the same network answers within some
    /// milliseconds, and a dial on the air disturbs those who are linked.
    public static let networkFirst: Duration = .milliseconds(250)
    /// The same of a network and the air before a broker is called, where the peer was ever heard on them: the air mostly links within
    /// some 300 ms, and what goes over a broker costs money.
    public static let brokerLast: Duration = .seconds(1)
    /// While a peer is linked through a broker alone it is looked for on the air so often, and for so long: it may have come near, and
    /// scanning takes the air from those who are linked.
    public static let nearPause: Duration = .seconds(60)
    /// How long each of these scans is: a host that expects no guest advertises every 1.28 s at most.
    public static let nearScan: Duration = .seconds(3)
    /// Pause between two attempts to switch to the network, and after a link there was lost. A node that changes links
    /// more often is taken for two nodes with one identity (`Limits.replacements`: five in ten seconds).
    public static let betterPause: Duration = .seconds(5)
    /// How long a dial for what would be better may take while a link is up.
    public static let betterDial: Duration = .seconds(3)

    // MARK: Queues

    /// Events of a radio that wait for the transport, which reads them at once; the oldest go first.
    public static let radioEvents = 256
    /// What bluetoothd says that waits for the radio, which reads it at once.
    public static let busEvents = 1_024
    /// Buffer of a channel's socket, each way: a latency queue, so votes do not wait long behind what is in it.
    public static let channelBufferBytes = 16_384

    // MARK: GATT

    /// Guests that are linked in chunks at a time: each takes two characteristics of the service, which a phone reads when it links.
    /// Who can open L2CAP channels takes none of them.
    public static let gattGuests = 4
    /// Time that who has asked for a place has until it subscribes, and again until its first value: three round trips of a slow link,
    /// and what a phone's system does in between.
    public static let gattPlace: Duration = .seconds(10)
    /// The longest value of a characteristic, in bytes (Core specification, Vol 3, Part F, 3.2.9).
    public static let gattValueBytes = 512
    /// Buffer between bluetoothd and a GATT link, each way, in bytes: 50 of the largest values, including the kernel's
    /// overhead.
    public static let gattBufferBytes = 32_768
    /// Pause before an acknowledgement of chunks is tried again that found no room: some events of a link, in which room is made.
    static let acknowledgementPause: Duration = .milliseconds(50)

    // MARK: bluetoothd and the controller

    /// A call to bluetoothd that is not answered by then has failed. It answers in milliseconds, under load in some
    /// hundreds; once in the lab, while links came and went, five seconds were too few.
    public static let busCall: Duration = .seconds(15)
    /// A controller answers a command in milliseconds; one that takes longer has stopped.
    public static let controllerAnswer: Duration = .seconds(1)
    /// Time that a controller has for an answer before a dial begins: with one that answers, the dial is not disturbed by the question.
    public static let promptAnswer: Duration = .milliseconds(10)

    // MARK: Pairing

    /// How long a device looks for another one to bond with: the person who has typed the command here still has to
    /// type it there.
    public static let pairingSearch: Duration = .seconds(120)
    /// How long a device that has heard another one goes on listening, so that a third is noticed: ten fast
    /// advertisements of each, and a scan that restarted.
    public static let pairingGather: Duration = .seconds(1)
    /// bluetoothd ends a link two seconds after it is asked to. A pairing that waits longer than this dials over the old link.
    public static let linkEnd: Duration = .seconds(5)
    /// The device that should be dialled dials after this long: the other one may not hear it.
    public static let pairingPatience: Duration = .seconds(5)
    /// How long a person has to compare six digits and answer. Bluetooth gives up after 30 s (Core specification, Vol
    /// 3, Part H, 3.4) and ends the link. Two seconds sooner, both sides can still show why.
    public static let pairingAnswer: Duration = .seconds(28)
    /// From one packet of a pairing to the next, where no person is waited for. Keys are made in a second or two on a
    /// slow device; what takes longer hangs.
    public static let pairingStep: Duration = .seconds(10)
    /// How long the reason may follow a failure: the two take different paths.
    public static let pairingLastWord: Duration = .seconds(1)
    /// Failed attempts of a pairing (a lost link, a bond that one side had forgotten) before a person has to look.
    public static let pairingMeetings = 5
    /// A whole pairing as bluetoothd sees it: two people's answers and what is around them.
    public static let pairingCall: Duration = .seconds(60)
    /// What happens during a pairing that waits to be decided on; there are some ten events in one.
    public static let pairingEvents = 256
    /// Devices of bluetoothd's that a pairing keeps track of.
    public static let pairingDevices = 256

    // MARK: Checking a device

    /// Time for one part of a check: without an answer by then it is reported as silent, so that the person does not
    /// wait longer.
    public static let checkup: Duration = .seconds(5)
    /// A program that is asked for its version answers in milliseconds, from a slow card in some hundreds.
    public static let programAnswer: Duration = .seconds(3)
    /// How long one adapter listens for another next to it. In the radio lab it hears it within 100 ms, and one in
    /// fifteen scans has to restart.
    public static let reception: Duration = .seconds(8)
    /// Advertising intervals of it that are measured. The shortest counts: restarting a scan takes 60 to 330 ms on a busy
    /// machine with BlueZ 5.82, and a scan that starts can miss an advertisement. Both make a measured interval longer.
    public static let measuredIntervals = 5
    /// The time for that: four of 1.28 s, the kernel's own.
    public static let measuring: Duration = .seconds(6)

    /// How long before a dial the host has to have been heard, for the dial's time to say how often it is on the air: a guest
    /// dials what it hears within some ten milliseconds, and stopping discovery may take bluetoothd a hundred.
    public static let freshHearing: Duration = .milliseconds(500)

    // MARK: The adapter's health

    /// How often a controller is asked for an answer: one command, and a stopped one is noticed within a quarter of a
    /// minute.
    public static let controllerCheck: Duration = .seconds(5)
    /// A controller that takes longer than this for an answer is silent. The kernel itself holds the next command back
    /// for two seconds where one is not answered.
    public static let controllerSilence: Duration = .seconds(3)
    /// Silences in a row that make a controller one that has stopped: a reset costs all links, so a device that was
    /// merely too busy must not cause one.
    public static let controllerSilences = 3
    /// An adapter that comes back within this time was not pulled out on purpose: a bad contact, a restarted bluetoothd.
    public static let adapterGrace: Duration = .seconds(3)
    /// How often a node looks for an adapter that was missing at its start, and tries a bearer again that could not be opened:
    /// a person who plugs a dongle in waits no longer. A look is a few calls of the system.
    public static let adapterLook: Duration = .seconds(2)
    /// How often the switches are looked at while one keeps the adapter off.
    public static let switchLook: Duration = .milliseconds(500)
    /// Time that bluetoothd has to switch an adapter on that rfkill blocks no longer. It takes some milliseconds.
    public static let unblockedGrace: Duration = .seconds(1)
    /// Tries to register again before the adapter is reset: one may hit a temporary problem.
    public static let restoresBeforeReset = 3
    /// Resets before another adapter is taken.
    public static let resetsBeforeMove = 2
    /// Resets longer ago than this are another trouble's.
    public static let resetForgotten: Duration = .seconds(600)
    /// Pause before a step is tried again: half a second, then twice as long each time, up to a minute. A head unit in
    /// a car may wait for months.
    public static func repairPause(_ tries: Int) -> Duration {
        min(.milliseconds(500) * (1 << max(0, min(tries - 1, 7))), .seconds(60))
    }
    /// Switching an adapter off or on takes the kernel milliseconds, and up to ten seconds where the controller does not
    /// answer.
    public static let powerCall: Duration = .seconds(30)

    // MARK: The adapter's settings

    /// Connection interval of links that are dialled, in units of 1.25 ms: 7.5 ms, the shortest there is. A handshake takes four
    /// connection events, so a guest is back with the state 30 ms after its link.
    public static let dialledInterval: ClosedRange<Int> = 6...6

    /// Devices that were dialled, and that get back the parameters of a former dial when the adapter gets back its settings. A guest
    /// dials one or two hosts.
    public static let dialledPeers = 16

    // MARK: Tuning links

    /// Payload of a link-layer packet that is asked for, in bytes: the longest there is (Vol 6, Part B, 4.5.10).
    public static let linkPacketBytes = 251
    /// The time that such a packet takes on 1M, in microseconds.
    public static let linkPacketMicroseconds = 2_120
    /// The intervals of the only link, in units of 1.25 ms: 8.75 ms while data flows, 36.25 ms while idle. Shorter than
    /// the kernel's longest, so that the first vote after a silence is as fast as without tuning.
    public static let aloneIntervals = LinkIntervals(brisk: 7, calm: 29)
    /// Those of up to eight links, by place: 11.25 to 31.25 ms while data flows, 30 to 51.25 ms while nothing is said. No two have
    /// much of a divisor in common, which keeps them out of each other's way; none is 40, with which the kernel makes links.
    /// Only the last is longer than that: a kernel refuses longer ones than it has dialled with.
    static let fewIntervals = [(9, 29), (11, 31), (13, 37), (16, 35), (17, 28), (19, 24), (23, 30), (25, 41)]
        .map { LinkIntervals(brisk: $0, calm: $1) }
    /// Those of more links, by place, 23.75 to 58.75 ms: of 16 links at once each still has its turns, and 58.75 ms are twelve events
    /// within `tunedSupervision`.
    static let manyIntervals = [19, 21, 23, 25, 26, 29, 31, 32, 37, 41, 43, 47, 27, 34, 35, 33]
        .map { LinkIntervals(brisk: $0, calm: $0) }
    /// Longest interval, in units of 1.25 ms, that counts as a short one that a person has configured: 15 ms.
    public static let configuredInterval = 12
    /// Silence of a link after which it is calm: between two taps of one person.
    public static let briskTime: Duration = .seconds(5)
    /// The use of a link is reported at most this often: a few times while it stays brisk.
    public static let useReportInterval: Duration = .seconds(1)
    /// An SDU to the host of more bytes than this is a person's data: a vote has 26, an acknowledgement 22, a ping 19.
    public static let idleBytesToHost = 24
    /// The same from the host: the change that a vote makes has 45, a heartbeat 33.
    public static let idleBytesFromHost = 40
    /// Supervision timeout of a tuned link, in units of 10 ms: 720 ms. With the kernel's 420 ms about 3 % of the
    /// connections on real air were dropped in one report, with 720 ms none.
    public static let tunedSupervision = 72
    /// Pause before the first wish: a guest that comes back is through with its handshake by then, which no wish could
    /// make faster, and some would hold up.
    public static let tuningDelay: Duration = .milliseconds(500)
    /// Time that the other side has to advise intervals, from the opening of the channel: it does with its first measurement, a second
    /// after the handshake at the latest.
    public static let advicePatience: Duration = .milliseconds(1_250)
    /// Time that the side that has dialled has for its wishes before the other begins with its own.
    public static let tuningPatience: Duration = .seconds(2)
    /// Time for a change of a link: it is made some events later, six of 50 ms and a few more. After that it counts as
    /// lost.
    public static let tuningAnswer: Duration = .seconds(2)
}
