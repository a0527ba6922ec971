// SPDX-License-Identifier: Apache-2.0

/// Names as people type them: without capitals, without accents, and with whatever apostrophe their keyboard has.
public enum TypedName {
    /// The form of a name that is compared with typed text. Letters of different meaning stay different: only marks
    /// over and under Latin, Greek and Cyrillic letters are left out.
    public static func folded(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return text.contains("`") ? text.replacing("`", with: "'").lowercased() : text.lowercased()
        }
        var folded = String.UnicodeScalarView()
        // ß is SS in capitals, and İ is i with a dot.
        for scalar in text.uppercased().lowercased().unicodeScalars where !isMark(scalar) {
            switch scalar.value {
            case let value where apostrophes.contains(value): folded.append("'")
            // Full-width forms of ASCII.
            case 0xFF01...0xFF5E: folded.append(Unicode.Scalar(UInt8(scalar.value - 0xFEE0)))
            default: folded.append(contentsOf: letters[scalar]?.unicodeScalars ?? String(scalar).unicodeScalars)
            }
        }
        return String(folded).lowercased()
    }

    /// Whether a typed text means this name.
    public static func isMeant(_ name: String, by typed: String) -> Bool { folded(name) == folded(typed) }

    /// The characters that keyboards and programs write for an apostrophe: ` ´ ʹ ʻ ʼ ʽ ‘ ’ ‛ ′ ＇.
    private static let apostrophes: Set<UInt32> = [
        0x60, 0xB4, 0x2B9, 0x2BB, 0x2BC, 0x2BD, 0x2018, 0x2019, 0x201B, 0x2032, 0xFF07,
    ]

    /// A mark that sits on the letter before it.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x300...0x36F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
        default: false
        }
    }

    /// Letters with marks and the letters without them. Their Unicode names show this: LATIN SMALL LETTER E WITH ACUTE.
    private static let letters: [Unicode.Scalar: String] = {
        let blocks: [ClosedRange<UInt32>] = [0x41...0x5A, 0x61...0x7A, 0xC0...0x52F, 0x1E00...0x1FFF]
        let scalars = blocks.joined().compactMap(Unicode.Scalar.init)
        let named = Dictionary(
            scalars.compactMap { scalar in scalar.properties.name.map { ($0, scalar) } },
            uniquingKeysWith: { first, _ in first })
        var letters: [Unicode.Scalar: String] = ["æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ё": "е", "ς": "σ"]
        for (name, scalar) in named {
            guard let end = name.firstRange(of: " WITH "), let plain = named[String(name[..<end.lowerBound])] else {
                continue
            }
            letters[scalar] = String(plain)
        }
        return letters
    }()
}
