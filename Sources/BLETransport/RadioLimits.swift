// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// All limits of radios, each with its reason: advertising, scanning, dialling, pairing, the adapter's health, link
/// tuning. The limits of the wire are in `Limits`.
public enum RadioLimits {
    // MARK: Advertising

    /// Time between renewals of a registered advertisement. Renewals are needed because no event reports that a
    /// controller has dropped the advertisement. A renewal costs a few commands, and some milliseconds of airtime.
    public static let advertisingRenewal: Duration = .seconds(10)
    /// Attempts at a registration that fails without a reason. `registerPause` is the time between them.
    public static let registerTries = 3
    /// Time to wait for a registration after its adapter has gone off. A shorter time is dangerous: bluetoothd 5.66
    /// crashes if an advertisement is removed just before its registration is answered (once in 150 times in the lab).
    public static let registerGrace: Duration = .milliseconds(500)
    /// Pause between two attempts to register an advertisement.
    public static let registerPause: Duration = .milliseconds(200)
    /// Time that the kernel advertises for a program without a new request, so that two renewals may be late. The
    /// advertisement of a crashed program ends after this time.
    public static let kernelAdvertising: Duration = .seconds(30)
    /// Pause before a refused advertisement is tried again. The kernel stays the same until the device restarts, and
    /// after a restart of bluetoothd the node tries again at once.
    public static let refusedRenewal: Duration = .seconds(60)

    // MARK: Scanning

    /// A scan without a result restarts after this time. A host nearby is heard within about 30 ms. The time doubles
    /// with each restart, because most likely no host is in range.
    public static let firstRescan: Duration = .milliseconds(400)
    /// The longest pause between two scans without a result: half of the pause that bluetoothd makes.
    public static let slowestRescan: Duration = .seconds(5)
    /// A scan with results restarts if it hears nothing for this time: twice the time after which bluetoothd itself
    /// restarts the scan and reports all hosts again.
    public static let quietScan: Duration = .seconds(20)
    /// If bluetoothd reports the end of discovery, and it does not continue within this time, the node restarts the
    /// scan. bluetoothd's own pause between two scans is shorter.
    public static let scanBreath: Duration = .seconds(2)

    // MARK: Dialling

    /// A dial over Bluetooth that is pending for this time is repeated, because a controller may have lost it
    /// (`docs/bluez.md`). The repetition interrupts the dial for some milliseconds.
    public static let dialRenewal: Duration = .seconds(10)
    /// A dial over an existing link is answered within some connection events of at most 60 ms. If it takes this long,
    /// the kernel has given the answer to another channel (`docs/bluez.md`), and a second dial starts.
    public static let linkedDialRenewal: Duration = .seconds(1)
    /// Maximum number of dials over one link at the same time. Each dial has another identifier. bluetoothd has two
    /// channels on a link, and their identifiers can collide with those of dials.
    public static let linkedDials = 4
    /// Attempts at a dial that fails for a temporary reason. One dial in a hundred fails on real air, so three failures
    /// in a row have another reason.
    public static let dialRepeats = 4
    /// Pause before a failed dial is tried again (two fast advertisements), and before a renewed dial. The kernel
    /// releases a closed dial a little later. A dial that follows at once continues the old one, and the controller
    /// does not start again.
    public static let dialPause: Duration = .milliseconds(50)
    /// If a dial fails sooner than this, the peer has refused it. The kernel takes 40 s to end an unanswered dial.
    public static let dialAnswered: Duration = .seconds(35)
    /// If a link without a channel is still up after this time, only bluetoothd keeps it, and the node ends it. The
    /// kernel ends it after 2 s (outgoing) or 4 s (incoming). A peer that returns sooner can still use the link.
    public static let unusedLink: Duration = .seconds(5)
    /// A link without any channel so far ends after this time. A guest opens its channel within a second or two, and a
    /// person who pairs a phone with the car has typed six digits by then.
    public static let emptyLink: Duration = .seconds(30)
    /// Maximum number of links without any channel so far. Of more, the oldest are ended. The smallest controllers
    /// support eight links.
    public static let emptyLinks = 3
    /// Time that a link without a channel is kept even if there are too many. Guests that link at the same time open
    /// their channels one after another, which takes seconds on a busy device. bluetoothd needs two more seconds to end
    /// a link.
    public static let firstChannel: Duration = .seconds(5)

    // MARK: Queues

    /// Maximum number of events of bluetoothd that wait for the radio, which reads them at once.
    public static let busEvents = 1_024

    // MARK: GATT

