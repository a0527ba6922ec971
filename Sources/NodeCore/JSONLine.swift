// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Writes an object as one line of JSON with sorted keys, for programs and for files. Titles and names from other
/// devices can contain characters that control a terminal or change the direction of text. The line has them escaped
/// (RFC 8259, 7), so it can be shown unchanged.
public enum JSONLine {
    /// Returns the line without its line end. `isWide` breaks it into several lines for people.
    public static func text(_ object: some Encodable, isWide: Bool = false) -> String {
        do {
            return String(decoding: try data(object, isWide: isWide), as: UTF8.self)
        } catch {
            preconditionFailure("an object cannot be encoded: \(error)")
        }
    }

    /// Returns the line as UTF-8 bytes. Throws for a number that JSON cannot represent.
    public static func bytes(_ object: some Encodable) throws -> [UInt8] { Array(try data(object, isWide: false)) }

    private static func data(_ object: some Encodable, isWide: Bool) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if isWide { encoder.outputFormatting.insert(.prettyPrinted) }
        return escapingHidden(try encoder.encode(object))
    }

    /// Escapes DEL, C1 controls, line separators and direction marks. The encoder already escapes C0 controls.
    private static func escapingHidden(_ json: Data) -> Data {
        // Almost no line contains the bytes that such characters begin with.
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
