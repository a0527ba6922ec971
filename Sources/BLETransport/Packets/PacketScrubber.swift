// SPDX-License-Identifier: Apache-2.0

/// Removes from packets what belongs to others: the addresses of foreign devices and the contents of their
/// advertisements. Packets without a known layout keep their type and length, and the rest becomes zeros. So
/// keys, names and vendors' data are never written. One scrubber makes one file.
struct PacketScrubber {
    private var pseudonyms: Pseudonyms

    /// Keeps the addresses of these devices.
    init(known: Set<Pseudonyms.Address>) { pseudonyms = Pseudonyms(known: known) }

    /// The packet as it may be written.
    mutating func scrub(_ packet: MonitorPacket) -> MonitorPacket {
        switch packet.kind {
        // The addresses of this machine's own adapters.
        case .newIndex, .indexInfo, .deleteIndex, .openIndex, .closeIndex: return packet
        case .command: return command(packet) ?? packet.blank(after: HCICommand.header)
        case .event: return event(packet) ?? packet.blank(after: HCIEvent.header)
        case .sentData, .receivedData: return packet.cut(to: Self.keptData(packet))
        }
    }

    // MARK: Data

    /// ACL's header: handle with flags, length. L2CAP's, in a first fragment: length, channel.
    private static let aclHeader = 4
    private static let l2capHeader = 4
    /// The channel on which LE devices open and close channels. It has no contents of messages.
    private static let signalling: UInt16 = 0x0005

    private static func keptData(_ packet: MonitorPacket) -> Int {
        let count = packet.bytes.count
        guard count >= aclHeader + l2capHeader else { return aclHeader }
        let isFirst = packet.bytes[1] >> 4 & 0b11 != 0b01
        guard isFirst else { return aclHeader }
        return packet.word(at: aclHeader + 2) == signalling ? count : aclHeader + l2capHeader
    }

    // MARK: Commands

    /// A command, nil if its layout is not known.
    private mutating func command(_ packet: MonitorPacket) -> MonitorPacket? {
        let parameters = packet.bytes.count - HCICommand.header
        guard packet.isWhole, parameters >= 0, Int(packet.bytes[2]) == parameters else { return nil }
        let opcode = packet.word(at: 0)
        if HCICommand.withoutAddress.contains(opcode) { return packet }
        guard let layout = HCICommand.withAddress[opcode], layout.lengths.contains(parameters) else { return nil }
        let kind = HCICommand.header + layout.kind
        return naming(packet, at: [kind + 1], kind: kind)
    }

    // MARK: Events

    /// An event, nil if its layout is not known.
    private mutating func event(_ packet: MonitorPacket) -> MonitorPacket? {
        let bytes = packet.bytes
        guard packet.isWhole, bytes.count > HCIEvent.header, Int(bytes[1]) == bytes.count - HCIEvent.header else {
            return nil
        }
        switch bytes[0] {
        case HCIEvent.disconnected, HCIEvent.encryption, HCIEvent.version, HCIEvent.commandStatus,
            HCIEvent.hardwareError, HCIEvent.completedPackets, HCIEvent.bufferOverflow, HCIEvent.keyRefreshed,
            HCIEvent.payloadTimeout:
            return packet
        case HCIEvent.commandComplete: return answer(packet)
        case HCIEvent.lowEnergy: return lowEnergy(packet) ?? packet.blank(after: HCIEvent.header + 1)
        default: return nil
        }
    }

    /// A command's answer: number of commands allowed, opcode, status. The rest may be a key or an address.
    private func answer(_ packet: MonitorPacket) -> MonitorPacket? {
        let readSignal: UInt16 = 0x1405
        guard packet.bytes.count >= 6 else { return nil }
        return packet.word(at: 3) == readSignal ? packet : packet.blank(after: HCIEvent.header + 4)
    }

    /// An event of Low Energy, nil if its layout is not known.
    private mutating func lowEnergy(_ packet: MonitorPacket) -> MonitorPacket? {
        typealias LE = HCIEvent.LE
        switch packet.bytes[2] {
        case LE.updated, LE.features, LE.parametersAsked, LE.dataLength, LE.phy, LE.scanTimeout, LE.setTerminated,
            LE.channelSelection:
            return packet
        // Status, handle, role, kind and address of the peer; then the interval, the latency and the timeout, in newer
        // events after two more addresses: this adapter's and the peer's, if they are private.
        case LE.connected: return packet.bytes.count == 21 ? naming(packet, at: [8], kind: 7) : nil
        case LE.connectedEnhanced: return packet.bytes.count == 33 ? naming(packet, at: [8, 14, 20], kind: 7) : nil
        case LE.connectedEnhanced2: return packet.bytes.count == 36 ? naming(packet, at: [8, 14, 20], kind: 7) : nil
        case LE.scanRequest: return packet.bytes.count == 11 ? naming(packet, at: [5], kind: 4) : nil
        case LE.advertisement: return reports(packet, .legacy)
        case LE.extendedAdvertisement: return reports(packet, .extended)
        case LE.directedAdvertisement: return reports(packet, .directed)
        default: return nil
        }
    }

