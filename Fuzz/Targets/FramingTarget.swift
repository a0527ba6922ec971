// SPDX-License-Identifier: Apache-2.0

@testable import MeshProtocol

/// SDUs over streams and over chunks: what is cut is whole again however it is cut, and what anybody else writes never grows, and
/// is nothing any more once it has made no sense.
enum FramingTarget {
    static func run(_ input: [UInt8]) throws {
        guard let kind = input.first else { return }
        var script = Script(input.dropFirst())
        switch kind % 4 {
        case 0: try stream(&script)
        case 1: try cutStream(&script)
        case 2: try chunks(&script)
        default: try cutChunks(&script)
        }
    }

    /// As long as the script says, with bytes that tell where they were.
    private static func sdu(_ script: inout Script) -> [UInt8] {
        let count = min(1 + script.number(below: 256) * script.number(below: 10), Limits.sduBytes)
        return (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    }

    // MARK: Streams

    /// Bytes of anybody, in pieces of any size.
    private static func stream(_ script: inout Script) throws {
        var reader = StreamReader()
        var isBroken = false
        while !script.isAtEnd {
            reader.append(script.chunk())
            reading: while true {
                switch reader.next() {
                case .sdu(let sdu):
                    try invariant(!isBroken, "nothing is read of a broken stream")
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
            // At the script's end, all that is left.
            let piece = script.isAtEnd ? rest : rest.prefix(1 + script.number(below: 256))
            rest = rest.dropFirst(piece.count)
            reader.append(piece)
            while case .sdu(let sdu) = reader.next() { read.append(sdu) }
        }
        try invariant(read == sdus, "SDUs are whole again in order")
        try invariant(reader.byteCount == 0, "nothing is left of them")
    }

    // MARK: Chunks

    /// Chunks of anybody, at any time.
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
                try invariant(reader.deadline == nil && reader.byteCount == 0, "a whole SDU leaves nothing")
            case .incomplete:
                try invariant(reader.byteCount < Limits.sduBytes, "\(reader.byteCount) bytes are kept")
                let deadline = reader.deadline ?? .zero
                try invariant(deadline > now && deadline <= now + Limits.chunkTimeout, "what is kept has its time")
            case .ended: try invariant(reader.byteCount == 0 && reader.deadline == nil, "an ended link keeps nothing")
            case .broken(let new):
                fault = new
                try invariant(reader.byteCount == 0 && reader.deadline == nil, "a broken link keeps nothing")
            }
        }
    }

    /// SDUs cut for packets of one size after another; a chunk that is left out or doubled ends the link.
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
                try invariant(outcome == .incomplete, "an SDU is whole with its last chunk")
                try invariant(chunk.count <= room, "a chunk of \(chunk.count) bytes was made for \(room)")
                outcome = reader.add(chunk, now: .zero)
            }
            try invariant(outcome == .sdu(sdu), "an SDU of \(sdu.count) bytes is whole again")
            let place = script.number(below: chunks.count)
            let isDoubled = script.flag()
            let wrong = chunks[..<place] + (isDoubled ? [chunks[place], chunks[place]] : []) + chunks[(place + 1)...]
            let outcomes = wrong.map { damaged.add($0, now: .zero) }
            // The last one alone is missed when the next SDU begins.
            let isSeen = isDoubled || place + 1 < chunks.count
            try invariant(!isSeen || outcomes.last == .broken(.gap), "a chunk is missed, or told from its twin")
        }
    }
}
