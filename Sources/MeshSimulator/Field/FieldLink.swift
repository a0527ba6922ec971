// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A link of two radios and the channel on it. End 0 has dialled: it is the central.
struct FieldLink {
    /// An SDU on its way.
    struct Packet {
        var sdu: [UInt8]
        /// Bytes that were sent so far, with the headers of L2CAP.
        var sent = 0
    }

    struct End {
        let node: Int
        /// The node's number for it; 0 before the channel is open here.
        var id: MeshCore.LinkID = 0
        var isClosed = false
        /// It is going to be asked for what it has to send.
        var willPull = false
        /// It had more to send than there was room for when it was asked last.
        var hasMore = false
        /// What its controller holds, and what has been sent and is about to be read at the other end.
        var queue: [Packet] = []
        var underway: [[UInt8]] = []
        /// What has arrived here and is not read yet.
        var unread: [[UInt8]] = []
        /// Bytes of the SDUs that it has sent.
        var bytes = 0
        var sdus = 0

        /// Bytes of its next packet, with headers; 0 where it has none.
        var nextPacket: Int { queue.isEmpty ? 0 : FieldAir.packet(queue[0]) }
    }

    /// The dial that has led here.
    let dial: Int
    /// The nodes of both ends, which most of what looks at a link is about.
    let central: Int
    let peripheral: Int
    var ends: [End]
    /// How strong its ends hear one another, in dBm; nil where they do not.
    var signal: Int?
    /// Microseconds between two connection events, and when one of them was.
    var interval = Self.untuned
    var anchor: Int
    /// What its central was advised of last.
    var advised: LinkIntervals?
    /// Something is to be sent at a connection event that is in the agenda.
    var willMeet = false
    /// The two do not hear one another any more.
    var isFading = false
    /// Both sides have closed it.
    var isOver = false
    /// A change of the interval is in the agenda.
    var willRetune = true
    /// Somebody has said something: the link is to be fast up to this time.
    var isBriskUntil: Int

    /// The link that a dial makes: the kernel's 50 ms.
    init(_ central: Int, _ peripheral: Int, dial: Int, signal: Int, now: Int) {
        (self.dial, self.central, self.peripheral, self.signal) = (dial, central, peripheral, signal)
        ends = [End(node: central), End(node: peripheral)]
        anchor = now + FieldAir.firstEvent
        isBriskUntil = now + FieldAir.briskTime
    }

    /// The interval with which kernels make links, in microseconds.
    static let untuned = 40 * FieldAir.unit

    /// The first connection event that begins at this time or later.
    func event(from time: Int) -> Int {
        guard time > anchor else { return anchor }
        return anchor + (time - anchor + interval - 1) / interval * interval
    }

    /// The last one that has begun before this time, or the first of all.
    func event(before time: Int) -> Int {
        guard time > anchor else { return anchor }
        return anchor + (time - anchor - 1) / interval * interval
    }

    /// After how much silence it is given up: longer once it is tuned.
    var supervision: Int { interval == Self.untuned ? FieldAir.supervision : FieldAir.tunedSupervision }

    /// Whether an SDU that this end sends is somebody's data: pings and acknowledgements are shorter.
    static func isData(_ bytes: Int, from end: Int) -> Bool { bytes > (end == 0 ? 24 : 40) }
}

/// The numbers of the air, in microseconds: those of the lab (`docs/radio-lab.md`) and of `RadioLimits`.
enum FieldAir {
    /// Connection intervals are multiples of it.
    static let unit = 1_250
    /// From a dial's last packet to the first connection event.
    static let firstEvent = 3_750
    /// Connection events from there until both ends have a channel.
    static let eventsToChannel = 4
    /// Connection events that a change of the interval is announced before.
    static let eventsToChange = 6
    /// A link is tuned this long after its channel has opened.
    static let tuningDelay = 500_000
    /// What a peripheral advises is told about once a second.
    static let adviceDelay = 1_000_000
    /// For how long a link is fast after somebody has said something.
    static let briskTime = 5_000_000
    static let supervision = 420_000
    static let tunedSupervision = 720_000
    /// The time of a connection event in which nothing is said, with what a radio takes to start and stop.
    static let idleEvent = 800
    static let overhead = 340
    /// What a controller holds for a link, in packets.
    static let buffers = 8
    /// SDUs that arrive at a node that does not read: the channel's credits.
    static let credits = 4

    /// Advertising intervals: while somebody is looked for, and later; for how long that is after each change of the links.
    static let (fastAdvertising, slowAdvertising) = (20_000, 175_000)
    static let eagerTime = 60_000_000
    /// Largest random delay that is added to each advertising interval.
    static let advertisingDelay = 10_000
    /// An advertisement on one channel, with what a scan asks and is answered on it now and then.
    static let advertisement = 376
    /// Of so many advertisements in a hundred that a link leaves room for, with each link of the radio: `docs/radio-lab.md`
    /// has 60 % skipped with eight.
    static let advertisedBesideLink = 0.89
    /// Of two advertisements at one time the stronger one is heard where it is so much stronger, in dB.
    static let capture = 8
    /// How often a host that goes on advertising is reported again, and after how much silence it is taken for gone.
    static let reportInterval = 1_000_000
    static let forgottenAfter = 30_000_000
    /// Longest wait for a host that is dialled.
    static let dialAttempt = 20_000_000
    /// How often it is looked whether a host that is dialled is there meanwhile.
    static let dialPoll = 100_000

    /// How long it takes to exchange packets of so many bytes, on 1M as a link has it until it is tuned, or on 2M.
    static func exchange(_ down: Int, _ up: Int, isTuned: Bool) -> Int {
        isTuned ? (down + 11) * 4 + (up + 11) * 4 + 300 : (down + 10) * 8 + (up + 10) * 8 + 300
    }

    /// How many bytes of an SDU the next packet carries with L2CAP's headers: four, and two more before the first.
    static func packet(_ packet: FieldLink.Packet) -> Int {
        min(251, packet.sdu.count - packet.sent + (packet.sent == 0 ? 6 : 4))
    }

    /// Packets of an SDU.
    static func packets(_ bytes: Int) -> Int { bytes <= 245 ? 1 : 1 + (bytes - 245 + 246) / 247 }

    /// Packets in a hundred that are lost at a signal strength: `Road` has the model.
    static func loss(at signal: Int) -> Int {
        min(max(0, (Road.audible - signal) * Road.lossPerDecibel), Road.mostLost)
    }
}
