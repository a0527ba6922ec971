// SPDX-License-Identifier: Apache-2.0

/// A part of a message that does not fit a record (`docs/protocol.md`, "Fragments").
public struct Fragment: Hashable, Sendable {
    /// The position of a fragment's data.
    public enum Position: Hashable, Sendable {
        /// The beginning of a unit of this many bytes.
        case first(total: Int)
        /// The fragment continues the current unit after this many bytes.
        case next(offset: Int)
    }

    /// The lane. Units of one class follow each other; those of the other class may come in between.
    public var lane: MessageClass
    /// The position of the data.
    public var position: Position
    /// Some of the unit's bytes.
    public var data: ArraySlice<UInt8>

    private static let latestBit: UInt8 = 1
    private static let firstBit: UInt8 = 2

    init(lane: MessageClass, position: Position, data: ArraySlice<UInt8>) {
        self.lane = lane
        self.position = position
        self.data = data
    }

    init?(_ reader: inout WireReader) {
        guard let flags = reader.byte(), let number = reader.varint().map(Int.init(clamping:)) else { return nil }
        lane = flags & Self.latestBit == 0 ? .reliable : .latest
        position = flags & Self.firstBit == 0 ? .next(offset: number) : .first(total: number)
        data = reader.rest
    }

    /// Bytes of the fragment's body.
    var byteCount: Int { Self.overhead(of: position) + data.count }

    /// Bytes of the body without the data.
    static func overhead(of position: Position) -> Int { 1 + WireWriter.varintBytes(number(of: position)) }

    private static func number(of position: Position) -> UInt64 {
        switch position {
        case .first(let total): UInt64(total)
        case .next(let offset): UInt64(offset)
        }
    }

    func write(into writer: inout WireWriter) {
        var flags: UInt8 = lane == .latest ? Self.latestBit : 0
        if case .first = position { flags |= Self.firstBit }
        writer.byte(flags)
        writer.varint(Self.number(of: position))
        writer.append(data)
    }
}

/// Splits one unit into fragments.
struct Fragmenter: Sendable {
    private let lane: MessageClass
    private let unit: [UInt8]
    private var sent = 0

    /// If fewer bytes of data fit, a fragment is not worth its header. The rest of the record stays empty.
    private static let leastData = 16

    init(_ unit: [UInt8], lane: MessageClass) {
        self.unit = unit
        self.lane = lane
    }

    /// The next frame of at most this many bytes: the complete unit if it fits, else a fragment. Nil if there is no
    /// room for either.
    mutating func next(fitting room: Int) -> Frame? {
        if sent == 0, Frame.headerBytes(body: unit.count) + unit.count <= room {
            sent = unit.count
            return .message(unit[...])
        }
        let position: Fragment.Position = sent == 0 ? .first(total: unit.count) : .next(offset: sent)
        let header = Frame.headerBytes(body: room) + Fragment.overhead(of: position)
        let count = min(room - header, unit.count - sent)
        guard count >= min(Self.leastData, unit.count - sent), count > 0 else { return nil }
        defer { sent += count }
        return .fragment(Fragment(lane: lane, position: position, data: unit[sent..<sent + count]))
    }

    var isDone: Bool { sent == unit.count }
}

/// Reassembles the fragments of one lane. They come from an authenticated peer.
struct Reassembler: Sendable {
    private var unit: [UInt8] = []
    private var total = 0

    /// The result of a fragment.
    enum Outcome: Hashable, Sendable {
        /// The unit is incomplete.
        case incomplete
        /// The unit is complete.
        case complete([UInt8])
        /// The fragment does not continue the current unit, or exceeds the unit's end or the limit.
        case broken
    }

    /// Received bytes of the unit.
    var byteCount: Int { unit.count }

    mutating func add(_ fragment: Fragment) -> Outcome {
        switch fragment.position {
        case .first(let size):
            guard total == 0, size > 0, size <= Limits.unitBytes else { return .broken }
            total = size
        case .next(let offset):
            guard total > 0, offset == unit.count else { return .broken }
        }
        guard !fragment.data.isEmpty, unit.count + fragment.data.count <= total else { return .broken }
        unit += fragment.data
        guard unit.count == total else { return .incomplete }
        defer { self = Reassembler() }
        return .complete(unit)
    }
}
