// SPDX-License-Identifier: Apache-2.0

/// Writes the fields of a frame's body.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ value: UInt8) {
        bytes.append(value)
    }

    mutating func integer<Value: FixedWidthInteger & UnsignedInteger>(_ value: Value) {
        for shift in stride(from: Value.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> Value(shift)))
        }
    }

    /// A text of at most 255 bytes after its length; the callers' limits see to that.
    mutating func text(_ value: String) {
        let utf8 = Array(value.utf8)
        precondition(utf8.count <= 255, "a text field has at most 255 bytes")
        bytes.append(UInt8(utf8.count))
        bytes += utf8
    }
}

/// Reads the fields of a frame's body. Every read is bounds checked and ends in nil, never in a trap.
struct WireReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    mutating func byte() -> UInt8? {
        rest.popFirst()
    }

    mutating func integer<Value: FixedWidthInteger & UnsignedInteger>(_: Value.Type = Value.self) -> Value? {
        let count = Value.bitWidth / 8
        guard rest.count >= count else { return nil }
        let value = rest.prefix(count).reduce(into: Value(0)) { $0 = $0 << 8 | Value($1) }
        rest = rest.dropFirst(count)
        return value
    }

    mutating func text(atMost limit: Int) -> String? {
        guard let count = rest.popFirst(), Int(count) <= limit, rest.count >= Int(count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return String(validating: rest.prefix(Int(count)), as: UTF8.self)
    }
}
