// SPDX-License-Identifier: Apache-2.0

/// How many chunks are under way at a time, since GATT takes everything and tells nobody what has become of it
/// (`docs/protocol.md`, "Chunks"): who takes chunks acknowledges them, and who sends them waits for that. One of each link.
public struct ChunkWindow: Sendable {
    /// What a value of the other side is.
    public enum Arrival: Hashable, Sendable {
        /// A chunk, to be read in its turn.
        case chunk
        /// Some of this side's chunks have been taken.
        case acknowledgement
        /// More than may be under way, anything behind the end, or an acknowledgement of what was not sent: the link ends.
        case broken
    }

    static let acknowledgement: UInt8 = 0x40
    private static let kind: UInt8 = 0xC0

    /// The number of the next chunk that leaves, and how many before it are not acknowledged.
    private var next: UInt8 = 0
    private var underWay = 0
    /// Of the other side's chunks: the number of the next that is taken, how many wait for that, and how many are to be acknowledged.
    private var nextTaken: UInt8 = 0
    private var waiting = 0
    private var unacknowledged = 0
    /// The other side has said that it is over.
    private var hasEnded = false

    /// A window at the beginning of a link.
    public init() {}

    /// Whether a chunk may leave now.
    public var hasRoom: Bool { underWay < Limits.chunkWindow }

    /// A chunk leaves.
    public mutating func sent() {
        underWay += 1
        next = (next + 1) & ChunkHeader.number
    }

    /// That one has not left.
    public mutating func unsent() {
        underWay -= 1
        next = (next &- 1) & ChunkHeader.number
    }

    /// A value has arrived.
    public mutating func arrived(_ value: [UInt8]) -> Arrival {
        guard value.count == 1, let header = value.first, header & Self.kind == Self.acknowledgement else {
            // Else who ends a link again and again could fill the memory of who does not read.
            guard !hasEnded else { return .broken }
            // The end is told beside the others. What it means is for who reads.
            hasEnded = value.count == 1
            guard !hasEnded else { return .chunk }
            waiting += 1
            return waiting + unacknowledged <= Limits.chunkWindow ? .chunk : .broken
        }
        let oldest = (next &- UInt8(underWay)) & ChunkHeader.number
        let count = Int(((header & ChunkHeader.number) &+ 1 &- oldest) & ChunkHeader.number)
        guard count <= underWay else { return .broken }
        underWay -= count
        return .acknowledgement
    }

    /// A chunk that had arrived has been taken. What is to be sent for it, if anything is.
    public mutating func taken(_ value: [UInt8]) -> [UInt8]? {
        guard value.count != 1 else { return nil }
        waiting -= 1
        unacknowledged += 1
        nextTaken = (nextTaken + 1) & ChunkHeader.number
        guard unacknowledged >= Limits.chunkAcknowledgements else { return nil }
        unacknowledged = 0
        return [Self.acknowledgement | (nextTaken &- 1) & ChunkHeader.number]
    }
}
