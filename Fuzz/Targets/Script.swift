// SPDX-License-Identifier: Apache-2.0

/// Reads an input as a script: the next step, and its arguments. After its end every value is 0, so every input is a
/// script and each mutation changes a step.
struct Script {
    private var rest: ArraySlice<UInt8>

    init(_ input: some Collection<UInt8>) {
        rest = Array(input)[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    /// A number below a limit of at most 256.
    mutating func number(below limit: Int) -> Int { Int(byte()) % limit }

    /// A small number, a large one, or one at a boundary: the values at which counters fail.
    mutating func counter() -> UInt64 {
        let kind = byte()
        switch kind >> 6 {
        case 0: return UInt64(kind)
        case 1: return UInt64(kind & 63) << 8 | UInt64(byte())
        case 2: return 1 << UInt64(kind & 63) &+ UInt64(byte()) &- 128
        default: return (0..<8).reduce(0) { value, _ in value << 8 | UInt64(byte()) }
        }
    }

    /// The next bytes, fewer at the end.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// A length, and as many bytes.
    mutating func chunk() -> [UInt8] {
        let count = Int(byte())
        return bytes(count < 128 ? count : (count - 128) << 8 | Int(byte()))
    }
}
