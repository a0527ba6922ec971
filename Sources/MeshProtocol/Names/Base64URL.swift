// SPDX-License-Identifier: Apache-2.0

/// Bytes as text for URLs: Base64 with the URL-safe alphabet, without padding (RFC 4648, 5).
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let values = Dictionary(uniqueKeysWithValues: zip(alphabet, UInt32(0)...))

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0...group.count { text.append(alphabet[Int(bits >> UInt32(18 - 6 * place)) & 63]) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil for any other text, and for one that `text` would write differently.
    static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for digit in text.utf8 {
            guard let value = values[digit] else { return nil }
            (bits, count) = (bits << 6 | value, count + 6)
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        // The rest must be less than a digit, and zero.
        return count < 6 && bits & ((1 << count) - 1) == 0 ? bytes : nil
    }
}
