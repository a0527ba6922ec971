// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol
import Testing

@testable import BLETransport
@testable import Bearers

@Suite("Slots of devices that are linked over GATT")
struct GattPlacesTests {
    private let ana = "/org/bluez/hci0/dev_00_00_5E_00_53_01"
    private let bob = "/org/bluez/hci0/dev_00_00_5E_00_53_02"

    @Test("a device that asks, subscribes and writes in time is linked, and no other can use its slot")
    func order() throws {
        var places = GattPlaces()
        #expect(places.ask(ana, now: .zero) == 0)
        // It cannot write before its subscription. Another device cannot write at all.
        #expect(places.write(ana, to: 0, now: .zero) == nil)
        #expect(places.subscribe(bob, to: 0, now: .zero) == false)
        #expect(places.subscribe(ana, to: 1, now: .zero) == false)
        #expect(places.subscribe(ana, to: 0, now: .seconds(9)) == true)
        #expect(places.write(bob, to: 0, now: .seconds(9)) == nil)
        let link = places.write(ana, to: 0, now: .seconds(18))
        #expect(places.write(ana, to: 0, now: .seconds(18)) == nil)
        #expect(places.ask(bob, now: .seconds(100)) == 1)
        places.ended(try #require(link))
        #expect(places.ask(ana, now: .seconds(100)) == 0)
    }

    @Test("a slot that is not used in time is given to another device")
    func time() {
        var places = GattPlaces()
        for number in 0..<RadioLimits.gattGuests { #expect(places.ask("\(number)", now: .zero) == number) }
        #expect(places.ask(ana, now: .seconds(9)) == nil)
        // A device that asks again keeps its slot.
        #expect(places.ask("1", now: .seconds(9)) == 1)
        #expect(places.subscribe("2", to: 2, now: .seconds(9)) == true)
        #expect(places.ask(ana, now: .seconds(10)) == 0)
        #expect(places.subscribe("0", to: 0, now: .seconds(10)) == false)
        #expect(places.write("2", to: 2, now: .seconds(18)) != nil)
        #expect(places.write("1", to: 1, now: .seconds(19)) == nil)
    }

    @Test("a linked device gets a further slot, and loses all its slots with its Bluetooth link")
    func several() throws {
        var places = GattPlaces()
        var last = 0
        for number in 0..<3 {
            #expect(places.ask(ana, now: .zero) == number)
            #expect(places.subscribe(ana, to: number, now: .zero) == true)
            let link = places.write(ana, to: number, now: .zero)
            last = try #require(link)
        }
        #expect(places.ask(bob, now: .zero) == 3)
        #expect(places.ask(ana, now: .zero) == nil)
        #expect(places.lost(ana) == [0, 1, 2])
        #expect(places.lost(ana) == [])
        #expect(places.ask(ana, now: .zero) == 0)
        // The link has ended already, so its end has no effect.
        #expect(places.subscribe(ana, to: 0, now: .zero) == true)
        #expect(places.write(ana, to: 0, now: .zero) != nil)
        places.ended(last)
        #expect(places.lost(ana) == [0])
        #expect(places.lost(bob) == [3])
    }

    @Test("the service has the characteristics of the protocol's document")
    func characteristics() {
        let all = GattCharacteristic.all(withPlaces: true)
        #expect(all.count == 3 + 2 * RadioLimits.gattGuests)
        for characteristic in all {
            let name: String? =
                switch characteristic {
                case .psm: nil
                case .payload: "gatt-payload"
                case .place: "gatt-place"
                case .toHost(let place): "gatt-to-host-\(place)"
                case .toGuest(let place): "gatt-to-guest-\(place)"
                }
            guard let name else { continue }
            #expect((try? ServiceType(name))?.uuid.description == characteristic.uuid)
        }
        #expect(GattCharacteristic.all(withPlaces: false) == [.psm, .payload])
    }
}

@Suite("A channel over bluetoothd's GATT descriptors", .timeLimit(.minutes(5)))
struct GattChannelTests {
    /// A channel, and bluetoothd's ends of its descriptors.
    private struct Link {
        let channel: GattChannel
        let written: PacketSocket
        let notified: PacketSocket
        let closed: AsyncStream<Void>

        init(mtu: Int = 247) throws {
            let poller = try Poller()
            func pair() -> (PacketSocket, PacketSocket) {
                var ends: [Int32] = [-1, -1]
                let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue)
                precondition(socketpair(AF_UNIX, type, 0, &ends) == 0)
                return (PacketSocket(ends[0], poller: poller), PacketSocket(ends[1], poller: poller))
            }
            let (incoming, written) = pair()
            let (outgoing, notified) = pair()
            let (closed, tell) = AsyncStream<Void>.makeStream()
            (self.written, self.notified, self.closed) = (written, notified, closed)
            channel = GattChannel(
                incoming: incoming, outgoing: outgoing, endpoint: BearerEndpoint(address: "guest"), mtu: mtu, handle: 0,
                link: ChannelLink(
                    idleBytesSent: 0, idleBytesReceived: 0, whenUsed: { _ in }, condition: { _, _ in nil },
                    heed: { _, _ in }, signalStrength: { _ in nil })
            ) { tell.finish() }
        }

        func write(_ value: [UInt8]) throws {
            let sent = try written.attempt { send($0, value, value.count, Int32(MSG_NOSIGNAL)) }
            #expect(sent == value.count)
        }
    }

    @Test("SDUs of any size are carried in values of the link's size")
    func exchange() async throws {
        let link = try Link(mtu: 100)
        let channel = FramedChannel(link.channel, framing: ChunkPieces())
        var guest = ChunkPieces()
        for sdu in [[1], Array(repeating: 2, count: 97), Array(repeating: 3, count: Limits.sduBytes)] as [[UInt8]] {
            for chunk in guest.pieces(of: sdu, room: 20) { try link.write(chunk) }
            #expect(try await channel.receive() == sdu)
            try await channel.send(sdu)
            var outcome = PieceOutcome.incomplete
            while outcome == .incomplete {
                let (count, value) = try await link.notified.receive(atMost: 512)
                #expect(count <= 97)
                outcome = guest.take(value, now: .zero)
            }
            #expect(outcome == .sdu(sdu))
        }
    }

    @Test("the channel ends when the guest ends its subscription, after all earlier writes")
    func unsubscribed() async throws {
        let link = try Link()
        let channel = FramedChannel(link.channel, framing: ChunkPieces())
        var guest = ChunkPieces()
        for chunk in guest.pieces(of: [7], room: 20) { try link.write(chunk) }
        link.notified.close()
        #expect(try await channel.receive() == [7])
        #expect(try await channel.receive() == nil)
    }

    @Test("a closing channel reports its end before its descriptors close")
    func closing() async throws {
        let link = try Link()
        let channel = FramedChannel(link.channel, framing: ChunkPieces())
        channel.close()
        let (count, value) = try await link.notified.receive(atMost: 512)
        var guest = ChunkPieces()
        #expect(count == 1 && guest.take(value, now: .zero) == .ended)
        for await _ in link.closed {}
        #expect(try await link.notified.receive(atMost: 512).result == 0)
    }

    @Test(
        "values are as large as the link allows", arguments: [(0, 20), (23, 20), (185, 182), (517, 512), (9_999, 512)])
    func sizes(mtu: Int, bytes: Int) async throws {
        let link = try Link(mtu: mtu)
        #expect(link.channel.sendMTU == bytes)
        await #expect(throws: BearerError.self) {
            try await link.channel.send(Array(repeating: 0, count: bytes + 1))
        }
    }
}
