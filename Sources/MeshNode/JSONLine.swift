// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// An object of ours as programs get it, and as it is kept: one line of JSON, keys in order. Titles and names from other devices can
/// contain characters that a terminal obeys or that turn the direction of text. They are escaped (RFC 8259, 7), so that a line can be
/// shown as it is.
public enum JSONLine {
    /// The line, without its end. `isWide` breaks it into lines for a person.
    public static func text(_ object: some Encodable, isWide: Bool = false) -> String {
        do {
            return String(decoding: try data(object, isWide: isWide), as: UTF8.self)
        } catch {
            preconditionFailure("an object of ours cannot be encoded: \(error)")
        }
    }

    /// The same as bytes of UTF-8. Throws for a number that is none.
    public static func bytes(_ object: some Encodable) throws -> [UInt8] { Array(try data(object, isWide: false)) }

    private static func data(_ object: some Encodable, isWide: Bool) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isWide { encoder.outputFormatting.insert(.prettyPrinted) }
        return escapingHidden(try encoder.encode(object))
    }

    /// Escapes DEL, C1 controls, line separators and marks of direction. An encoder escapes C0 controls by itself.
    private static func escapingHidden(_ json: Data) -> Data {
        // Nearly every line has none of the bytes that such characters begin with.
        guard json.contains(where: { $0 == 0x7F || $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 }) else { return json }
        let text = String(decoding: json, as: UTF8.self)
        guard text.unicodeScalars.contains(where: isEscaped) else { return json }
        var escaped = ""
        escaped.reserveCapacity(json.count + 64)
        for scalar in text.unicodeScalars {
            guard isEscaped(scalar) else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return Data(escaped.utf8)
    }

    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