    /// Maximum number of guests at a time that are linked in chunks. Each slot has two characteristics of the service,
    /// which a phone reads when it links. A guest that can open L2CAP channels needs no slot.
    public static let gattGuests = 4
    /// Time for a guest with a reserved slot until it subscribes, and again until its first value: three round trips of
    /// a slow link, and the work of a phone's system in between.
    public static let gattPlace: Duration = .seconds(10)
    /// The longest value of a characteristic, in bytes (Core specification, Vol 3, Part F, 3.2.9).
    public static let gattValueBytes = 512
    /// Buffer between bluetoothd and a GATT link in each direction, in bytes: 50 of the largest values, including the
    /// kernel's overhead.
    public static let gattBufferBytes = 32_768

    // MARK: bluetoothd and the controller

    /// A call to bluetoothd without an answer fails after this time. bluetoothd answers within milliseconds, under load
    /// within some hundreds. Once in the lab, while links came and went, five seconds were not enough.
    public static let busCall: Duration = .seconds(15)
    /// A controller answers a command in milliseconds. A controller that takes longer than this has stopped.
    public static let controllerAnswer: Duration = .seconds(1)
    /// How long the node waits for a controller's answer before a dial. After the answer the command cannot disturb the
    /// dial.
    public static let promptAnswer: Duration = .milliseconds(10)

    // MARK: Pairing

    /// Time that a device looks for another one to bond with: the person who has typed the command on one device must
    /// still type it on the other.
    public static let pairingSearch: Duration = .seconds(120)
    /// Time that a device that has heard another one continues to scan, so that it notices a third device: ten fast
    /// advertisements of each, and a restart of the scan.
    public static let pairingGather: Duration = .seconds(1)
    /// bluetoothd ends a link two seconds after it is asked to. If the link is still up after this time, the pairing
    /// dials over it.
    public static let linkEnd: Duration = .seconds(5)
    /// If the device that should dial does not dial within this time, the other device dials, because its advertisement
    /// may not have been received.
    public static let pairingPatience: Duration = .seconds(5)
    /// Time for a person to compare six digits and answer. Bluetooth gives up after 30 s (Core specification, Vol 3,
    /// Part H, 3.4) and ends the link. Two seconds sooner, both sides can still show why.
    public static let pairingAnswer: Duration = .seconds(28)
    /// Maximum time from one packet of a pairing to the next, not counting the time for people's answers. A slow device
    /// creates keys in a second or two; a step that takes longer hangs.
    public static let pairingStep: Duration = .seconds(10)
    /// How long a failed pairing waits for the reason of the failure. The failure and its reason arrive over different
    /// paths.
    public static let pairingLastWord: Duration = .seconds(1)
    /// Failed attempts of a pairing (a lost link, a bond that one side had forgotten) before a person must check.
    public static let pairingMeetings = 5
    /// Time limit of a complete pairing call to bluetoothd: two people's answers and the steps around them.
    public static let pairingCall: Duration = .seconds(60)
    /// Maximum number of events of a pairing that wait for a decision. A pairing has about ten events.
    public static let pairingEvents = 256
    /// Maximum number of devices of bluetoothd that a pairing tracks.
    public static let pairingDevices = 256

    // MARK: Checking a device

    /// Time limit of one part of a check. After this time the part is reported as silent, so that the person does not
    /// wait longer.
    public static let checkup: Duration = .seconds(5)
    /// Time limit of a program that is asked for its version. The program answers within milliseconds, from a slow card
    /// within some hundreds.
    public static let programAnswer: Duration = .seconds(3)
    /// How long one adapter scans for another adapter of the same machine. In the radio lab it receives the
    /// advertisement within 100 ms, but one in fifteen scans must restart.
    public static let reception: Duration = .seconds(8)
    /// Number of advertising intervals to measure. The shortest one counts, because two effects make a measured
    /// interval longer. Restarting a scan takes 60 to 330 ms on a busy machine with BlueZ 5.82, and a starting scan can
    /// miss an advertisement.
    public static let measuredIntervals = 5
    /// Time for measuring the advertising intervals: four intervals of 1.28 s, the kernel's default.
    public static let measuring: Duration = .seconds(6)

    /// A dial's time shows the host's advertising interval only if the host was heard within this time before the dial.
    /// Usually a guest dials a host some ten milliseconds after it has received the advertisement, and bluetoothd may
    /// need a hundred milliseconds to stop discovery.
    public static let freshHearing: Duration = .milliseconds(500)

    // MARK: Packets of a recording

    /// Time of the packets in memory: the longest file of a recording, and a disk that takes ten seconds for its last
    /// write.
    public static let packetSpan: Duration = .seconds(40)
    /// Packets in memory. A busy adapter has some hundred a second, with all advertisements in a street.
    public static let packets = 32_768
    /// Bytes of the packets in memory: 128 for each, and most have fewer.
    public static let packetBytes = 4 << 20
    /// Links of which a file begins with the parameters: more than an adapter holds.
    public static let packetLinks = 64
    /// Addresses of peers that stay in files of packets: every guest of a long drive has some. The oldest are replaced.
    public static let packetPeers = 256

