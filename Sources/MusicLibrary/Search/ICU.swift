// SPDX-License-Identifier: Apache-2.0

import _FoundationICU

#if compiler(>=6.3)
    // From Swift 6.3 on, Foundation's copy of ICU has a prefix.
    private let unorm2_getDecomposition = swift_unorm2_getDecomposition
    private let unorm2_getNFDInstance = swift_unorm2_getNFDInstance
    private let unorm2_getNFKCCasefoldInstance = swift_unorm2_getNFKCCasefoldInstance
    private let unorm2_normalize = swift_unorm2_normalize
    private let unum_close = swift_unum_close
    private let unum_formatInt64 = swift_unum_formatInt64
    private let unum_open = swift_unum_open
    private let uscript_getScript = swift_uscript_getScript
    private let utrans_close = swift_utrans_close
    private let utrans_openU = swift_utrans_openU
    private let utrans_transUChars = swift_utrans_transUChars
#endif

/// The functions of ICU that we use, from the copy in Swift's Foundation. Every thread can call them.
enum ICU {
    /// A text in NFKC_Casefold (UAX #44): without case, wide and narrow forms, ligatures and invisible characters.
    /// Texts that look the same have the same form.
    static func caseless(_ text: [UInt16]) -> [UInt16] {
        var code = U_ZERO_ERROR
        guard let normalizer = unorm2_getNFKCCasefoldInstance(&code) else { return text }
        return filled(text.count * 2 + 16) { buffer, room, code in
            unorm2_normalize(normalizer, text, Int32(text.count), buffer, room, &code)
        } ?? text
    }

    /// The base letter and the marks of a letter. Nil for a letter without marks.
    static func decomposition(_ letter: Unicode.Scalar) -> [Unicode.Scalar]? {
        var code = U_ZERO_ERROR
        guard let normalizer = unorm2_getNFDInstance(&code) else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 64) { buffer in
            let count = unorm2_getDecomposition(
                normalizer, Int32(letter.value), buffer.baseAddress, Int32(buffer.count), &code)
            guard count > 0, code.rawValue <= 0 else { return nil }
            return Array(String(decoding: buffer[..<Int(count)], as: UTF16.self).unicodeScalars)
        }
    }

    /// The script that a letter is written in.
    static func script(of letter: Unicode.Scalar) -> UScriptCode {
        var code = U_ZERO_ERROR
        return uscript_getScript(Int32(letter.value), &code)
    }

    /// Transliterates a text with one of ICU's transforms. It is slow, so use it only for tables that are built once.
    static func transformed(_ text: String, by transform: String) -> String {
        var code = U_ZERO_ERROR
        let name = Array(transform.utf16)
        let noRules: UnsafePointer<UInt16>? = nil
        guard let opened = utrans_openU(name, Int32(name.count), UTRANS_FORWARD, noRules, 0, nil, &code) else {
            return text
        }
        defer { utrans_close(opened) }
        var count = Int32(text.utf16.count), end = count
        let room = count * 4 + 64
        var buffer = Array(text.utf16) + Array(repeating: 0, count: Int(room - count))
        utrans_transUChars(opened, &buffer, &count, room, 0, &end, &code)
        return code.rawValue <= 0 ? String(decoding: buffer[..<Int(count)], as: UTF16.self) : text
    }

    /// Numbers spelled out in a language: "ninety-nine". Empty if ICU does not support it.
    static func spelled(_ numbers: ClosedRange<Int64>, in language: String) -> [String] {
        var code = U_ZERO_ERROR
        let noPattern: UnsafePointer<UInt16>? = nil
        guard let format = unum_open(UNUM_SPELLOUT, noPattern, 0, language, nil, &code) else { return [] }
        defer { unum_close(format) }
        return numbers.map { number in
            let text = filled(128) { unum_formatInt64(format, number, $0, $1, nil, &$2) }
            return text.map { String(decoding: $0, as: UTF16.self) } ?? ""
        }
    }

    /// ICU's output in a buffer that grows as needed. Nil if ICU fails.
    private static func filled(
        _ room: Int, _ write: (UnsafeMutablePointer<UInt16>?, Int32, inout UErrorCode) -> Int32
    ) -> [UInt16]? {
        var room = room
        while true {
            var code = U_ZERO_ERROR
            var needed: Int32 = 0
            let text = [UInt16](unsafeUninitializedCapacity: room) { buffer, count in
                needed = write(buffer.baseAddress, Int32(room), &code)
                count = min(max(Int(needed), 0), room)
            }
            if code == U_BUFFER_OVERFLOW_ERROR {
                room = Int(needed)
                continue
            }
            return code.rawValue <= 0 ? text : nil
        }
    }
}
