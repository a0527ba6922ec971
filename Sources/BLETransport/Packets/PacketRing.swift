// SPDX-License-Identifier: Apache-2.0

import DequeModule

/// The last packets of some adapters, bounded in time, number and bytes. It reads no clock: each packet has its time.
struct PacketRing {
    private var packets: Deque<MonitorPacket> = []
    private var bytes = 0
    /// The adapters and links at the time of the oldest packet, from the packets that have left the ring.
    private var former = LinkStates()

    /// Number of packets in the ring.
    var count: Int { packets.count }

    /// Adds the newest packet. The oldest leave the ring.
    mutating func add(_ packet: MonitorPacket) {
        packets.append(packet)
        bytes += packet.bytes.count
        while let first = packets.first, isFull || packet.at - first.at > RadioLimits.packetSpan {
            packets.removeFirst()
            bytes -= first.bytes.count
            former.apply(first)
        }
    }

    private var isFull: Bool { packets.count > RadioLimits.packets || bytes > RadioLimits.packetBytes }

    /// The packets of a time. Before them come the older packets that explain them: the adapter, and each link's
    /// connection with its last parameters. Empty without a packet in that time.
    func packets(from: ContinuousClock.Instant, to: ContinuousClock.Instant) -> [MonitorPacket] {
        var before = former
        var found: [MonitorPacket] = []
        for packet in packets {
            if packet.at < from { before.apply(packet) } else if packet.at <= to { found.append(packet) }
        }
        return found.isEmpty ? [] : before.packets + found
    }
}

/// The adapters and links that exist at a moment, as the packets that explain them.
struct LinkStates {
    private struct Link: Hashable {
        var adapter: UInt16
        var handle: UInt16
    }

    private var adapters: [UInt16: [MonitorPacket.Kind: MonitorPacket]] = [:]
    /// By the link and the subevent that reported a part of its state.
    private var links: [Link: [UInt8: MonitorPacket]] = [:]

    /// The packets that explain the state, in the order of their times.
    var packets: [MonitorPacket] {
        let all = adapters.values.flatMap(\.values) + links.values.flatMap(\.values)
        return all.sorted { ($0.at, $0.microseconds) < ($1.at, $1.microseconds) }
    }

    mutating func apply(_ packet: MonitorPacket) {
        switch packet.kind {
        case .newIndex, .openIndex, .indexInfo:
            adapters[packet.adapter, default: [:]][packet.kind] = packet
        case .closeIndex: links = links.filter { $0.key.adapter != packet.adapter }
        case .deleteIndex:
            links = links.filter { $0.key.adapter != packet.adapter }
            adapters[packet.adapter] = nil
        case .event: applyEvent(packet)
        case .command, .sentData, .receivedData: break
        }
    }

    private mutating func applyEvent(_ packet: MonitorPacket) {
        let bytes = packet.bytes
        guard packet.isWhole, bytes.count >= 6 else { return }
        if bytes[0] == HCIEvent.disconnected {
            if bytes[2] == 0 { links[link(packet, at: 3)] = nil }
            return
        }
        guard bytes[0] == HCIEvent.lowEnergy else { return }
        switch bytes[2] {
        case HCIEvent.LE.connected, HCIEvent.LE.connectedEnhanced, HCIEvent.LE.connectedEnhanced2:
            guard bytes[3] == 0 else { return }
            let link = link(packet, at: 4)
            // A controller has a limited number of links. More handles than that are not its own.
            guard links[link] != nil || links.count < RadioLimits.packetLinks else { return }
            links[link] = [bytes[2]: packet]
        case HCIEvent.LE.updated, HCIEvent.LE.phy:
            guard bytes[3] == 0 else { return }
            links[link(packet, at: 4)]?[bytes[2]] = packet
        default: break
        }
    }

    private func link(_ packet: MonitorPacket, at position: Int) -> Link {
        Link(adapter: packet.adapter, handle: packet.word(at: position) & 0x0FFF)
    }
}
