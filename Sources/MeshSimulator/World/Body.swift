// SPDX-License-Identifier: Apache-2.0

/// What applications say here: which message it is, and bytes that show that it has arrived whole.
enum Body: Hashable {
    case message(Int)
    case update(Int, channel: Int)

    /// Bytes before the padding.
    static let headerBytes = 9

    static func message(_ number: Int, padding: Int) -> [UInt8] { bytes(1, number, 0, padding) }

    static func update(_ revision: Int, channel: Int, padding: Int) -> [UInt8] { bytes(2, revision, channel, padding) }

    private static func bytes(_ kind: UInt8, _ first: Int, _ second: Int, _ padding: Int) -> [UInt8] {
        var bytes = [kind]
        for number in [first, second] {
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        return bytes + (0..<padding).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ first) }
    }

    /// What somebody has said, or nil where it is not whole.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headerBytes else { return nil }
        let first = bytes[1..<5].reduce(0) { $0 << 8 | Int($1) }
        let second = bytes[5..<9].reduce(0) { $0 << 8 | Int($1) }
        guard bytes == Self.bytes(bytes[0], first, second, bytes.count - Self.headerBytes) else { return nil }
        switch bytes[0] {
        case 1 where second == 0: self = .message(first)
        case 2: self = .update(first, channel: second)
        default: return nil
        }
    }
}
