// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

/// What the two ends report about themselves (`docs/protocol.md`, "Hello").
@Suite("Hellos")
struct HelloTests {
    private static let standing = Resumption(epoch: 1, first: 1, theirEpoch: 0, delivered: 0)

    private static func bytes(_ hello: Hello) -> [UInt8] {
        var writer = WireWriter()
        writer.hello(hello)
        return writer.bytes
    }

    private static func read(_ bytes: [UInt8]) -> Hello? {
        var reader = WireReader(bytes[...])
        return reader.hello()
    }

    @Test("A hello is read as it was written, with its parts in any order, and unknown ignorable parts are skipped")
    func roundTrip() {
        var hello = Hello(
            name: "Ana", resumption: Self.standing, minorVersion: 3, silence: .seconds(30),
            flags: AdvertisedFlags(critical: [.bond], ignorable: [.gatt, .noRoom]))
        hello.proof = Hello.Proof(kind: 1, data: [2, 3])
        hello.shownState = StateName(value: 0x0102_0304_0506_0708)
        #expect(Self.read(Self.bytes(hello)) == hello)
        #expect(Self.read([99, 2, 1, 1] + Self.bytes(hello) + [98, 0]) == hello)
        let (name, rest) = ([UInt8]([1, 3, 65, 110, 97]), Self.bytes(Hello(name: "", resumption: Self.standing)))
        #expect(Self.read(name + rest) == Hello(name: "Ana", resumption: Self.standing))
    }

