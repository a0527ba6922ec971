// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BLETransport

@Suite("Packets without what belongs to others")
struct PacketScrubberTests {
    private let own: [UInt8] = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66]
    private let peer: [UInt8] = [0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xC6]
    private let foreign: [UInt8] = [0xD1, 0xD2, 0xD3, 0xD4, 0xD5, 0x46]
    private let other: [UInt8] = [0xE1, 0xE2, 0xE3, 0xE4, 0xE5, 0xC7]

    private var scrubber: PacketScrubber { PacketScrubber(known: [own, peer]) }

    /// A legacy report of an advertisement.
    private func report(_ address: [UInt8], data: [UInt8], isRandom: Bool = true) -> [UInt8] {
        [0, isRandom ? 1 : 0] + address + [UInt8(data.count)] + data + [0xC4]
    }

    @Test("the end of a link keeps its reason, and a peer keeps its address")
    func kept() {
        var scrubber = scrubber
        for packet in [
            Packets.disconnected(0x40, reason: 0x08), Packets.connected(0x40, to: peer),
            Packets.updated(0x40, timeout: 72, at: 0), Packets.command(0x0406, [0x40, 0, 0x13]),
            Packets.command(0x200D, [4, 0, 4, 0, 0, 1] + peer + [UInt8](repeating: 0, count: 13)),
            Packets.packet(.newIndex, [0, 1] + own + Array("hci0\0\0\0\0".utf8)),
        ] {
            #expect(scrubber.scrub(packet) == packet)
        }
    }

    @Test("a foreign device has the same pseudonym in every packet, and another device another one")
    func stable() {
        var scrubber = scrubber
        let first = scrubber.scrub(Packets.connected(0x40, to: foreign)).bytes[8..<14]
        let again = scrubber.scrub(Packets.command(0x2011, [1] + foreign)).bytes[4..<10]
        let another = scrubber.scrub(Packets.connected(0x41, to: other)).bytes[8..<14]
        // In print: 42:00:00:00:00:01, a resolvable address like the foreign one, and C2:00:00:00:00:02.
        #expect(first.elementsEqual([1, 0, 0, 0, 0, 0x42]) && again.elementsEqual(first))
        #expect(another.elementsEqual([2, 0, 0, 0, 0, 0xC2]))
        var next = self.scrubber
        #expect(next.scrub(Packets.connected(0x41, to: other)).bytes[8] == 1, "pseudonyms are of one file")
    }

    @Test("no pseudonym is the address of a known device")
    func collision() {
        var names = Pseudonyms(known: [[1, 0, 0, 0, 0, 0x42]])
        #expect(names.name(foreign, isRandom: true) == [2, 0, 0, 0, 0, 0x42])
        #expect(names.name([0, 0, 0, 0, 0, 0], isRandom: false) == [0, 0, 0, 0, 0, 0])
    }

    @Test("an advertisement of a foreign device loses its contents, one of a peer keeps them")
    func advertisements() {
        var scrubber = scrubber
        let name = Array("Bob's phone".utf8)
        let both = Packets.event(0x3E, [0x02, 2] + report(foreign, data: name) + report(peer, data: name))
        let scrubbed = scrubber.scrub(both)
        #expect(scrubbed.bytes.count == both.bytes.count)
        let kept = report([1, 0, 0, 0, 0, 0x42], data: [UInt8](repeating: 0, count: name.count))
        #expect(scrubbed.bytes == Packets.event(0x3E, [0x02, 2] + kept + report(peer, data: name)).bytes)
        let extended: [UInt8] =
            [0x13, 0, 1] + foreign + [1, 0, 0xFF, 0x7F, 0xC4, 0, 0, 1] + other + [UInt8(name.count)] + name
        let bytes = scrubber.scrub(Packets.event(0x3E, [0x0D, 1] + extended)).bytes
        #expect(!contains(bytes, foreign) && !contains(bytes, other) && !contains(bytes, name))
        #expect(bytes.count == 2 + 2 + extended.count && bytes[17] == 0xC4)
    }

    @Test("reports that do not end where their packet ends are blanked")
    func brokenReports() {
        var scrubber = scrubber
        let one = report(foreign, data: [1, 2, 3])
        let all: [[UInt8]] = [[0x02, 2] + one, [0x02, 1] + one + [0], [0x02, 0] + one, [0x02, 1] + one.dropLast()]
        for broken in all {
            let count = UInt8(broken.count)
            #expect(scrubber.scrub(Packets.event(0x3E, broken)).bytes == [0x3E, count, 0x02] + zeros(broken.count - 1))
        }
    }

    @Test("keys, names and unknown packets keep only their type and length")
    func unknown() {
        var scrubber = scrubber
        let secret = [UInt8](repeating: 0x77, count: 20)
        // LE Start Encryption, Add Device To Resolving List, Set Advertising Data, a vendor's command.
        for opcode: UInt16 in [0x2019, 0x2027, 0x2008, 0xFC01] {
            let scrubbed = scrubber.scrub(Packets.command(opcode, secret))
            #expect(scrubbed.bytes == [UInt8(opcode & 0xFF), UInt8(opcode >> 8), 20] + zeros(20))
        }
        // Link Key Notification, Remote Name, a vendor's event.
        for code: UInt8 in [0x18, 0x07, 0xFF] {
            #expect(scrubber.scrub(Packets.event(code, secret)).bytes == [code, 20] + zeros(20))
        }
        // The answer to LE Rand, and to Read RSSI.
        let random = scrubber.scrub(Packets.event(0x0E, [1, 0x18, 0x20, 0] + secret))
        #expect(random.bytes == [0x0E, 24, 1, 0x18, 0x20, 0] + zeros(20))
        let signal = Packets.event(0x0E, [1, 0x05, 0x14, 0, 0x40, 0, 0xC4])
        #expect(scrubber.scrub(signal) == signal)
        // A packet that was cut before.
        #expect(scrubber.scrub(Packets.packet(.event, [5, 4, 0, 0x40], length: 6)).bytes == [5, 4, 0, 0])
    }

    @Test("data keeps its headers, and the commands that open and close channels")
    func data() {
        var scrubber = scrubber
        let payload = [UInt8](repeating: 0x77, count: 24)
        func kept(_ flags: UInt8, channel: UInt8) -> Int {
            let bytes = [0x40, flags, 28, 0, 24, 0, channel, 0] + payload
            return scrubber.scrub(Packets.packet(.receivedData, bytes, length: 300)).bytes.count
        }
        #expect(kept(0x20, channel: 0x40) == 8)
        // Pairing's keys, and GATT's values.
        #expect(kept(0x20, channel: 0x06) == 8 && kept(0x20, channel: 0x04) == 8)
        #expect(kept(0x20, channel: 0x05) == 32)
        // A further fragment has no header of L2CAP.
        #expect(kept(0x10, channel: 0x05) == 4)
    }

    @Test("a packet of any type that has a foreign address where no layout has one loses it")
    func anywhere() {
        let full = (0..<10).flatMap { _ in foreign }
        for opcode in UInt16.min...UInt16.max where !HCICommand.withoutAddress.contains(opcode) {
            var scrubber = scrubber
            #expect(!contains(scrubber.scrub(Packets.command(opcode, full)).bytes, foreign), "\(opcode)")
        }
        // Events of links and commands, which have numbers only.
        let numbers: Set<UInt8> = [0x05, 0x08, 0x0C, 0x0F, 0x10, 0x13, 0x1A, 0x30, 0x57]
        for code in UInt8.min...UInt8.max where !numbers.contains(code) {
            var scrubber = scrubber
            #expect(!contains(scrubber.scrub(Packets.event(code, full)).bytes, foreign), "\(code)")
        }
        let numbersOfLinks: Set<UInt8> = [0x03, 0x04, 0x06, 0x07, 0x0C, 0x11, 0x12, 0x14]
        for code in UInt8.min...UInt8.max where !numbersOfLinks.contains(code) {
            var scrubber = scrubber
            #expect(!contains(scrubber.scrub(Packets.event(0x3E, [code] + full)).bytes, foreign), "\(code)")
        }
    }

    @Test("a foreign address leaves no packet that has a place for it, and the packet keeps its length")
    func everyPlace() {
        let commands: [(UInt16, [UInt8])] = [
            (0x2006, zeros(6) + [1] + foreign + zeros(2)), (0x2036, zeros(11) + [1] + foreign + zeros(7)),
            (0x200D, zeros(5) + [1] + foreign + zeros(13)), (0x2043, [0, 0, 1] + foreign + zeros(17)),
            (0x2011, [1] + foreign), (0x2012, [1] + foreign), (0x204E, [1] + foreign + [0]),
        ]
        #expect(Set(commands.map(\.0)) == Set(HCICommand.withAddress.keys))
        let link: [UInt8] = [0, 0x40, 0, 0, 1]
        let events: [[UInt8]] = [
            [0x01] + link + foreign + zeros(7), [0x0A] + link + foreign + foreign + foreign + zeros(7),
            [0x29] + link + foreign + foreign + foreign + zeros(10), [0x13, 0, 1] + foreign,
            [0x02, 1] + report(foreign, data: foreign), [0x0B, 1, 1, 1] + foreign + [1] + foreign + [0xC4],
            [0x0D, 1, 0x13, 0, 1] + foreign + zeros(7) + [1] + foreign + [6] + foreign,
        ]
        var scrubber = scrubber
        let packets =
            commands.map { Packets.command($0.0, $0.1) } + events.map { Packets.event(0x3E, $0) }
        for packet in packets {
            let scrubbed = scrubber.scrub(packet)
            #expect(scrubbed.bytes.count == packet.bytes.count, "\(packet.bytes)")
            #expect(!contains(scrubbed.bytes, foreign) && contains(scrubbed.bytes, [1, 0, 0, 0, 0, 0x42]))
        }
    }

    private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        guard bytes.contains(part[0]), bytes.count >= part.count else { return false }
        return (0...bytes.count - part.count).contains { bytes[$0..<$0 + part.count].elementsEqual(part) }
    }
}
