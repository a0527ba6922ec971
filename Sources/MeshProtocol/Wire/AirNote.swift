// SPDX-License-Identifier: Apache-2.0

/// Facts about a link that only one side's radio knows (`docs/protocol.md`, "Air").
///
/// A note is a hint, and the receiver may ignore it.
public struct AirNote: Hashable, Sendable {
    /// Connection intervals that no other link of the sender has. Sent by responders, since the initiator's controller
    /// sets the intervals.
    public var intervals: LinkIntervals?
    /// Time of this link's dial, from its beginning until the link was up. Sent by initiators that had heard the
    /// responder just before. The radio received two advertisements in this time, so the responder's advertising
    /// interval is not longer than this time.
    public var dialTime: DialTime?

    /// A note.
    public init(intervals: LinkIntervals? = nil, dialTime: DialTime? = nil) {
        self.intervals = intervals
        self.dialTime = dialTime
    }

    /// Whether the note is empty.
    public var isEmpty: Bool { self == AirNote() }

    fileprivate enum Part {
        static let intervals: UInt8 = 1
        static let dialTime: UInt8 = 2
    }
}

/// Time of a dial until the link was up.
public struct DialTime: Hashable, Sendable, Comparable {
    /// The time in milliseconds.
    public var milliseconds: Int

    /// A time, clamped to `Limits.dialMilliseconds`.
    public init(milliseconds: Int) {
        self.milliseconds = Limits.dialMilliseconds.clamping(milliseconds)
    }

    /// A shorter time is less.
    public static func < (one: Self, other: Self) -> Bool { one.milliseconds < other.milliseconds }
}

/// The connection intervals of one link, in units of 1.25 ms (Core specification, Vol 4, Part E, 7.8.18).
public struct LinkIntervals: Hashable, Sendable {
    /// The interval while data flow.
    public var brisk: Int
    /// The interval while the link is idle.
    public var calm: Int

    /// A pair of intervals, clamped to `Limits.intervalUnits`.
    public init(brisk: Int, calm: Int) {
        self.brisk = Limits.intervalUnits.clamping(brisk)
        self.calm = Limits.intervalUnits.clamping(calm)
    }
}

extension ClosedRange<Int> {
    fileprivate func clamping(_ value: Int) -> Int { Swift.min(Swift.max(value, lowerBound), upperBound) }
}

extension WireWriter {
    mutating func airNote(_ note: AirNote) {
        if let intervals = note.intervals { part(AirNote.Part.intervals, [intervals.brisk, intervals.calm]) }
        if let time = note.dialTime { part(AirNote.Part.dialTime, [time.milliseconds]) }
    }

    private mutating func part(_ type: UInt8, _ numbers: [Int]) {
        var value = WireWriter()
        for number in numbers { value.varint(UInt64(number)) }
        byte(type)
        varint(UInt64(value.bytes.count))
        append(value.bytes)
    }
}

extension WireReader {
    /// Reads a note up to the end of its frame. Nil if a part is cut off or occurs twice.
    mutating func airNote() -> AirNote? {
        var note = AirNote()
        var seen: Set<UInt8> = []
        while !isAtEnd {
            guard let type = byte(), let count = count(), let value = bytes(count), seen.insert(type).inserted else {
                return nil
            }
            var part = WireReader(value)
            switch type {
            case AirNote.Part.intervals:
                guard let brisk = part.varint(), let calm = part.varint() else { return nil }
                note.intervals = LinkIntervals(brisk: Int(clamping: brisk), calm: Int(clamping: calm))
            case AirNote.Part.dialTime:
                guard let time = part.varint() else { return nil }
                note.dialTime = DialTime(milliseconds: Int(clamping: time))
            default: continue
            }
        }
        return note
    }
}
