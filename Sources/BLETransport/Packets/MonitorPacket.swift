// SPDX-License-Identifier: Apache-2.0

/// A packet between this system and a controller, as the kernel's monitor channel reports it.
struct MonitorPacket: Hashable, Sendable {
    /// The kinds that the monitor passes on, by the kernel's numbers (net/bluetooth/hci_mon.h).
    enum Kind: UInt16, Hashable, Sendable, CaseIterable {
        case newIndex = 0
        case deleteIndex = 1
        case command = 2
        case event = 3
        case sentData = 4
        case receivedData = 5
        case openIndex = 8
        case closeIndex = 9
        case indexInfo = 10
    }

    var kind: Kind
    /// The number of the adapter: 0 is `hci0`.
    var adapter: UInt16
    /// When this process read it. A wall clock may jump, so time spans are of this clock.
    var at: ContinuousClock.Instant
    /// When the kernel saw it, in microseconds since 1970.
    var microseconds: Int64
    /// Its first bytes.
    var bytes: [UInt8]
    /// Its whole length.
    var length: Int

    /// Whether all of it is here.
    var isWhole: Bool { bytes.count == length }

    /// The number in two bytes of it, the lower byte first.
    func word(at position: Int) -> UInt16 { UInt16(bytes[position]) | UInt16(bytes[position + 1]) << 8 }

    /// The packet with zeros after its first bytes. btmon stops at a packet that is shorter than it says, so the length
    /// stays.
    func blank(after count: Int) -> MonitorPacket {
        var packet = self
        for position in min(count, bytes.count)..<bytes.count { packet.bytes[position] = 0 }
        return packet
    }

    /// The first `count` bytes of it.
    func cut(to count: Int) -> MonitorPacket {
        var packet = self
        packet.bytes = Array(bytes.prefix(count))
        return packet
    }
}

/// Positions in an HCI event (Core specification, Vol 4, Part E): its code, its length, its parameters.
enum HCIEvent {
    static let header = 2

    static let disconnected: UInt8 = 0x05
    static let encryption: UInt8 = 0x08
    static let version: UInt8 = 0x0C
    static let commandComplete: UInt8 = 0x0E
    static let commandStatus: UInt8 = 0x0F
    static let hardwareError: UInt8 = 0x10
    static let completedPackets: UInt8 = 0x13
    static let bufferOverflow: UInt8 = 0x1A
    static let keyRefreshed: UInt8 = 0x30
    static let payloadTimeout: UInt8 = 0x57
    static let lowEnergy: UInt8 = 0x3E

    /// Subevents of Low Energy.
    enum LE {
        static let connected: UInt8 = 0x01
        static let advertisement: UInt8 = 0x02
        static let updated: UInt8 = 0x03
        static let features: UInt8 = 0x04
        static let parametersAsked: UInt8 = 0x06
        static let dataLength: UInt8 = 0x07
        static let connectedEnhanced: UInt8 = 0x0A
        static let directedAdvertisement: UInt8 = 0x0B
        static let phy: UInt8 = 0x0C
        static let extendedAdvertisement: UInt8 = 0x0D
        static let scanTimeout: UInt8 = 0x11
        static let setTerminated: UInt8 = 0x12
        static let scanRequest: UInt8 = 0x13
        static let channelSelection: UInt8 = 0x14
        static let connectedEnhanced2: UInt8 = 0x29
    }
}
