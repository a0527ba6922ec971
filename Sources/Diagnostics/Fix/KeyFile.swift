// SPDX-License-Identifier: Apache-2.0

/// A key and its value in a section of a key file.
public struct KeyFileSetting: Hashable, Sendable {
    /// The name of the section, without brackets.
    public var section: String
    /// The key.
    public var key: String
    /// The value of the key.
    public var value: String

    init(_ section: String, _ key: String, _ value: String) {
        self.section = section
        self.key = key
        self.value = value
    }

    /// The setting as a line.
    var line: String { "\(key)=\(value)" }
}

/// A key file in the format of bluetoothd's main.conf (GLib's GKeyFile): sections, keys, and comments that begin with
/// `#`.
///
/// Settings are added as new lines, and existing bytes do not change. So a default in a comment
/// (`#MinConnectionInterval=`) stays in the file. A file with other contents, or with a repeated section or key, is
/// refused, because only its author knows its meaning.
struct KeyFile {
    /// Why a file is refused. Lines are counted from 1.
    enum Refusal: Error, Hashable {
        case notText
        case unknownLine(Int)
        case keyOutsideSection(Int)
        case sectionTwice(String)
        case keyTwice(String, section: String)

        /// The rest of a sentence that begins with the file's name.
        var text: String {
            switch self {
            case .notText: "is not text in UTF-8"
            case .unknownLine(let line): "has a line \(line) that bluetoothd does not read"
            case .keyOutsideSection(let line): "has a key before any section, in line \(line)"
            case .sectionTwice(let name): "has the section [\(name)] twice"
            case .keyTwice(let key, let section): "has \(key) twice in [\(section)]"
            }
        }
    }

    private enum Content {
        case blank
        /// A comment, with its key if it contains a default.
        case comment(key: String?)
        case section(String)
        case entry(key: String, value: String)
    }

    private struct Line {
        /// The line's bytes, including its end.
        var range: Range<Int>
        var content: Content
        var section: String?
    }

    private let bytes: [UInt8]
    private var lines: [Line] = []
    /// The line end of this file.
    private let lineEnd: [UInt8]

    /// Reads a file.
    init(_ bytes: [UInt8]) throws(Refusal) {
        guard String(validating: bytes, as: UTF8.self) != nil, !bytes.contains(0),
            !bytes.starts(with: [0xEF, 0xBB, 0xBF])
        else { throw .notText }
        self.bytes = bytes
        lineEnd = Self.firstLineEnd(bytes)
        var start = 0
        var section: String?
        var seen: [String: Set<String>] = [:]
        while start < bytes.count {
            let end = (bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count - 1) + 1
            let number = lines.count + 1
            guard let content = Self.content(Self.text(bytes[start..<end])) else { throw .unknownLine(number) }
            switch content {
            case .section(let name):
                guard seen.updateValue([], forKey: name) == nil else { throw .sectionTwice(name) }
                section = name
            case .entry(let key, _):
                guard let section else { throw .keyOutsideSection(number) }
                guard seen[section, default: []].insert(key).inserted else { throw .keyTwice(key, section: section) }
            case .blank, .comment: break
            }
            lines.append(Line(range: start..<end, content: content, section: section))
            start = end
        }
    }

    /// The value of a key; nil if it is not set, or only in a comment.
    func value(of key: String, in section: String) -> String? {
        for line in lines where line.section == section {
            if case .entry(key, let value) = line.content { return value }
        }
        return nil
    }

    /// The file with these additional settings.
    func adding(_ settings: [KeyFileSetting]) -> [UInt8] {
        var insertions: [(offset: Int, bytes: [UInt8])] = []
        for setting in settings {
            guard let line = place(for: setting) else { continue }
            insertions.append((line.range.upperBound, written(setting.line, after: line)))
        }
        // Missing sections come last.
        let missing = settings.filter { place(for: $0) == nil }
        var sections: [String] = []
        for setting in missing where !sections.contains(setting.section) { sections.append(setting.section) }
        for (index, section) in sections.enumerated() {
            let lines = ["[\(section)]"] + missing.filter { $0.section == section }.map(\.line)
            insertions.append((bytes.count, appended(lines, isFirst: index == 0)))
        }
        var result: [UInt8] = []
        var offset = 0
        // The order is stable, so that settings added at one place keep their order.
        for (_, insertion) in insertions.enumerated().sorted(by: { ($0.1.offset, $0.0) < ($1.1.offset, $1.0) }) {
            result += bytes[offset..<insertion.offset] + insertion.bytes
            offset = insertion.offset
        }
        return result + bytes[offset...]
    }

    /// The line after which a setting is inserted: the comment with its default, else the last key of its section.
    private func place(for setting: KeyFileSetting) -> Line? {
        let section = lines.filter { $0.section == setting.section }
        let comment = section.last {
            if case .comment(setting.key) = $0.content { true } else { false }
        }
        return comment
            ?? section.last {
                switch $0.content {
                case .section, .entry: true
                case .blank, .comment: false
                }
            }
    }

    private func written(_ text: String, after line: Line) -> [UInt8] {
        bytes[line.range].last == UInt8(ascii: "\n") ? Array(text.utf8) + lineEnd : lineEnd + Array(text.utf8)
    }

    private func appended(_ texts: [String], isFirst: Bool) -> [UInt8] {
        let isUnfinished = isFirst && !bytes.isEmpty && bytes.last != UInt8(ascii: "\n")
        var isAfterBlank = bytes.isEmpty && isFirst
        if isFirst, let last = lines.last, case .blank = last.content { isAfterBlank = true }
        return (isUnfinished ? lineEnd : []) + (isAfterBlank ? [] : lineEnd)
            + texts.flatMap { Array($0.utf8) + lineEnd }
    }

    // MARK: Reading

    private static func firstLineEnd(_ bytes: [UInt8]) -> [UInt8] {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")), end > 0, bytes[end - 1] == UInt8(ascii: "\r") else {
            return [UInt8(ascii: "\n")]
        }
        return [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    }

    /// A line without its line end.
    private static func text(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }

    /// Parses a line (g_key_file_parse_line). Nil for an invalid line.
    private static func content(_ line: ArraySlice<UInt8>) -> Content? {
        guard !line.contains(UInt8(ascii: "\r")) else { return nil }
        let text = trimmed(line)
        switch text.first {
        case nil: return .blank
        case UInt8(ascii: "#"): return .comment(key: entry(trimmed(text.dropFirst()))?.key)
        case UInt8(ascii: "["):
            guard let end = text.firstIndex(of: UInt8(ascii: "]")), end == text.index(before: text.endIndex) else {
                return nil
            }
            let name = text[text.index(after: text.startIndex)..<end]
            guard !name.isEmpty, !name.contains(UInt8(ascii: "[")) else { return nil }
            return .section(String(decoding: name, as: UTF8.self))
        default: return entry(text).map { .entry(key: $0.key, value: $0.value) }
        }
    }

    private static func entry(_ text: ArraySlice<UInt8>) -> (key: String, value: String)? {
        guard let sign = text.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let key = trimmed(text[..<sign])
        guard !key.isEmpty else { return nil }
        return (
            String(decoding: key, as: UTF8.self),
            String(decoding: trimmed(text[text.index(after: sign)...]), as: UTF8.self)
        )
    }

    /// Removes white space at both ends (g_ascii_isspace).
    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        let start = bytes.drop(while: isSpace)
        guard let last = start.lastIndex(where: { !isSpace($0) }) else { return [] }
        return start[...last]
    }
}
