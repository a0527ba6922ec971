// SPDX-License-Identifier: Apache-2.0

@testable import MeshProtocol

/// SDUs over streams and over chunks. A cut SDU is reassembled from pieces of any size. Arbitrary bytes fill no more
/// than the buffer, and the reader stops at the first malformed data.
enum FramingTarget {
    static func run(_ input: [UInt8]) throws {
        guard let kind = input.first else { return }
        var script = Script(input.dropFirst())
        switch kind % 5 {
        case 0: try stream(&script)
        case 1: try cutStream(&script)
        case 2: try chunks(&script)
        case 3: try cutChunks(&script)
        default: try window(&script)
        }
    }

    /// An SDU of the length that the script gives. Each byte shows its position.
    private static func sdu(_ script: inout Script) -> [UInt8] {
        let count = min(1 + script.number(below: 256) * script.number(below: 10), Limits.sduBytes)
        return (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    }

    // MARK: Streams

    /// Arbitrary bytes, in pieces of any size.
    private static func stream(_ script: inout Script) throws {
        var reader = StreamReader()
        var isBroken = false
        while !script.isAtEnd {
            reader.append(script.chunk())
            reading: while true {
                switch reader.next() {
                case .sdu(let sdu):
                    try invariant(!isBroken, "the reader ignores a broken stream")
                    try invariant((1...Limits.sduBytes).contains(sdu.count), "an SDU of \(sdu.count) bytes")
                case .incomplete:
                    try invariant(!isBroken, "a stream stays broken")
                    break reading
                case .broken:
                    isBroken = true
                    break reading
                }
            }
            try invariant(
                reader.byteCount < StreamFraming.lengthBytes + Limits.sduBytes, "\(reader.byteCount) bytes are kept")
            try invariant(!isBroken || reader.byteCount == 0, "a broken stream keeps nothing")
        }
    }

    private static func cutStream(_ script: inout Script) throws {
        let sdus = (0...script.number(below: 6)).map { _ in sdu(&script) }
        var rest = sdus.flatMap(StreamFraming.framed)[...]
        var reader = StreamReader()
        var read: [[UInt8]] = []
        while !rest.isEmpty {
            // At the script's end, all remaining bytes.
            let piece = script.isAtEnd ? rest : rest.prefix(1 + script.number(below: 256))
            rest = rest.dropFirst(piece.count)
            reader.append(piece)
            while case .sdu(let sdu) = reader.next() { read.append(sdu) }
        }
        try invariant(read == sdus, "SDUs arrive complete and in order")
        try invariant(reader.byteCount == 0, "the buffer is empty after the last SDU")
    }

    // MARK: Chunks

    /// Arbitrary chunks, at arbitrary times.
    private static func chunks(_ script: inout Script) throws {
        var reader = ChunkReader()
        var now = MeshInstant.zero
        var fault: ChunkReader.Fault?
        while !script.isAtEnd {
            if script.flag() { now += .milliseconds(100 * script.number(below: 256)) }
            let outcome = reader.add(script.chunk(), now: now)
            if let fault { try invariant(outcome == .broken(fault), "\(fault) is followed by \(outcome)") }
            switch outcome {
            case .sdu(let sdu):
                try invariant((1...Limits.sduBytes).contains(sdu.count), "an SDU of \(sdu.count) bytes")
                try invariant(reader.deadline == nil && reader.byteCount == 0, "a complete SDU leaves no bytes")
            case .incomplete:
                try invariant(reader.byteCount < Limits.sduBytes, "\(reader.byteCount) bytes are kept")
                let deadline = reader.deadline ?? .zero
                try invariant(deadline > now && deadline <= now + Limits.chunkTimeout, "buffered bytes have a deadline")
            case .ended: try invariant(reader.byteCount == 0 && reader.deadline == nil, "an ended link keeps nothing")
            case .broken(let new):
                fault = new
                try invariant(reader.byteCount == 0 && reader.deadline == nil, "a broken link keeps nothing")
            }
        }
    }

    /// Two ends of a link that send, take and deliver in any order. If both keep to the window, the chunks in flight
    /// stay within the limit and the link never stalls. A forged value ends the link.
    private static func window(_ script: inout Script) throws {
        var ends = [ChunkWindow(), ChunkWindow()]
        // The values in transit to each end, and the chunks that have arrived and wait.
        var onTheWay: [[[UInt8]]] = [[], []]
        var waiting: [[[UInt8]]] = [[], []]
        var isForged = false
        func take(at end: Int) throws {
            guard let chunk = waiting[end].first else { return }
            waiting[end].removeFirst()
            if let told = ends[end].taken(chunk) { onTheWay[1 - end].append(told) }
        }
        func deliver(to end: Int) throws -> Bool {
            guard !onTheWay[end].isEmpty else { return true }
            let value = onTheWay[end].removeFirst()
            switch ends[end].arrived(value) {
            case .chunk: waiting[end].append(value)
            case .acknowledgement: break
            case .broken:
                try invariant(isForged, "a link ends although both sides keep to the window")
                return false
            }
            // The end of the link waits with the chunks.
            try invariant(waiting[end].count <= Limits.chunkWindow + 1, "\(waiting[end].count) chunks wait")
            return true
        }
        while !script.isAtEnd {
            let end = script.number(below: 2)
            switch script.number(below: 8) {
            case 0...2 where ends[end].hasRoom:
                ends[end].sent()
                onTheWay[1 - end].append([0, 0])
            case 3, 4: guard try deliver(to: end) else { return }
            case 5, 6: try take(at: end)
            case 7:
                isForged = true
                onTheWay[end].append(script.chunk())
            default: break
            }
        }
        guard !isForged else { return }
        while !onTheWay.allSatisfy(\.isEmpty) || !waiting.allSatisfy(\.isEmpty) {
            for end in 0...1 {
                _ = try deliver(to: end)
                try take(at: end)
            }
        }
        try invariant(ends.allSatisfy(\.hasRoom), "an end has room again once all chunks are taken")
    }

    /// SDUs cut for packets of changing sizes. A missing or repeated chunk ends the link.
    private static func cutChunks(_ script: inout Script) throws {
        var writer = ChunkWriter()
        var reader = ChunkReader()
        for _ in 0...script.number(below: 8) {
            let sdu = sdu(&script)
            let room = ChunkWriter.leastPacketBytes + script.number(below: 256) * (1 + script.number(below: 3))
            let chunks = writer.chunks(of: sdu, room: room)
            var damaged = reader
            var outcome = ChunkReader.Outcome.incomplete
            for chunk in chunks {
                try invariant(outcome == .incomplete, "an SDU is complete only with its last chunk")
                try invariant(chunk.count <= room, "a chunk of \(chunk.count) bytes was made for \(room)")
                outcome = reader.add(chunk, now: .zero)
            }
            try invariant(outcome == .sdu(sdu), "an SDU of \(sdu.count) bytes is reassembled")
            let place = script.number(below: chunks.count)
            let isDoubled = script.flag()
            let wrong = chunks[..<place] + (isDoubled ? [chunks[place], chunks[place]] : []) + chunks[(place + 1)...]
            let outcomes = wrong.map { damaged.add($0, now: .zero) }
            // A missing last chunk is noticed only when the next SDU begins.
            let isSeen = isDoubled || place + 1 < chunks.count
            try invariant(!isSeen || outcomes.last == .broken(.gap), "a missing or repeated chunk is noticed")
        }
    }
}
