// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A link of two radios and its channel. End 0 has dialled and is the central.
struct RadioLink {
    /// An SDU in transit.
    struct Packet {
        var sdu: [UInt8]
        /// Bytes sent so far, with the headers of L2CAP.
        var sent = 0
    }

    struct End {
        let node: Int
        /// The node's number of the link. 0 before the channel is open at this end.
        var id: MeshCore.LinkID = 0
        var isClosed = false
        /// The simulation is about to ask it for data.
        var willPull = false
        /// Whether at the last request the node had more data than there was room.
        var hasMore = false
        /// The data in this end's controller, and data that was sent and will be read at the other end.
        var queue: [Packet] = []
        var underway: [[UInt8]] = []
        /// Data that have arrived here and are not read yet.
        var unread: [[UInt8]] = []
        /// Bytes of the SDUs that it has sent.
        var bytes = 0
        var sdus = 0

        mutating func queue(_ sdu: [UInt8]) {
            queue.append(Packet(sdu: sdu))
            bytes += sdu.count
            sdus += 1
        }

        /// Bytes of its next packet, with headers. 0 without one.
        var nextPacket: Int { queue.isEmpty ? 0 : FieldAir.packet(queue[0]) }
    }

    /// The dial that has opened the link.
    let dial: Int
    /// The nodes of both ends. Most code that reads a link needs these properties.
    let central: Int
    let peripheral: Int
    var ends: [End]
    /// Signal strength between its ends, in dBm. Nil if they are out of range.
    var signal: Int?
    /// Microseconds between two connection events, and the time of one connection event.
    var interval = Self.untuned
    var anchor: Int
    /// The last intervals that the link's central was advised to use.
    var advised: LinkIntervals?
    /// A connection event with data is scheduled.
    var willMeet = false
    /// The two can no longer hear each other.
    var isFading = false
    /// Both sides have closed it.
    var isOver = false
    /// A change of the interval is scheduled.
    var willRetune = true
    /// Data were sent: the link has the short interval until this time.
    var isBriskUntil: Int

    /// A link that a dial creates, with the kernel's 50 ms.
    init(_ central: Int, _ peripheral: Int, dial: Int, signal: Int, now: Int) {
        (self.dial, self.central, self.peripheral, self.signal) = (dial, central, peripheral, signal)
        ends = [End(node: central), End(node: peripheral)]
        anchor = now + FieldAir.firstEvent
        isBriskUntil = now + FieldAir.briskTime
    }

    /// Whether both ends have a channel, and can hear each other.
    var isUp: Bool { !isFading && ends.allSatisfy { $0.id != 0 && !$0.isClosed } }

    /// The interval of new links in kernels, in microseconds.
    static let untuned = 40 * FieldAir.unit

    /// The first connection event at or after this time.
    func event(from time: Int) -> Int {
        guard time > anchor else { return anchor }
        return anchor + (time - anchor + interval - 1) / interval * interval
    }

    /// The last connection event before this time, or the first of all.
    func event(before time: Int) -> Int {
        guard time > anchor else { return anchor }
        return anchor + (time - anchor - 1) / interval * interval
    }

    /// Silence after which the link is lost. Longer once it is tuned.
    var supervision: Int { interval == Self.untuned ? FieldAir.supervision : FieldAir.tunedSupervision }

    /// Whether an SDU of this end is a person's data. Pings and acknowledgements are shorter.
    static func isData(_ bytes: Int, from end: Int) -> Bool { bytes > (end == 0 ? 24 : 40) }
}

/// The parameters of the air, in microseconds: those of the lab (`docs/radio-lab.md`) and of `RadioLimits`.
enum FieldAir {
    /// Unit of connection intervals.
    static let unit = 1_250
    /// Time from a dial's last packet to the first connection event.
    static let firstEvent = 3_750
    /// Connection events from the first one until both ends have a channel.
    static let eventsToChannel = 4
    /// Connection events between the announcement and the change of an interval.
    static let eventsToChange = 6
    /// A link is tuned this long after its channel has opened.
    static let tuningDelay = 500_000
    /// A peripheral's advice arrives about a second later.
    static let adviceDelay = 1_000_000
    /// Time of the short interval after data were sent.
    static let briskTime = 5_000_000
    static let supervision = 420_000
    static let tunedSupervision = 720_000
    /// Length of a connection event without data, including the time that a radio needs to start and stop.
    static let idleEvent = 800
    static let overhead = 340
    /// Maximum number of packets of a link in a controller.
    static let buffers = 8
    /// Maximum number of SDUs that arrive at a node that does not read: the channel's credits.
    static let credits = 4

    /// Advertising intervals: while a guest may be looking for the node, and later. `eagerTime` is the length of the
    /// first phase after each change of links.
    static let (fastAdvertising, slowAdvertising) = (20_000, 175_000)
    static let eagerTime = 60_000_000
    /// Largest random delay that is added to each advertising interval.
    static let advertisingDelay = 10_000
    /// An advertisement on one channel, including occasional scan requests and responses.
    static let advertisement = 376
    /// Share of advertisements that remain for each link of the radio: in `docs/radio-lab.md` a radio with eight links
    /// skips 60 %.
    static let advertisedBesideLink = 0.89
    /// If two advertisements collide, the stronger one is received if it is this many dB stronger.
    static let capture = 8
    /// Time between two reports of a host that keeps advertising, and silence after which it counts as lost.
    static let reportInterval = 1_000_000
    static let forgottenAfter = 30_000_000
    /// Longest wait for a dialled host.
    static let dialAttempt = 20_000_000
    /// Time between two checks whether a dialled host is in range.
    static let dialPoll = 100_000

    /// Time to exchange packets of these sizes, on 1M before the link is tuned, or on 2M.
    static func exchange(_ down: Int, _ up: Int, isTuned: Bool) -> Int {
        isTuned ? (down + 11) * 4 + (up + 11) * 4 + 300 : (down + 10) * 8 + (up + 10) * 8 + 300
    }

    /// Bytes of the next packet of an SDU with L2CAP's headers: four, and two more in the first packet.
    static func packet(_ packet: RadioLink.Packet) -> Int {
        min(251, packet.sdu.count - packet.sent + (packet.sent == 0 ? 6 : 4))
    }

    /// Packets of an SDU.
    static func packets(_ bytes: Int) -> Int { bytes <= 245 ? 1 : 1 + (bytes - 245 + 246) / 247 }
}
