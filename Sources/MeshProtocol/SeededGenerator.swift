// SPDX-License-Identifier: Apache-2.0

/// Random numbers from a seed: SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators").
///
/// It does not use the standard library's random functions for ranges: they may change, and a seed must give the same
/// run with every compiler.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator. Equal seeds give equal numbers.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// A number from 0 to one less than the bound.
    public mutating func below(_ bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(max(1, bound))).high)
    }

    /// A number in a range.
    public mutating func pick(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + below(range.count)
    }

    /// One of these elements. Nil if the array is empty.
    public mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }

    /// True with this probability, in percent.
    public mutating func chance(_ percent: Int) -> Bool {
        below(100) < percent
    }

    /// A time in a range of milliseconds, to the microsecond.
    public mutating func time(_ milliseconds: ClosedRange<Int>) -> Duration {
        .microseconds(pick(milliseconds.lowerBound * 1_000...milliseconds.upperBound * 1_000))
    }

    /// A number from 0 to 1.
    public mutating func fraction() -> Double {
        Double(next() >> 11) / Double(UInt64(1) << 53)
    }

    /// Random bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            let bits = next()
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: bits >> shift))
            }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
