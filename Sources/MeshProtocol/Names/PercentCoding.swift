// SPDX-License-Identifier: Apache-2.0

/// Encodes any text for a URL (RFC 3986, 2.1).
package enum PercentCoding {
    /// A text in the form for a path.
    package static func encoded(_ text: String) -> String {
        text.utf8.map { plain.contains($0) ? String(UnicodeScalar($0)) : "%" + Hex.text([$0]) }.joined()
    }

    /// Bytes that need no encoding.
    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8)

    /// The decoded text of a path. Nil if it is invalid.
    package static func decoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard let value = Hex.bytes(digits), value.count == 1 else { return nil }
            bytes += value
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// A field of a query in the form of HTML forms, in which a plus is a space.
    package static func field(_ name: String, of query: String?) -> String? {
        for part in (query ?? "").split(separator: "&") where part.hasPrefix(name + "=") {
            return decoded(part.dropFirst(name.count + 1).map { $0 == "+" ? " " : String($0) }.joined())
        }
        return nil
    }
}
