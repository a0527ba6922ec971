// SPDX-License-Identifier: Apache-2.0

/// SDUs over a stream of bytes, each after its length (`docs/protocol.md`, "Streams"). Used for L2CAP channels that
/// phones open, and for TCP.
public enum StreamFraming {
    /// Bytes of the length before an SDU.
    public static let lengthBytes = 2

    /// An SDU, preceded by its length. It must have 1 to `Limits.sduBytes` bytes.
    public static func framed(_ sdu: [UInt8]) -> [UInt8] {
        precondition((1...Limits.sduBytes).contains(sdu.count), "an SDU of \(sdu.count) bytes")
        var writer = WireWriter(reserving: lengthBytes + sdu.count)
        writer.integer(UInt16(sdu.count))
        writer.append(sdu)
        return writer.bytes
    }
}

/// Extracts SDUs from a stream that arrives in pieces of any size.
///
/// It keeps the bytes of the current SDU and at most one more piece: the caller reads all complete SDUs before the next
/// piece. After `broken` the stream is invalid and its link must end.
public struct StreamReader: Sendable {
    /// The next result of the stream.
    public enum Outcome: Hashable, Sendable {
        /// A complete SDU.
        case sdu([UInt8])
        /// The SDU is incomplete.
        case incomplete
        /// A length of 0, or above the maximum.
        case broken
    }

    private var waiting: ArraySlice<UInt8> = []
    private var isBroken = false
    private let longest: Int

    /// A reader at the beginning of a stream. `longest` is the largest accepted SDU, in bytes.
    public init(longest: Int = Limits.sduBytes) { self.longest = longest }

    /// Bytes of an incomplete SDU.
    public var byteCount: Int { waiting.count }

    /// Adds a piece of the stream.
    public mutating func append(_ piece: some Sequence<UInt8>) {
        guard !isBroken else { return }
        // A slice would keep the bytes that were already read.
        waiting = Array(waiting + piece)[...]
    }

    /// Returns the next SDU.
    public mutating func next() -> Outcome {
        guard !isBroken else { return .broken }
        var reader = WireReader(waiting)
        guard let length = reader.integer(UInt16.self).map(Int.init) else { return .incomplete }
        guard (1...longest).contains(length) else {
            (isBroken, waiting) = (true, [])
            return .broken
        }
        guard let sdu = reader.bytes(length) else { return .incomplete }
        waiting = reader.rest
        return .sdu(Array(sdu))
    }
}