    /// The packet with other addresses at these positions. `kind` is the position of the first one's kind. Nil if the
    /// packet ends before one of them does.
    private mutating func naming(_ packet: MonitorPacket, at positions: [Int], kind: Int) -> MonitorPacket? {
        var packet = packet
        for position in positions {
            guard position + Pseudonyms.length <= packet.bytes.count else { return nil }
            let isFirst = position == positions.first
            // The further addresses are private, and so are random.
            rename(&packet.bytes, at: position, isRandom: !isFirst || packet.bytes[kind] & 1 == 1)
        }
        return packet
    }

    private mutating func rename(_ bytes: inout [UInt8], at position: Int, isRandom: Bool) {
        let place = position..<position + Pseudonyms.length
        bytes.replaceSubrange(place, with: pseudonyms.name(Array(bytes[place]), isRandom: isRandom))
    }

    // MARK: Advertisements

    /// The layout of one report in an event.
    private struct ReportLayout {
        /// Positions of the advertiser's kind and of the target's. The addresses follow them.
        var kinds: [Int]
        /// The position of the length of the data, which follows it. Nil without data.
        var dataLength: Int?
        /// Bytes without the data.
        var fixed: Int

        static var legacy: Self { Self(kinds: [1], dataLength: 8, fixed: 10) }
        static var extended: Self { Self(kinds: [2, 16], dataLength: 23, fixed: 24) }
        static var directed: Self { Self(kinds: [1, 8], dataLength: nil, fixed: 16) }
    }

    /// The reports with other addresses. The data of foreign devices becomes zeros. Nil if the reports do not end where
    /// the packet ends.
    private mutating func reports(_ packet: MonitorPacket, _ layout: ReportLayout) -> MonitorPacket? {
        guard packet.bytes.count >= 4 else { return nil }
        var packet = packet
        var position = 4
        for _ in 0..<packet.bytes[3] {
            guard position + layout.fixed <= packet.bytes.count else { return nil }
            let count = layout.dataLength.map { Int(packet.bytes[position + $0]) } ?? 0
            guard position + layout.fixed + count <= packet.bytes.count else { return nil }
            let advertiser = position + layout.kinds[0] + 1
            let isKnown = pseudonyms.isKnown(Array(packet.bytes[advertiser..<advertiser + Pseudonyms.length]))
            for kind in layout.kinds {
                let isRandom = packet.bytes[position + kind] & 1 == 1
                rename(&packet.bytes, at: position + kind + 1, isRandom: isRandom)
            }
            if let dataLength = layout.dataLength, !isKnown {
                let start = position + dataLength + 1
                packet.bytes.replaceSubrange(start..<start + count, with: [UInt8](repeating: 0, count: count))
            }
            position += layout.fixed + count
        }
        return position == packet.bytes.count ? packet : nil
    }
}

/// HCI commands (Core specification, Vol 4, Part E): opcode, length, parameters. Only those with a known layout are
/// written whole.
enum HCICommand {
    static let header = 3

    /// Commands whose parameters have no address, no key, no name and no advertisement of another device.
    static let withoutAddress: Set<UInt16> = [
        // Disconnect, Read Remote Version, Set Event Mask, Reset, Read Local Version, Commands, Features, Buffer Size
        // and Address, Read RSSI.
        0x0406, 0x041D, 0x0C01, 0x0C03, 0x1001, 0x1002, 0x1003, 0x1005, 0x1009, 0x1405,
        // Low Energy: masks and features; this adapter's random address; advertising and scanning on and off; the
        // accept list; connection parameters; data length; PHY.
        0x2001, 0x2002, 0x2003, 0x2005, 0x2007, 0x200A, 0x200B, 0x200C, 0x200E, 0x200F, 0x2010, 0x2013, 0x2014, 0x2015,
        0x2016, 0x201B, 0x201C, 0x2020, 0x2021, 0x2022, 0x2023, 0x2024, 0x2029, 0x202A, 0x202D, 0x202E, 0x202F, 0x2030,
        0x2031, 0x2032, 0x2035, 0x2039, 0x203A, 0x203B, 0x203C, 0x203D, 0x2041, 0x2042, 0x204B,
    ]

    /// Commands with one address: the position in the parameters of its kind, which precedes it, and the possible
    /// lengths of the parameters.
    static let withAddress: [UInt16: (kind: Int, lengths: Set<Int>)] = [
        // LE Set Advertising Parameters, and the extended form.
        0x2006: (6, [15]), 0x2036: (11, [25]),
        // LE Create Connection, and the extended form for one to three PHYs.
        0x200D: (5, [25]), 0x2043: (2, [26, 42, 58]),
        // LE Add To and Remove From Filter Accept List, LE Set Privacy Mode.
        0x2011: (0, [7]), 0x2012: (0, [7]), 0x204E: (0, [8]),
    ]
}
