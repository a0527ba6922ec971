// SPDX-License-Identifier: Apache-2.0

/// What one side's radio knows of a link and the other side's cannot (`docs/protocol.md`, "Air").
///
/// A hint: whoever gets one may do without it.
public struct AirNote: Hashable, Sendable {
    /// Connection intervals that no other link of the sender has. From responders: the initiator's controller sets them.
    public var intervals: LinkIntervals?

    /// A note.
    public init(intervals: LinkIntervals? = nil) {
        self.intervals = intervals
    }

    fileprivate enum Part {
        static let intervals: UInt8 = 1
    }
}

/// The connection intervals of one link, in units of 1.25 ms (Core specification, Vol 4, Part E, 7.8.18).
public struct LinkIntervals: Hashable, Sendable {
    /// While data flows.
    public var brisk: Int
    /// While nothing is said.
    public var calm: Int

    /// A pair of intervals. What is less or more than `Limits.intervalUnits` counts as the least or the most of them.
    public init(brisk: Int, calm: Int) {
        let units = Limits.intervalUnits
        self.brisk = min(max(brisk, units.lowerBound), units.upperBound)
        self.calm = min(max(calm, units.lowerBound), units.upperBound)
    }
}

extension WireWriter {
    mutating func airNote(_ note: AirNote) {
        guard let intervals = note.intervals else { return }
        var value = WireWriter()
        value.varint(UInt64(intervals.brisk))
        value.varint(UInt64(intervals.calm))
        byte(AirNote.Part.intervals)
        varint(UInt64(value.bytes.count))
        append(value.bytes)
    }
}

extension WireReader {
    /// Reads a note up to the end of its frame. Nil where a part is cut off or comes twice.
    mutating func airNote() -> AirNote? {
        var note = AirNote()
        var seen: Set<UInt8> = []
        while !isAtEnd {
            guard let type = byte(), let count = count(), let value = bytes(count), seen.insert(type).inserted else {
                return nil
            }
            guard type == AirNote.Part.intervals else { continue }
            var part = WireReader(value)
            guard let brisk = part.varint(), let calm = part.varint() else { return nil }
            note.intervals = LinkIntervals(brisk: Int(clamping: brisk), calm: Int(clamping: calm))
        }
        return note
    }
}
