// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Decodes the bytes of a playlist. Few playlists specify their encoding, so an entry that is not UTF-8 has a reading
/// for each encoding in which its bytes are valid. The file names in the folder decide which one is right.
final class PlaylistDecoder {
    /// The encodings of older programs, by glibc's names: Western Europe, Japan, China, Korea, Cyrillic, Central
    /// Europe, Greek, Turkish, Hebrew, Arabic, Baltic, Vietnamese, Thai, DOS and Mac.
    private static let encodings = [
        "CP1252", "CP932", "EUC-JP", "GB18030", "BIG5", "UHC", "CP1251", "KOI8-R", "CP866", "CP1250", "CP1253",
        "CP1254",
        "CP1255", "CP1256", "CP1257", "CP1258", "CP874", "CP850", "CP852", "CP437", "MACINTOSH",
    ]

    /// Opened on first use, because glibc loads each from a file.
    private lazy var converters = Self.encodings.compactMap { name in
        iconv_open("UTF-8", name).flatMap { $0 == iconv_t(bitPattern: -1) ? nil : $0 }
    }
    private var hasConverters = false

    deinit { if hasConverters { for converter in converters { iconv_close(converter) } } }

    /// The lines of a playlist in ASCII or in an encoding that extends it.
    func lines(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var text = bytes[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            text = text.dropFirst(3)
        } else if let isLittleEndian = Self.isUTF16(bytes) {
            text = Self.utf8(bytes, isLittleEndian: isLittleEndian)[...]
        }
        return text.split { $0 == 0x0A || $0 == 0x0D }
    }

    /// The possible texts of an entry: as it is written, and without escapes.
    func readings(of entry: ArraySlice<UInt8>) -> [String] {
        let plain = texts(of: Array(entry))
        guard let unescaped = Self.unescaped(entry) else { return plain }
        // URLs contain escapes, and names seldom do.
        let isAddress = entry.starts(with: "file:".utf8) || entry.starts(with: "FILE:".utf8)
        return isAddress ? texts(of: unescaped) + plain : plain + texts(of: unescaped)
    }

    private func texts(of bytes: [UInt8]) -> [String] {
        if let text = String(validating: bytes, as: UTF8.self) { return [text] }
        hasConverters = true
        var texts: [String] = []
        for converter in converters {
            guard let text = Self.decoded(bytes, by: converter), !texts.contains(text) else { continue }
            texts.append(text)
        }
        return texts
    }

    private static func decoded(_ bytes: [UInt8], by converter: iconv_t) -> String? {
        // Resets the converter, because an earlier text may have ended within a character.
        iconv(converter, nil, nil, nil, nil)
        var input = bytes.map { CChar(bitPattern: $0) }
        var output = [CChar](repeating: 0, count: bytes.count * 4 + 4)
        let count: Int? = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                var (from, to) = (input.baseAddress, output.baseAddress)
                var (left, room) = (input.count, output.count)
                guard iconv(converter, &from, &left, &to, &room) != -1, left == 0 else { return nil }
                return output.count - room
            }
        }
        return count.map { String(decoding: output[..<$0].map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    }

    /// The bytes without escapes such as `%20`. Nil without escapes.
    private static func unescaped(_ entry: ArraySlice<UInt8>) -> [UInt8]? {
        guard entry.contains(UInt8(ascii: "%")) else { return nil }
        var bytes: [UInt8] = []
        var rest = entry
        var hasEscapes = false
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard byte == UInt8(ascii: "%"), digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(digits, radix: 16)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
            hasEscapes = true
        }
        return hasEscapes ? bytes : nil
    }

    /// Whether a text is UTF-16 and little-endian. Nil if it is not UTF-16. Without a byte-order mark the zero bytes of
    /// ASCII decide.
    private static func isUTF16(_ bytes: [UInt8]) -> Bool? {
        if bytes.starts(with: [0xFF, 0xFE]) { return true }
        if bytes.starts(with: [0xFE, 0xFF]) { return false }
        let (even, odd) = bytes.prefix(4_096).enumerated().reduce(into: (0, 0)) { count, byte in
            guard byte.element == 0 else { return }
            if byte.offset.isMultiple(of: 2) { count.0 += 1 } else { count.1 += 1 }
        }
        guard even + odd > 0, bytes.count > 1, max(even, odd) > 8 * min(even, odd) else { return nil }
        return odd > even
    }

    private static func utf8(_ bytes: [UInt8], isLittleEndian: Bool) -> [UInt8] {
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            let (low, high) = isLittleEndian ? (bytes[index], bytes[index + 1]) : (bytes[index + 1], bytes[index])
            return UInt16(high) << 8 | UInt16(low)
        }
        let text = String(decoding: units.first == 0xFEFF ? units[1...] : units[...], as: UTF16.self)
        return Array(text.utf8)
    }
}
