// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("SDUs over streams")
struct StreamFramingTests {
    private let sdus: [[UInt8]] = [
        [1], [2, 3], Array(repeating: 4, count: 255), Array(repeating: 5, count: Limits.sduBytes),
    ]

    @Test("SDUs arrive complete and in order, wherever the other side cuts", arguments: [1, 2, 3, 20, 244, 10_000])
    func cuts(size: Int) {
        let stream = sdus.flatMap(StreamFraming.framed)
        var reader = StreamReader()
        var taken: [[UInt8]] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            reader.append(stream[start..<min(start + size, stream.count)])
            while case .sdu(let sdu) = reader.next() { taken.append(sdu) }
            #expect(reader.byteCount < StreamFraming.lengthBytes + Limits.sduBytes)
        }
        #expect(taken == sdus)
        #expect(reader.byteCount == 0)
    }

    @Test("a stream has the document's format")
    func bytes() {
        #expect(StreamFraming.framed([0xAA, 0xBB]) == [0x00, 0x02, 0xAA, 0xBB])
        #expect(StreamFraming.framed(Array(repeating: 0, count: 0x0201)).prefix(2) == [0x02, 0x01])
    }

    @Test(
        "a stream ends at an invalid length, and keeps nothing after it", arguments: [0, Limits.sduBytes + 1, 65_535])
    func broken(length: Int) {
        var reader = StreamReader()
        reader.append(StreamFraming.framed([7]) + [UInt8(length >> 8), UInt8(length & 255), 1, 2, 3])
        let (first, second) = (reader.next(), reader.next())
        #expect(first == .sdu([7]))
        #expect(second == .broken)
        reader.append([UInt8](repeating: 0, count: 10_000) + StreamFraming.framed([8]))
        let last = reader.next()
        #expect(last == .broken)
        #expect(reader.byteCount == 0)
    }
}

@Suite("SDUs over chunks")
struct ChunkFramingTests {
    private func read(_ chunks: [[UInt8]], at now: MeshInstant = .zero) -> [ChunkReader.Outcome] {
        var reader = ChunkReader()
        return chunks.map { reader.add($0, now: now) }
    }

    @Test("SDUs arrive complete and in order, in chunks of any size", arguments: [20, 21, 244, 509, 3_000])
    func sizes(room: Int) {
        var writer = ChunkWriter()
        var reader = ChunkReader()
        for size in [1, 2, 16, 17, 18, 19, 36, 241, 512, Limits.sduBytes, 3, Limits.sduBytes] {
            let sdu = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            let outcomes = writer.chunks(of: sdu, room: room).map { chunk in
                #expect(chunk.count <= room)
                return reader.add(chunk, now: .zero)
            }
            #expect(outcomes.last == .sdu(sdu))
            #expect(outcomes.dropLast().allSatisfy { $0 == .incomplete })
            #expect(reader.byteCount == 0 && reader.deadline == nil)
        }
    }

    @Test("chunks have the document's format")
    func bytes() {
        var writer = ChunkWriter()
        let short = writer.chunks(of: [0x68, 0x69], room: 20)
        #expect(short == [[0xC0, 0x00, 0x02, 0x68, 0x69]])
        let long = writer.chunks(of: Array(0..<20), room: 20)
        #expect(long == [[0x81, 0x00, 0x14] + Array(0..<17), [0x42, 17, 18, 19]])
        // After 63 the numbers start again.
        for _ in 3..<63 { _ = writer.chunks(of: [1], room: 20) }
        let (last, first) = (writer.chunks(of: [1], room: 20), writer.chunks(of: [1], room: 20))
        #expect(last == [[0xFF, 0x00, 0x01, 0x01]])
        #expect(first == [[0xC0, 0x00, 0x01, 0x01]])
    }

    @Test("a link ends if a chunk is missing, repeated or out of order")
    func gaps() {
        var writer = ChunkWriter()
        let chunks = writer.chunks(of: Array(repeating: 9, count: 60), room: 20)
        #expect(chunks.count == 4)
        for missing in 0..<3 {
            var some = chunks
            some.remove(at: missing)
            #expect(read(some).dropFirst(missing).allSatisfy { $0 == .broken(.gap) })
        }
        #expect(read([chunks[0], chunks[0]]).last == .broken(.gap))
        #expect(read([chunks[0], chunks[2], chunks[1]]).last == .broken(.gap))
    }

    @Test(
        "a link ends if chunks contradict themselves",
        arguments: [
            ([[]], .malformed), ([[0xC0]], .malformed), ([[0xC0, 0]], .malformed), ([[0xC0, 0, 1]], .malformed),
            ([[0xC0, 0, 0]], .length), ([[0x80, 0x08, 0xAE, 1]], .length), ([[0xC0, 0xFF, 0xFF, 1]], .length),
            // A later chunk without a first one; a first one within an SDU.
            ([[0x00, 1]], .malformed), ([[0x40, 1]], .malformed), ([[0x80, 0, 2, 1], [0x81, 0, 2, 1]], .malformed),
            // Longer and shorter than the length, and a complete SDU without a last chunk.
            ([[0xC0, 0, 1, 1, 2]], .malformed), ([[0xC0, 0, 2, 1]], .malformed), ([[0x80, 0, 1, 1]], .malformed),
            ([[0x80, 0, 2, 1], [0x41]], .malformed), ([[0x80, 0, 2, 1], [0x41, 2, 3]], .malformed),
        ] as [([[UInt8]], ChunkReader.Fault)])
    func malformed(chunks: [[UInt8]], fault: ChunkReader.Fault) {
        var reader = ChunkReader()
        var last = ChunkReader.Outcome.incomplete
        for chunk in chunks { last = reader.add(chunk, now: .zero) }
        #expect(last == .broken(fault))
        #expect(reader.byteCount == 0)
        // Later chunks are refused too, even valid ones.
        let after = reader.add([0xC1, 0, 1, 1], now: .zero)
        #expect(after == .broken(fault))
    }

    @Test("a link ends when the other side ends it, in an SDU too", arguments: [[], [[0x80, 0, 2, 1]]] as [[[UInt8]]])
    func ended(before: [[UInt8]]) {
        var reader = ChunkReader()
        for chunk in before { _ = reader.add(chunk, now: .zero) }
        var writer = ChunkWriter()
        _ = writer.chunks(of: [1, 2, 3], room: 20)
        let outcomes = [reader.add(writer.end, now: .zero), reader.add([0xC1, 0, 1, 1], now: .seconds(60))]
        #expect(outcomes == [.ended, .ended])
        #expect(reader.byteCount == 0 && reader.deadline == nil)
    }

    @Test("an SDU must be complete within ten seconds, and an incomplete one is then dropped")
    func late() {
        var reader = ChunkReader()
        #expect(reader.deadline == nil)
        let begun = reader.add([0x80, 0, 3, 1], now: .seconds(1))
        #expect(begun == .incomplete)
        #expect(reader.deadline == .seconds(1) + Limits.chunkTimeout)
        // Further chunks do not extend the time.
        let more = reader.add([0x01, 2], now: .seconds(9))
        #expect(more == .incomplete)
        var watched = reader
        let (before, after) = (watched.isLate(now: .seconds(10)), watched.isLate(now: .seconds(11)))
        #expect(!before && after && watched.byteCount == 0)
        let late = reader.add([0x42, 3], now: .seconds(11))
        #expect(late == .broken(.late))
    }
}
