// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// An object of ours as programs get it, and as it is kept: one line of JSON, keys in order.
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
        return try encoder.encode(object)
    }
}
