// SPDX-License-Identifier: Apache-2.0

/// An input that is read as a script: which step comes next, and with what. At its end everything is 0, so that each
/// input is a script and each change of one is a change of some step.
struct Script {
    private var rest: ArraySlice<UInt8>

    init(_ input: some Collection<UInt8>) {
        rest = Array(input)[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    /// Below a limit that is at most 256.
    mutating func number(below limit: Int) -> Int { Int(byte()) % limit }

    /// A number of a few digits, a large one, or one at an edge: the ways in which counters go wrong.
    mutating func counter() -> UInt64 {
        let kind = byte()
        switch kind >> 6 {
        case 0: return UInt64(kind)
        case 1: return UInt64(kind & 63) << 8 | UInt64(byte())
        case 2: return 1 << UInt64(kind & 63) &+ UInt64(byte()) &- 128
        default: return (0..<8).reduce(0) { value, _ in value << 8 | UInt64(byte()) }
        }
    }

    /// So many bytes, as far as there are any.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Bytes behind their number.
    mutating func chunk() -> [UInt8] {
        let count = Int(byte())
        return bytes(count < 128 ? count : (count - 128) << 8 | Int(byte()))
    }
}
