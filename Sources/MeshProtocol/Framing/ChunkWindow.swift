// SPDX-License-Identifier: Apache-2.0

/// Limits the chunks in transit. GATT accepts everything and does not report delivery (`docs/protocol.md`, "Chunks").
/// So the receiver acknowledges chunks, and the sender waits for this. Each link has one window.
public struct ChunkWindow: Sendable {
    /// The kind of a received value.
    public enum Arrival: Hashable, Sendable {
        /// A chunk, to be read in order.
        case chunk
        /// An acknowledgement of some of this side's chunks.
        case acknowledgement
        /// Too many chunks in transit, data after the end, or an acknowledgement of unsent chunks. The link must end.
        case broken
    }

    static let acknowledgement: UInt8 = 0x40
    private static let kind: UInt8 = 0xC0

    /// The number of the next chunk to send, and how many before it are unacknowledged.
    private var next: UInt8 = 0
    private var underWay = 0
    /// The other side's chunks: the number of the next one to read, the number of chunks that wait to be read, and the
    /// number that must be acknowledged.
    private var nextTaken: UInt8 = 0
    private var waiting = 0
    private var unacknowledged = 0
    /// The other side has reported the end.
    private var hasEnded = false

    /// A window at the beginning of a link.
    public init() {}

    /// Whether a chunk may be sent now.
    public var hasRoom: Bool { underWay < Limits.chunkWindow }

    /// A chunk is being sent.
    public mutating func sent() {
        underWay += 1
        next = (next + 1) & ChunkHeader.number
    }

    /// The last chunk was not sent.
    public mutating func unsent() {
        underWay -= 1
        next = (next &- 1) & ChunkHeader.number
    }

    /// A value has arrived.
    public mutating func arrived(_ value: [UInt8]) -> Arrival {
        guard value.count == 1, let header = value.first, header & Self.kind == Self.acknowledgement else {
            // Without this check, a peer that ends a link again and again could fill the memory of a slow reader.
            guard !hasEnded else { return .broken }
            // The end is not counted as a chunk. The reader handles it.
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

    /// A received chunk was read. Returns the acknowledgement to send, if one is due.
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
