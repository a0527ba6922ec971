// SPDX-License-Identifier: Apache-2.0

/// A hash of all events, in order: FNV-1a with 64 bits. Two runs with the same hash were the same.
public struct TraceHash: Hashable, Sendable {
    /// The hash so far.
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash of no events.
    public init() {}

    /// Adds a number, for instance another hash.
    public mutating func add(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
    }

    mutating func add(_ bytes: [UInt8]) {
        for byte in bytes { add(byte) }
    }

    mutating func add(_ numbers: [Int]) {
        for number in numbers { add(number) }
    }

    mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte) }
    }

    mutating func add(_ number: Int) {
        add(UInt64(bitPattern: Int64(number)))
    }

    mutating func add(_ time: Duration) {
        add(Int(time.components.seconds))
        add(Int(time.components.attoseconds))
    }
}