    // MARK: The adapter's health

    /// Time between two checks of a controller. A check is one command, and a stopped controller is detected within 15
    /// s.
    public static let controllerCheck: Duration = .seconds(5)
    /// A controller that takes longer than this for an answer is silent. If a command is not answered, the kernel
    /// itself delays the next one for two seconds.
    public static let controllerSilence: Duration = .seconds(3)
    /// Silences in a row after which a controller counts as stopped. A reset ends all links, so a controller that was
    /// only busy must not be reset.
    public static let controllerSilences = 3
    /// An adapter that comes back within this time was not unplugged on purpose. The cause is a bad contact, or a
    /// restart of bluetoothd.
    public static let adapterGrace: Duration = .seconds(3)
    /// How often rfkill's switches are checked while one of them keeps the adapter off.
    public static let switchLook: Duration = .milliseconds(500)
    /// Time for bluetoothd to switch on an adapter that rfkill no longer blocks. Usually this takes some milliseconds.
    public static let unblockedGrace: Duration = .seconds(1)
    /// Failed registrations before the adapter is reset. A single one may have a temporary cause.
    public static let restoresBeforeReset = 3
    /// Resets before the node switches to another adapter.
    public static let resetsBeforeMove = 2
    /// Resets that are longer ago than this do not count, because they had another cause.
    public static let resetForgotten: Duration = .seconds(600)
    /// Pause before a step is tried again: half a second, then twice as long each time, up to a minute. A head unit in
    /// a car may wait for months.
    public static func repairPause(_ tries: Int) -> Duration {
        min(.milliseconds(500) * (1 << max(0, min(tries - 1, 7))), .seconds(60))
    }
    /// Time limit of a call that switches an adapter off or on. The kernel takes milliseconds, and up to ten seconds if
    /// the controller does not answer.
    public static let powerCall: Duration = .seconds(30)

    // MARK: The adapter's settings

    /// Connection interval of dialled links, in units of 1.25 ms: 7.5 ms, the shortest possible. A handshake takes four
    /// connection events, so a guest has the state again 30 ms after its link.
    public static let dialledInterval: ClosedRange<Int> = 6...6

    /// Maximum number of dialled devices that get their former dial parameters back together with the adapter's
    /// settings. A guest dials one or two hosts.
    public static let dialledPeers = 16

    // MARK: Tuning links

    /// Requested payload of a link-layer packet, in bytes: the longest possible (Vol 6, Part B, 4.5.10).
    public static let linkPacketBytes = 251
    /// The time of a link-layer packet with `linkPacketBytes` on 1M, in microseconds.
    public static let linkPacketMicroseconds = 2_120
    /// Longest interval, in units of 1.25 ms, that counts as a short one that a person has configured: 15 ms.
    public static let configuredInterval = 12
    /// A link counts as idle after this time without data, which is longer than between two taps of one person.
    public static let briskTime: Duration = .seconds(5)
    /// The use of a link is reported at most this often, which is a few times during `briskTime`.
    public static let useReportInterval: Duration = .seconds(1)
    /// An SDU to the host with more bytes than this counts as a person's data: a vote has 26 bytes, an acknowledgement
    /// 22, a ping 19.
    public static let idleBytesToHost = 24
    /// An SDU from the host with more bytes than this counts as data that a person has caused: the change that a vote
    /// causes has 45 bytes, a heartbeat 33.
    public static let idleBytesFromHost = 40
    /// Supervision timeout of a tuned link, in units of 10 ms: 720 ms. With the kernel's 420 ms, about 3 % of the
    /// connections on real air were dropped in one report, with 720 ms none.
    public static let tunedSupervision = 72
    /// Pause before the first request to tune a link. A returning guest finishes its handshake within this time. No
    /// request could make the handshake faster, and some would delay it.
    public static let tuningDelay: Duration = .milliseconds(500)
    /// How long this side waits for the peer's advice on intervals after the channel opens. The peer sends its advice
    /// with its first measurement, at most a second after the handshake.
    public static let advicePatience: Duration = .milliseconds(1_250)
    /// How long the dialled side waits for requests of the dialling side before it makes its own.
    public static let tuningPatience: Duration = .seconds(2)
    /// A change of a link's parameters that has not happened within this time counts as failed. A change takes effect
    /// some connection events later: six events of 50 ms and a few more.
    public static let tuningAnswer: Duration = .seconds(2)
}
