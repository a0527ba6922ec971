// SPDX-License-Identifier: Apache-2.0

/// SDUs over packets that are too small for them: GATT's writes and notifications (`docs/protocol.md`, "Chunks").
///
/// A chunk begins with one byte: whether it is the first and the last of its SDU, and its number, which grows by one
/// with each chunk of a direction. The first chunk also has the SDU's length.
enum ChunkHeader {
    static let first: UInt8 = 0x80
    static let last: UInt8 = 0x40
    /// The bits of the number, which starts at 0 again after the highest.
    static let number: UInt8 = 0x3F

    /// Bytes before the data.
    static func bytes(isFirst: Bool) -> Int { isFirst ? 1 + StreamFraming.lengthBytes : 1 }
}

/// Splits the SDUs of one direction into chunks.
public struct ChunkWriter: Sendable {
    /// Bytes of the smallest packet: those of a GATT value without a negotiated MTU (Core specification, Vol 3, Part G,
    /// 5.2.1: an ATT MTU of 23).
    public static let leastPacketBytes = 20

    private var number: UInt8 = 0

    /// A writer at the beginning of a link.
    public init() {}

    /// Reports that this side has closed the link, which GATT cannot report.
    public var end: [UInt8] { [number] }

    /// The chunks of an SDU of 1 to `Limits.sduBytes` bytes. Each has at most `room` bytes, which must be at least
    /// `leastPacketBytes`.
    public mutating func chunks(of sdu: [UInt8], room: Int) -> [[UInt8]] {
        precondition((1...Limits.sduBytes).contains(sdu.count), "an SDU of \(sdu.count) bytes")
        precondition(room >= Self.leastPacketBytes, "chunks of \(room) bytes")
        var chunks: [[UInt8]] = []
        var rest = sdu[...]
        repeat {
            let isFirst = chunks.isEmpty
            let data = rest.prefix(room - ChunkHeader.bytes(isFirst: isFirst))
            rest = rest.dropFirst(data.count)
            var writer = WireWriter(reserving: room)
            writer.byte((isFirst ? ChunkHeader.first : 0) | (rest.isEmpty ? ChunkHeader.last : 0) | number)
            if isFirst { writer.integer(UInt16(sdu.count)) }
            writer.append(data)
            chunks.append(writer.bytes)
            number = (number + 1) & ChunkHeader.number
        } while !rest.isEmpty
        return chunks
    }
}

/// Reassembles the chunks of one direction. The sender is untrusted: a chunk that does not continue the last one ends
/// the link.
public struct ChunkReader: Sendable {
    /// The result of a chunk.
    public enum Outcome: Hashable, Sendable {
        /// The SDU is complete.
        case sdu([UInt8])
        /// The SDU is incomplete.
        case incomplete
        /// The other side has closed the link.
        case ended
        /// The link must end.
        case broken(Fault)
    }

    /// Why a link ends.
    public enum Fault: Hashable, Sendable {
        /// A chunk is missing, or arrived twice.
        case gap
        /// An invalid or unexpected chunk: without data, a second first chunk, or more or fewer bytes than the length.
        case malformed
        /// An SDU without bytes, or one that exceeds the maximum length.
        case length
        /// The rest of an SDU did not arrive in time.
        case late
    }

    private var sdu: [UInt8] = []
    private var length = 0
    private var number: UInt8 = 0
    private var fault: Fault?
    private var hasEnded = false
    /// Deadline for the remaining chunks of the current SDU.
    public private(set) var deadline: MeshInstant?

    /// A reader at the beginning of a link.
    public init() {}

    /// Bytes of an incomplete SDU.
    public var byteCount: Int { sdu.count }

    /// Handles the next chunk. After `ended` and `broken` the result stays the same.
    public mutating func add(_ chunk: some Collection<UInt8>, now: MeshInstant) -> Outcome {
        let outcome = fault.map { Outcome.broken($0) } ?? taken(Array(chunk)[...], now: now)
        switch outcome {
        case .sdu, .incomplete: break
        case .ended: (sdu, deadline, hasEnded) = ([], nil, true)
        case .broken(let new): (sdu, deadline, fault) = ([], nil, new)
        }
        return outcome
    }

    /// Time has passed. Returns whether the link must end because the rest of an SDU is late.
    public mutating func isLate(now: MeshInstant) -> Bool {
        guard let deadline, now >= deadline else { return fault != nil }
        (sdu, self.deadline, fault) = ([], nil, .late)
        return true
    }

    private mutating func taken(_ chunk: ArraySlice<UInt8>, now: MeshInstant) -> Outcome {
        guard !isLate(now: now) else { return .broken(.late) }
        var reader = WireReader(chunk)
        guard let header = reader.byte() else { return .broken(.malformed) }
        if hasEnded || reader.isAtEnd && header & (ChunkHeader.first | ChunkHeader.last) == 0 { return .ended }
        guard header & ChunkHeader.number == number else { return .broken(.gap) }
        number = (number + 1) & ChunkHeader.number
        guard (header & ChunkHeader.first != 0) == (length == 0) else { return .broken(.malformed) }
        if length == 0 {
            guard let announced = reader.integer(UInt16.self).map(Int.init) else { return .broken(.malformed) }
            guard (1...Limits.sduBytes).contains(announced) else { return .broken(.length) }
            (length, deadline) = (announced, now + Limits.chunkTimeout)
        }
        guard !reader.rest.isEmpty, sdu.count + reader.rest.count <= length else { return .broken(.malformed) }
        sdu += reader.rest
        guard (header & ChunkHeader.last != 0) == (sdu.count == length) else { return .broken(.malformed) }
        guard sdu.count == length else { return .incomplete }
        defer { (sdu, length, deadline) = ([], 0, nil) }
        return .sdu(sdu)
    }
}
