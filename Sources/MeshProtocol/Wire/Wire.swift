// SPDX-License-Identifier: Apache-2.0

/// Writes the fields of packets and frames (`docs/protocol.md`, "Fields").
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    init(reserving capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    mutating func byte(_ value: UInt8) {
        bytes.append(value)
    }

    mutating func append(_ more: some Sequence<UInt8>) {
        bytes += more
    }

    mutating func integer<Value: FixedWidthInteger & UnsignedInteger>(_ value: Value) {
        for shift in stride(from: Value.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Value(shift)))
        }
    }

    /// Seven bits per byte, the low ones first. The high bit means that more bytes follow.
    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// A text of at most 255 bytes after its length. The callers' limits ensure this.
    mutating func text(_ value: String) {
        let utf8 = value.utf8
        precondition(utf8.count <= 255, "a text field has at most 255 bytes")
        bytes.append(UInt8(utf8.count))
        bytes += utf8
    }

    /// Bytes that `varint` writes for a value.
    static func varintBytes(_ value: UInt64) -> Int {
        max(1, (UInt64.bitWidth - value.leadingZeroBitCount + 6) / 7)
    }
}

/// Reads the fields of packets and frames. Every read checks the bounds and returns nil at an error; it never traps. It
/// returns slices of its input, without copies.
struct WireReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? {
        rest.popFirst()
    }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func integer<Value: FixedWidthInteger & UnsignedInteger>(_: Value.Type = Value.self) -> Value? {
        bytes(Value.bitWidth / 8)?.reduce(into: Value(0)) { $0 = $0 << 8 | Value($1) }
    }

    /// A varint of at most 64 bits. Nil if it is cut off or larger.
    mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            let bits = UInt64(byte & 0x7F)
            guard shift < 63 || bits <= 1 else { return nil }
            value |= bits << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }

    /// A varint that is a count of bytes. No valid length exceeds 32 bits.
    mutating func count() -> Int? {
        varint().flatMap { $0 <= UInt64(UInt32.max) ? Int($0) : nil }
    }

    mutating func text(atMost limit: Int) -> String? {
        guard let count = rest.popFirst(), Int(count) <= limit, let bytes = bytes(Int(count)) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
