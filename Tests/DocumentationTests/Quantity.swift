// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// A number with its unit.
struct Quantity: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case plain, bytes, time
    }

    var number: Double
    var kind: Kind

    init(_ number: Double, _ kind: Kind) {
        // Sums of fractions of a second are no further apart than this.
        (self.number, self.kind) = ((number * 1e9).rounded() / 1e9, kind)
    }

    // MARK: The form in a page

    /// The number in the usual unit.
    var text: String {
        switch kind {
        case .plain where number >= 0x1p40: "2^\(Int(Double.log2(number)))"
        case .plain: Self.grouped(number)
        case .bytes:
            Self.inUnits(number, [(0x1p30, "GiB"), (0x1p20, "MiB"), (0x1p10, "KiB")]) ?? "\(Self.grouped(number)) bytes"
        case .time where number < 1: "\(Self.grouped(number * 1_000)) ms"
        case .time where number <= 120: "\(Self.grouped(number)) s"
        case .time:
            Self.inUnits(number, [(86_400, "days"), (3_600, "h"), (60, "min")]) ?? "\(Self.grouped(number)) s"
        }
    }

    private static func inUnits(_ number: Double, _ units: [(size: Double, name: String)]) -> String? {
        let unit = units.first { number >= $0.size && number.truncatingRemainder(dividingBy: $0.size) == 0 }
        return unit.map { "\(grouped(number / $0.size)) \($0.name)" }
    }

    /// For example 65,535 and 37.5.
    private static func grouped(_ number: Double) -> String {
        let rounded = (number * 1_000).rounded() / 1_000
        guard rounded == rounded.rounded() else { return "\(rounded)" }
        var digits = String(Int64(abs(rounded)))
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return (rounded < 0 ? "-" : "") + ([digits] + groups).joined(separator: ",")
    }

    // MARK: The form in prose

    /// A number of a text, with each possible quantity: one without a unit may have that of the next number.
    struct Written {
        var text: String
        var readings: [Quantity]
    }

    private static let units: [String: (size: Double, kind: Kind)] = [
        "ms": (0.001, .time), "s": (1, .time), "second": (1, .time), "seconds": (1, .time), "min": (60, .time),
        "minute": (60, .time), "minutes": (60, .time), "h": (3_600, .time), "hour": (3_600, .time),
        "hours": (3_600, .time), "day": (86_400, .time), "days": (86_400, .time), "bytes": (1, .bytes),
        "byte": (1, .bytes), "KiB": (0x1p10, .bytes), "MiB": (0x1p20, .bytes), "GiB": (0x1p30, .bytes),
    ]

    private static let words: [String: Double] = [
        "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
        "ten": 10,
        "sixteen": 16, "twenty": 20, "half": 0.5, "hundred": 100,
    ]

    /// The numbers of a text. With words, `five` is also a number.
    static func written(in text: String, words isWords: Bool = false) -> [Written] {
        let parts = text.split { !($0.isLetter || $0.isNumber || ",.^-".contains($0)) }.map { part in
            String(part).trimming(",.^")
        }
        var found: [(text: String, number: Double, unit: (size: Double, kind: Kind)?)] = []
        for (index, part) in parts.enumerated() {
            guard let number = value(part) ?? (isWords ? words[part.lowercased()] : nil) else { continue }
            let next = index + 1 < parts.count ? units[parts[index + 1]] : nil
            found.append((part, number, next))
        }
        return found.indices.map { index in
            let (text, number, unit) = found[index]
            if let unit { return Written(text: text, readings: [Quantity(number * unit.size, unit.kind)]) }
            let later = found[(index + 1)...].lazy.compactMap(\.unit).first
            return Written(
                text: text,
                readings: [Quantity(number, .plain)] + (later.map { [Quantity(number * $0.size, $0.kind)] } ?? []))
        }
    }

    /// For example `2,221`, `0.5`, `2^62`, `-80`.
    private static func value(_ text: String) -> Double? {
        let parts = text.split(separator: "^", omittingEmptySubsequences: false)
        let digits = parts[0].filter { $0 != "," }
        guard digits.contains(where: \.isNumber), let base = Double(String(digits)) else { return nil }
        guard parts.count == 2 else { return parts.count == 1 ? base : nil }
        return Int(parts[1]).map { exponent in (0..<exponent).reduce(1) { power, _ in power * base } }
    }
}

extension Double {
    /// The exponent of a power of two.
    fileprivate static func log2(_ number: Double) -> Double { Double(number.exponent) }
}

extension String {
    fileprivate func trimming(_ characters: String) -> String {
        var rest = self[...]
        while let first = rest.first, characters.contains(first) { rest = rest.dropFirst() }
        while let last = rest.last, characters.contains(last) { rest = rest.dropLast() }
        return String(rest)
    }
}
