// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BLETransport

/// Packets as a controller sends them.
enum Packets {
    static let origin = ContinuousClock.now
    static let wallClock: Int64 = 1_795_000_000_000_000

    static func packet(
        _ kind: MonitorPacket.Kind, _ bytes: [UInt8], at seconds: Double = 0, adapter: UInt16 = 0, length: Int? = nil
    ) -> MonitorPacket {
        MonitorPacket(
            kind: kind, adapter: adapter, at: origin + .seconds(seconds),
            microseconds: wallClock + Int64(seconds * 1e6), bytes: bytes, length: length ?? bytes.count)
    }

    static func event(_ code: UInt8, _ parameters: [UInt8], at seconds: Double = 0) -> MonitorPacket {
        packet(.event, [code, UInt8(parameters.count)] + parameters, at: seconds)
    }

    static func command(_ opcode: UInt16, _ parameters: [UInt8], at seconds: Double = 0) -> MonitorPacket {
        packet(
            .command, [UInt8(opcode & 0xFF), UInt8(opcode >> 8), UInt8(parameters.count)] + parameters, at: seconds)
    }

    /// A link with an interval of 7.5 ms and a supervision timeout of 420 ms.
    static func connected(_ handle: UInt8, to address: [UInt8], at seconds: Double = 0) -> MonitorPacket {
        event(0x3E, [0x01, 0, handle, 0, 0, 1] + address + [6, 0, 0, 0, 42, 0, 0], at: seconds)
    }

    static func updated(_ handle: UInt8, timeout: UInt8, at seconds: Double) -> MonitorPacket {
        event(0x3E, [0x03, 0, handle, 0, 6, 0, 0, 0, timeout, 0], at: seconds)
    }

    static func disconnected(_ handle: UInt8, reason: UInt8, at seconds: Double = 0) -> MonitorPacket {
        event(0x05, [0, handle, 0, reason], at: seconds)
    }

    static func time(_ seconds: Double) -> ContinuousClock.Instant { origin + .seconds(seconds) }
}

@Suite("The last packets of an adapter")
struct PacketRingTests {
    private let peer: [UInt8] = [1, 2, 3, 4, 5, 0xC6]

    @Test("packets leave the ring after its time")
    func span() {
        var ring = PacketRing()
        for second in 0...100 { ring.add(Packets.disconnected(1, reason: 8, at: Double(second))) }
        let kept = ring.packets(from: Packets.time(0), to: Packets.time(100))
        #expect(kept.count == 41)
        #expect(kept.first?.at == Packets.time(60))
    }

    @Test("a flood of packets leaves the ring within its bytes and its number, and keeps the newest")
    func bounds() {
        var ring = PacketRing()
        for number in 0..<RadioLimits.packets + 10 {
            ring.add(Packets.packet(.event, [0x13, UInt8(number & 0xFF)], at: Double(number) / 1e6))
        }
        #expect(ring.count == RadioLimits.packets)
        let large = [UInt8](repeating: 0, count: 258)
        for number in 0..<RadioLimits.packets {
            ring.add(Packets.packet(.command, large, at: 1 + Double(number) / 1e6))
        }
        #expect(ring.count == RadioLimits.packetBytes / 258)
        let last = 1 + Double(RadioLimits.packets - 1) / 1e6
        #expect(ring.packets(from: Packets.time(last), to: Packets.time(last)).last?.kind == .command)
    }

    @Test("a link that is older than the ring is explained by its connection and its last parameters")
    func explained() {
        var ring = PacketRing()
        ring.add(Packets.packet(.newIndex, [UInt8](repeating: 7, count: 16)))
        ring.add(Packets.connected(0x40, to: peer))
        ring.add(Packets.connected(0x41, to: [9, 9, 9, 9, 9, 9]))
        ring.add(Packets.updated(0x40, timeout: 50, at: 1))
        ring.add(Packets.updated(0x40, timeout: 72, at: 2))
        // A link that ended before is not explained.
        ring.add(Packets.disconnected(0x41, reason: 0x13, at: 3))
        ring.add(Packets.disconnected(0x40, reason: 8, at: 200))
        let kept = ring.packets(from: Packets.time(195), to: Packets.time(205))
        #expect(
            kept == [
                Packets.packet(.newIndex, [UInt8](repeating: 7, count: 16)), Packets.connected(0x40, to: peer),
                Packets.updated(0x40, timeout: 72, at: 2), Packets.disconnected(0x40, reason: 8, at: 200),
            ])
        // The same if the older packets are still in the ring.
        var short = PacketRing()
        short.add(Packets.connected(0x40, to: peer))
        short.add(Packets.updated(0x40, timeout: 72, at: 2))
        short.add(Packets.disconnected(0x40, reason: 8, at: 20))
        #expect(short.packets(from: Packets.time(15), to: Packets.time(25)).count == 3)
        #expect(short.packets(from: Packets.time(21), to: Packets.time(25)).isEmpty)
    }

    @Test("an adapter that goes takes its links with it")
    func adapterGone() {
        var states = LinkStates()
        states.apply(Packets.packet(.newIndex, [UInt8](repeating: 7, count: 16)))
        states.apply(Packets.connected(0x40, to: peer))
        states.apply(Packets.packet(.closeIndex, []))
        #expect(states.packets.map(\.kind) == [.newIndex])
        states.apply(Packets.packet(.deleteIndex, []))
        #expect(states.packets.isEmpty)
    }

    @Test("handles that no controller has cannot fill the memory")
    func links() {
        var states = LinkStates()
        for handle in 0..<UInt8(200) { states.apply(Packets.connected(handle, to: peer)) }
        #expect(states.packets.count == RadioLimits.packetLinks)
    }

    @Test("a file begins with its header, and each packet has its length twice, its adapter, kind and time")
    func btsnoop() {
        let packet = Packets.packet(.event, [5, 4, 0, 0x40, 0, 8], adapter: 1)
        #expect(
            Btsnoop.file([packet])
                == Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x07, 0xD1]
                + [0, 0, 0, 6, 0, 0, 0, 6, 0, 1, 0, 3, 0, 0, 0, 0]
                + withUnsafeBytes(of: (Packets.wallClock + 0x00DC_DDB3_0F2F_8000).bigEndian) { Array($0) }
                + [5, 4, 0, 0x40, 0, 8])
    }
}