    @Test(
        "A part that is cut, repeated or out of its limits is malformed, and so is a hello without its conversation"
    )
    func malformed() {
        let good = Self.bytes(Hello(name: "Ana", resumption: Self.standing))
        for count in 1..<good.count where count != 12 { #expect(Self.read(Array(good.prefix(count))) == nil) }
        #expect(Self.read(good + [1, 1, 65]) == nil)
        #expect(Self.read([1, 3, 65, 110, 97]) == nil)
        #expect(Self.read(good + [3, 0]) == nil)
        #expect(Self.read(good + [129, 1, 0]) == nil)
        #expect(Self.read(good + [8, 7, 1, 2, 3, 4, 5, 6, 7]) == nil)
        #expect(Self.read(good + [4, 66, 1] + [UInt8](repeating: 0, count: 65)) == nil)
    }

    @Test("A relay that claims more hops than a circuit may have is treated as having no route")
    func farRoute() {
        func route(hops: UInt8) -> Route?? {
            var hello = Hello(name: "Rita", resumption: Self.standing)
            hello.route = Route(host: String(repeating: "5a", count: Identity.idBytes), hops: hops)
            return Self.read(Self.bytes(hello))?.route
        }
        #expect(route(hops: Limits.circuitHops)??.hops == Limits.circuitHops)
        #expect(route(hops: Limits.circuitHops + 1) == .some(nil))
        #expect(route(hops: .max) == .some(nil))
    }

    @Test("The requested silence is limited")
    func silenceBounds() {
        let good = Self.bytes(Hello(name: "Ana", resumption: Self.standing))
        #expect(Self.read(good + [3, 1, 0])?.silence == Limits.pongTimeout)
        #expect(Self.read(good + [3, 1, 30])?.silence == .seconds(30))
        let longest = [UInt8](repeating: 0xFF, count: 9) + [1]
        #expect(Self.read(good + [3, 10] + longest)?.silence == Limits.longestSilence)
    }

    @Test(
        "A guest with an unknown critical part learns that the host speaks another version",
        arguments: [true, false])
    func unknownPart(knows: Bool) {
        var road = Road()
        if knows { road.cut(road.joined()) }
        let id = road.newLink("Ana", "Car")
        let entropies = (road.entropy(), road.entropy())
        var hello = Hello(name: "Ana", resumption: Self.standing)
        hello.unknownPart = 200
        road.act("Car", on: id) { [mtu = road.sendMTU] in
            $0.opened(id, as: .responder, sendMTU: mtu, entropy: entropies.0, now: .zero)
        }
        let keys = LinkMachine.Keys(
            local: Road.identity(2), prologue: HandshakePacket.prologue(of: .democracyDJ),
            ephemeral: entropies.1.ephemeralKey, expectedKey: knows ? Road.identity(1).publicKey : nil)
        var guest = LinkMachine(role: .initiator, keys: keys, now: .zero)
        var actions = guest.opened(as: hello)
        for _ in 0..<4 {
            while let sdu = guest.nextSDU(limit: Limits.sduBytes)?.sdu {
                road.give(sdu, to: "Car", on: id)
            }
            road.pull("Car", id)
            let sdus = road.wires[id]?.toGuest ?? []
            road.wires[id]?.toGuest = []
            for sdu in sdus { actions = guest.received(sdu, now: .zero) }
            if case .identified? = actions.first { actions = guest.present(as: hello) }
        }
        #expect(actions == [.close(.refused(.version), afterFinalFrame: false)])
        #expect(road.nodes["Car"]?.ends[id] == .refused(.version))
        #expect(!road.isConnected("Car", to: "Ana"))
    }

    // MARK: Flags

    /// A guest dials a host with some advertised flags, and has received other flags.
    private static func dial(_ road: inout Road, flags: AdvertisedFlags, heard: AdvertisedFlags?) -> MeshCore.LinkID {
        let id = road.newLink("Ana", "Car")
        let (entropies, head) = ((road.entropy(), road.entropy()), Identity.head(of: road.id("Car")))
        road.act("Car", on: id) { [mtu = road.sendMTU] in
            $0.opened(id, as: .responder, sendMTU: mtu, advertised: flags, entropy: entropies.0, now: .zero)
        }
        road.act("Ana", on: id) { [mtu = road.sendMTU] in
            $0.opened(
                id, as: .initiator, sendMTU: mtu, expected: head, advertised: heard, entropy: entropies.1, now: .zero)
        }
        road.settle()
        return id
    }

    @Test(
        "Critical flags that were removed from an advertisement are in the answer, and the guest does not join",
        arguments: [true, false])
    func stripped(knows: Bool) {
        var road = Road()
        if knows { road.cut(road.joined()) }
        let flags = AdvertisedFlags(critical: [.bond], ignorable: [.gatt])
        let stripped = Self.dial(&road, flags: flags, heard: AdvertisedFlags())
        #expect(road.nodes["Ana"]?.ends[stripped] == .misbehaved(.strippedAdvertisement))
        #expect(!road.isConnected("Ana", to: "Car"))
        road.cut(stripped)
        // Missing claims do not matter, and neither do added flags.
        for heard in [flags, AdvertisedFlags(critical: [.bond, .proof]), nil] {
            let id = Self.dial(&road, flags: flags, heard: heard)
            #expect(road.isConnected("Ana", to: "Car"))
            road.cut(id)
        }
    }

    // MARK: Silence

    @Test("A sleeping guest that has asked for a longer silence is timed out after that time, not after two seconds")
    func sleeps() {
        var road = Road()
        let identity = Road.identity(2)
        road.nodes["Ana"] = Road.Node(
            core: MeshCore(identity: identity, name: "Ana", service: .democracyDJ, silence: .seconds(30)))
        let id = road.joined()
        road.wires[id]?.isCut = true
        // Only the host's clock moves, because the guest is suspended.
        func pass(_ time: Duration) {
            let end = road.now + time
            while let due = road.nodes["Car"]?.core.deadline(of: id), due <= end {
                road.now = due
                road.act("Car", on: id) { $0.tick(id, now: due) }
            }
            road.now = end
        }
        pass(.seconds(25))
        #expect(road.nodes["Car"]?.ends[id] == nil)
        pass(.seconds(30))
        #expect(road.nodes["Car"]?.ends[id] == .silent)
    }

    // MARK: Air

    @Test("A guest receives the advised intervals for its link, the newest if several were queued")
    func air() throws {
        var road = Road()
        let id = road.joined()
        let notes = [LinkIntervals(brisk: 9, calm: 29), LinkIntervals(brisk: 11, calm: 31)].map {
            AirNote(intervals: $0)
        }
        let actions = notes.map { road.nodes["Car"]?.core.note($0, on: id) }
        #expect(actions == [[.wake(id)], [.wake(id)]])
        let record = try #require(road.nodes["Car"]?.core.nextSDU(for: id, limit: Limits.sduBytes)?.sdu)
        #expect(road.nodes["Ana"]?.core.received(record, on: id, now: road.now) == [.heed(id, notes[1])])
        #expect(road.nodes["Car"]?.core.nextSDU(for: id, limit: Limits.sduBytes) == nil)
        let told = AirNote(dialTime: DialTime(milliseconds: 61))
        #expect(road.nodes["Ana"]?.core.note(told, on: id) == [.wake(id)])
        let answer = try #require(road.nodes["Ana"]?.core.nextSDU(for: id, limit: Limits.sduBytes)?.sdu)
        #expect(road.nodes["Car"]?.core.received(answer, on: id, now: road.now) == [.heed(id, told)])
        road.cut(id)
        #expect(road.nodes["Car"]?.core.note(notes[0], on: id) == [])
    }

    @Test("Notes about the air are read within their limits, and additions of later versions are ignored")
    func airBytes() {
        func read(_ body: [UInt8]) -> FrameReader.Next? {
            var reader = FrameReader(([16, UInt8(body.count)] + body)[...])
            return reader.next()
        }
        func intervals(_ brisk: Int, _ calm: Int) -> FrameReader.Next {
            .frame(.air(AirNote(intervals: LinkIntervals(brisk: brisk, calm: calm))))
        }
        #expect(read([1, 2, 11, 31]) == intervals(11, 31))
        #expect(read([7, 1, 0, 1, 4, 11, 31, 9, 9]) == intervals(11, 31))
        #expect(read([1, 3, 0, 0xFF, 0x7F]) == intervals(6, 80))
        func dial(_ milliseconds: Int, _ intervals: LinkIntervals? = nil) -> FrameReader.Next {
            .frame(.air(AirNote(intervals: intervals, dialTime: DialTime(milliseconds: milliseconds))))
        }
        #expect(read([2, 2, 0x8A, 0x0A]) == dial(1_290))
        #expect(read([2, 3, 0x8A, 0x0A, 7, 1, 2, 11, 31]) == dial(1_290, LinkIntervals(brisk: 11, calm: 31)))
        #expect(read([2, 1, 0]) == dial(1) && read([2, 4, 0xFF, 0xFF, 0xFF, 0x7F]) == dial(30_000))
        #expect(read([]) == .frame(.air(AirNote())))
        for cut in [[1, 2, 11], [1, 1, 11], [1], [2, 0], [2, 1, 0x8A], [9, 0, 9, 0]] as [[UInt8]] {
            #expect(read(cut) == .malformed(type: 16))
        }
    }

    // MARK: Circuits

    @Test("A circuit request to a node that does not relay is refused, and frames of unknown circuits are ignored")
    func circuits() {
        var road = Road()
        let id = road.joined()
        let open = CircuitOpen(circuit: 2, host: road.id("Car"), hopsLeft: 3, innerMTU: 512, passed: [])
        road.say(
            [
                .circuitOpen(open), .circuitData(circuit: 2, sdu: [1]), .circuitCredit(circuit: 9, credits: 1),
                .circuitClose(circuit: 2, .ended),
            ], as: "Ana", on: id)
        let record = road.nodes["Car"]?.core.nextSDU(for: id, limit: Limits.sduBytes)?.sdu ?? []
        let plaintext = road.nodes["Ana"]?.core[link: id]?.machine.sealed?.open(record[...]) ?? []
        var reader = FrameReader(plaintext[...])
        #expect(reader.next() == .frame(.circuitClose(circuit: 2, .noRelay)))
        #expect(reader.next() == nil)
        #expect(road.isConnected("Car", to: "Ana"))
        // Many requests leave a limited number of queued answers.
        let many = (2..<62).map { number in
            Frame.circuitOpen(
                CircuitOpen(circuit: UInt64(2 * number), host: road.id("Car"), hopsLeft: 3, innerMTU: 512, passed: []))
        }
        road.say(many, as: "Ana", on: id)
        #expect(road.nodes["Car"]?.core.footprint.circuitFrames == Limits.circuitRefusals)
        #expect(road.nodes["Car"]?.core.footprint.circuits == 0)
        #expect(road.isConnected("Car", to: "Ana"))
    }
}
