// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOConcurrencyHelpers
import Testing

@testable import Bearers

@Suite("Chunks that wait for acknowledgements", .timeLimit(.minutes(5)))
struct WindowedChannelTests {
    @Test("a phone's chunks continue when an acknowledgement found no room at first")
    func acknowledgementWithoutRoom() async throws {
        let (phoneEnd, hostEnd) = NarrowChannel.pair()
        let (phone, host) = (WindowedChannel(phoneEnd), WindowedChannel(hostEnd))
        hostEnd.hasRoom.withLockedValue { $0 = false }
        for number in 0..<Limits.chunkWindow { try await phone.send([UInt8(number), 0]) }
        #expect(try phone.sendAtOnce([0xFF, 0]) == false)
        // All chunks are read, and the host sends nothing else that would carry its acknowledgement.
        for number in 0..<Limits.chunkWindow { #expect(try await host.receive() == [UInt8(number), 0]) }
        hostEnd.hasRoom.withLockedValue { $0 = true }
        try await phone.send([0xFF, 0])
        #expect(try await host.receive() == [0xFF, 0])
        phone.close()
        host.close()
    }

    @Test("a channel that is closed twice sends the end once")
    func oneEnd() async throws {
        let (end, other) = NarrowChannel.pair()
        end.staysWritable.withLockedValue { $0 = true }
        let channel = FramedChannel(end, framing: ChunkPieces())
        channel.close()
        channel.close()
        end.staysWritable.withLockedValue { $0 = false }
        end.close()
        #expect(try await other.receive()?.count == 1)
        #expect(try await other.receive() == nil)
    }

    @Test(
        "a side that gets what cannot be says that the link is over",
        arguments: [[[0x40]], [[0x41]], [[0x7E]], (0...UInt8(Limits.chunkWindow)).map { [$0, 0] }])
    func saysTheEnd(values: [[UInt8]]) async throws {
        let (phoneEnd, hostEnd) = NarrowChannel.pair()
        let host = WindowedChannel(hostEnd)
        for value in values { #expect(try phoneEnd.sendAtOnce(value)) }
        #expect(try await phoneEnd.receive() == [0])
        host.close()
    }
}

/// One end of a link that may have no room for the next value.
private final class NarrowChannel: BearerChannel {
    let endpoint = BearerEndpoint(address: "narrow")
    let sendMTU = 244
    let hasRoom = NIOLockedValueBox(true)
    /// Values that are sent after `close` still arrive, as with bluetoothd.
    let staysWritable = NIOLockedValueBox(false)
    private let incoming: AsyncStream<[UInt8]>
    private let outgoing: AsyncStream<[UInt8]>.Continuation
    private let own: AsyncStream<[UInt8]>.Continuation

    private init(
        _ incoming: AsyncStream<[UInt8]>, own: AsyncStream<[UInt8]>.Continuation,
        to outgoing: AsyncStream<[UInt8]>.Continuation
    ) {
        (self.incoming, self.own, self.outgoing) = (incoming, own, outgoing)
    }

    static func pair() -> (NarrowChannel, NarrowChannel) {
        let (one, toOne) = AsyncStream<[UInt8]>.makeStream()
        let (other, toOther) = AsyncStream<[UInt8]>.makeStream()
        return (NarrowChannel(one, own: toOne, to: toOther), NarrowChannel(other, own: toOther, to: toOne))
    }

    func send(_ sdu: [UInt8]) async throws(BearerError) { outgoing.yield(sdu) }

    func sendAtOnce(_ sdu: [UInt8]) throws(BearerError) -> Bool {
        guard hasRoom.withLockedValue({ $0 }) else { return false }
        outgoing.yield(sdu)
        return true
    }

    func receive() async throws(BearerError) -> [UInt8]? {
        for await sdu in incoming { return sdu }
        return nil
    }

    func signalStrength() async -> Int? { nil }

    func close() {
        own.finish()
        if !staysWritable.withLockedValue({ $0 }) { outgoing.finish() }
    }
}
