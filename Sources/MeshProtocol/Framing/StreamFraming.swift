// SPDX-License-Identifier: Apache-2.0

/// SDUs over a stream of bytes: each behind its length (`docs/protocol.md`, "Streams"). For L2CAP channels that phones open, and
/// for TCP.
public enum StreamFraming {
    /// Bytes of the length in front of an SDU.
    public static let lengthBytes = 2

    /// An SDU with its length in front. It has 1 to `Limits.sduBytes` bytes.
    public static func framed(_ sdu: [UInt8]) -> [UInt8] {
        precondition((1...Limits.sduBytes).contains(sdu.count), "an SDU of \(sdu.count) bytes")
        var writer = WireWriter(reserving: lengthBytes + sdu.count)
        writer.integer(UInt16(sdu.count))
        writer.append(sdu)
        return writer.bytes
    }
}

/// Takes SDUs out of a stream whose bytes come in pieces of any size.
///
/// It keeps what belongs to the SDU that is under way, and at most one piece more: who reads takes all that is whole before the next
/// piece. After `broken` the stream makes no sense any more, and its link ends.
public struct StreamReader: Sendable {
    /// What is next in the stream.
    public enum Outcome: Hashable, Sendable {
        /// A whole SDU.
        case sdu([UInt8])
        /// More has to come.
        case incomplete
        /// A length of 0, or of more than an SDU may have.
        case broken
    }

    private var waiting: ArraySlice<UInt8> = []
    private var isBroken = false
    private let longest: Int

    /// A reader at the beginning of a stream. `longest` is what is taken, in bytes.
    public init(longest: Int = Limits.sduBytes) { self.longest = longest }

    /// Bytes that wait to become an SDU.
    public var byteCount: Int { waiting.count }

    /// More of the stream.
    public mutating func append(_ piece: some Sequence<UInt8>) {
        guard !isBroken else { return }
        // The slice would keep what was taken out of it.
        waiting = Array(waiting + piece)[...]
    }

    /// Takes the next SDU out.
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
