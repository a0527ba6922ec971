// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("Frames")
struct FrameTests {
    static let peer = Peer(id: "00112233445566778899aabbccddeeff", name: "Ana")
    static var examples: [Frame] {
        [
            .appStart(Introduction(peer: peer)), .selfInfo(Introduction(peer: peer, version: 9)),
            .refusal(.full), .message([]), .message([1, 2, 3]), .message(Array(repeating: 7, count: 65_535)),
            .ping(0), .pong(.max), .goodbye,
        ]
    }

    private func frames(_ decoder: inout FrameDecoder) -> [FrameDecoder.Result] {
        var results: [FrameDecoder.Result] = []
        while true {
            let result = decoder.next()
            if result == .incomplete { return results }
            results.append(result)
        }
    }

    @Test("what is sent arrives as it was, however it is cut into SDUs", arguments: [1, 2, 3, 4, 245, 2_221])
    func roundTrip(sduBytes: Int) {
        let bytes = Self.examples.flatMap(\.bytes)
        var decoder = FrameDecoder()
        var results: [FrameDecoder.Result] = []
        for start in stride(from: 0, to: bytes.count, by: sduBytes) {
            decoder.append(Array(bytes[start..<min(start + sduBytes, bytes.count)]))
            results += frames(&decoder)
        }
        #expect(results == Self.examples.map { .frame($0) })
        #expect(decoder.bufferedBytes == 0)
    }

    @Test("a small vote costs three bytes more than its body")
    func overhead() {
        #expect(Frame.message([1, 2, 3]).bytes == [0, 3, 4, 1, 2, 3])
        #expect(Frame.goodbye.bytes == [0, 0, 7])
    }

    @Test("a frame of a newer version is skipped, and what follows is read")
    func unknownType() {
        var decoder = FrameDecoder()
        decoder.append([0, 2, 99, 1, 2] + Frame.goodbye.bytes)
        #expect(frames(&decoder) == [.skipped(type: 99), .frame(.goodbye)])
    }

    @Test(
        "a frame that lacks what its type needs is malformed",
        arguments: [
            [0, 0, 1], [0, 1, 1, 1], [0, 3, 1, 1, 1, 65], [0, 2, 1, 1, 0], [0, 3, 2, 1, 0, 0],
            [0, 4, 1, 1, 1, 0xFF, 0], [0, 4, 1, 1, 1, 65, 200], [0, 0, 3], [0, 1, 3, 77], [0, 3, 5, 1, 2, 3],
            [0, 3, 6, 1, 2, 3],
        ] as [[UInt8]])
    func malformed(bytes: [UInt8]) {
        var decoder = FrameDecoder()
        decoder.append(bytes)
        #expect(decoder.next() == .malformed(type: bytes[2]))
    }

    @Test("an identifier longer than the limit is malformed, a name is cleaned")
    func introductions() {
        let long = Peer(id: String(repeating: "a", count: Limits.peerIDBytes + 1), name: "x")
        var decoder = FrameDecoder()
        decoder.append(Frame.appStart(Introduction(peer: long)).bytes)
        #expect(decoder.next() == .malformed(type: 1))

        decoder = FrameDecoder()
        decoder.append(Frame.appStart(Introduction(peer: Peer(id: "1", name: " \u{1B}[2JBob\n\u{202E} "))).bytes)
        #expect(decoder.next() == .frame(.appStart(Introduction(peer: Peer(id: "1", name: "[2JBob")))))
    }

    @Test("random bytes never crash the decoder, and never grow it beyond its limit")
    func garbage() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            var decoder = FrameDecoder()
            for _ in 0..<20 {
                let count = Int.random(in: 0...Limits.sduBytes, using: &generator)
                decoder.append((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
                _ = frames(&decoder)
                #expect(decoder.bufferedBytes < Limits.frameBufferBytes)
            }
        }
    }
}

/// SplitMix64: random numbers that are the same each time.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
