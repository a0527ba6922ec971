// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol

/// The limits of a file: their values in the program, and their reasons in the file.
struct LimitTable: Sendable {
    /// The unit of a number.
    enum Unit {
        case plain, bytes, kibibytes, seconds, milliseconds, microseconds
        /// 1.25 ms, the unit of connection intervals.
        case intervals
        case tensOfMilliseconds

        /// The unit in the name of a limit.
        init(of name: String) {
            let isRate = name.hasSuffix("PerSecond")
            self =
                if name.hasSuffix("Bytes") { .bytes } else if name.hasSuffix("KiB") { .kibibytes } else if isRate {
                    .plain
                } else if name.hasSuffix("Seconds") { .seconds } else if name.hasSuffix("Milliseconds") {
                    .milliseconds
                } else if name.hasSuffix("Microseconds") { .microseconds } else { .plain }
        }

        func quantity(_ number: Double) -> Quantity {
            switch self {
            case .plain: Quantity(number, .plain)
            case .bytes: Quantity(number, .bytes)
            case .kibibytes: Quantity(number * 1_024, .bytes)
            case .seconds: Quantity(number, .time)
            case .milliseconds: Quantity(number / 1_000, .time)
            case .microseconds: Quantity(number / 1_000_000, .time)
            case .intervals: Quantity(number * 0.00125, .time)
            case .tensOfMilliseconds: Quantity(number / 100, .time)
            }
        }
    }

    /// A limit.
    struct Entry: Sendable {
        var name: String
        /// Its value; two for a range, and more for a list.
        var quantities: [Quantity]
        /// Whether the quantities are the ends of a range.
        var isRange = false

        init(_ name: String, _ value: Any, in unit: Unit? = nil) {
            self.name = name
            let unit = unit ?? Unit(of: name)
            switch value {
            case let time as Duration: quantities = [Quantity(time / .seconds(1), .time)]
            case let range as ClosedRange<Int>:
                quantities = [range.lowerBound, range.upperBound].map { unit.quantity(Double($0)) }
                isRange = true
            case let list as [Int]: quantities = list.map { unit.quantity(Double($0)) }
            case let intervals as LinkIntervals: quantities = Self.lengths([intervals])
            case let list as [LinkIntervals]: quantities = Self.lengths(list)
            default:
                // The columns and rows of a size.
                let parts = Mirror(reflecting: value).children.map(\.value)
                let numbers = (parts.isEmpty ? [value] : parts).compactMap { Double("\($0)") }
                precondition(!numbers.isEmpty, "\(name) is of an unknown kind")
                quantities = numbers.map { unit.quantity($0) }
            }
        }

        private static func lengths(_ list: [LinkIntervals]) -> [Quantity] {
            list.flatMap { $0.brisk == $0.calm ? [$0.brisk] : [$0.brisk, $0.calm] }.map {
                Unit.intervals.quantity(Double($0))
            }
        }

        /// The value in a page's form.
        var text: String {
            if isRange, quantities[0] == quantities[1] { return quantities[0].text }
            guard isRange else { return quantities.map(\.text).joined(separator: ", ") }
            return "\(quantities[0].text) to \(quantities[1].text)"
        }
    }

    /// A file's text about a limit.
    struct Source: Equatable {
        var line: Int
        var name: String
        var reason: String
        /// The heading above it. Empty without one.
        var part: String
    }

    /// The type that has the limits.
    var type: String
    /// Its file.
    var path: String
    var entries: [Entry]

    init(_ type: String, _ path: String, of instance: Any? = nil, _ entries: [Entry] = []) {
        (self.type, self.path) = (type, path)
        let fields = instance.map { Mirror(reflecting: $0).children.map { Entry($0.label ?? "", $0.value) } } ?? []
        self.entries = fields + entries
    }

    /// All tables, in the page's order.
    static let all = [
        wire, democracyDJ, node, session, store, bearers, radio, lan, broker, dashboard, artwork, library, player,
        mediaKeys,
        terminal, control, fieldTest, fix, pipe, ping, bench,
    ]

    /// The limits that the file declares, with the comments above them.
    func sources() throws -> [Source] {
        var sources: [Source] = []
        var (comment, part, isInside) = ([String](), "", false)
        for line in try Page(path).lines {
            let text = line.text.trimmed
            if !isInside {
                isInside = text.hasSuffix("{") && text.contains(" \(type)")
                if isInside { comment = [] }
            } else if line.text == "}" {
                break
            } else if text.hasPrefix("// MARK: ") {
                part = String(text.dropFirst("// MARK: ".count))
            } else if text.hasPrefix("///") {
                comment.append(String(text.dropFirst(3)).trimmed)
            } else {
                let words = text.split(separator: " ", maxSplits: 6).map(String.init)
                if line.text.hasPrefix("    "), !line.text.hasPrefix("     "), let name = Self.declared(words) {
                    sources.append(
                        Source(line: line.number, name: name, reason: comment.joined(separator: " "), part: part))
                }
                comment = []
            }
        }
        return sources
    }

    /// The limit that a line declares: `static let guests`, or `var songs` of a type with smaller limits in tests.
    private static func declared(_ words: [String]) -> String? {
        let rest = words.drop { ["public", "package", "private"].contains($0) }
        let isStatic = rest.starts(with: ["static", "let"])
        guard isStatic || rest.first == "var", let name = rest.dropFirst(isStatic ? 2 : 1).first else { return nil }
        let bare = name.hasSuffix(":") ? String(name.dropLast()) : name
        return bare == "standard" ? nil : bare
    }
}
