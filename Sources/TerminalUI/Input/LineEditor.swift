// SPDX-License-Identifier: Apache-2.0

import CEditLine
import Glibc
import MeshProtocol

/// Edits the line at a prompt as shells do: libedit with its keys, its history and the user's `~/.editrc`.
///
/// It neither reads the terminal nor draws, so the panel below the prompt can change at any time. A program has one
/// editor.
struct LineEditor {
    /// A person's action.
    enum Event: Hashable {
        /// The person has entered a line.
        case entered(String)
        /// Ctrl-D was pressed on an empty line.
        case ended
        /// Several lines begin with the typed text.
        case listed([String])
    }

    /// The current line at the prompt.
    private(set) var typed = TypedLine()

    /// Whether this system can edit lines. libedit needs a pseudo-terminal, which a chroot may lack.
    static let isAvailable = ceditline_begin(TerminalLimits.historyLines)

    /// Call it only if `isAvailable`.
    init() { precondition(Self.isAvailable, "there is no pseudo-terminal for the line editor") }

    /// Handles typed bytes. `completions` returns the lines that begin with its argument.
    mutating func take(_ bytes: ArraySlice<UInt8>, completions: (String) -> [String]) -> [Event] {
        bytes.withUnsafeBufferPointer { ceditline_feed($0.baseAddress, $0.count) }
        var events: [Event] = []
        while true {
            let event = ceditline_next()
            switch event {
            case ceditline_entered: events.append(.entered(String(cString: ceditline_line())))
            case ceditline_ended: events.append(.ended)
            case ceditline_completing: complete(completions, &events)
            default:
                typed = TypedLine(text: String(cString: ceditline_typed()), cursor: ceditline_cursor())
                return events
            }
        }
    }

    private func complete(_ completions: (String) -> [String], _ events: inout [Event]) {
        let line = TypedLine(text: String(cString: ceditline_typed()), cursor: ceditline_cursor())
        let lines = completions(String(line.text[..<line.cursor]))
        guard let first = lines.first else { return }
        ceditline_replace(lines.dropFirst().reduce(first, Self.commonPrefix))
        if lines.count > 1 { events.append(.listed(lines)) }
    }

    /// The common beginning of two lines, ignoring case, in the form of the first.
    private static func commonPrefix(_ one: String, _ other: String) -> String {
        let common = zip(one, other).prefix { $0.lowercased() == $1.lowercased() }
        return String(one.prefix(common.count))
    }
}

/// The typed text at a prompt, and the position of the cursor.
struct TypedLine: Hashable {
    var prompt = "> "
    var text = ""
    var cursor: String.Index

    init() { cursor = text.startIndex }

    /// Reads the text of the line editor. The cursor is `cursor` bytes after its beginning. During a search of the
    /// history, the editor's prompt and the search text follow the line (`CEditLine.h`, `ceditline_typed`).
    init(text: String, cursor: Int) {
        let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        self.text = String(parts.first ?? "")
        if parts.count > 1 { prompt = Self.searchPrompt(parts[1]) }
        let place =
            self.text.utf8.index(self.text.startIndex, offsetBy: cursor, limitedBy: self.text.endIndex)
            ?? self.text.endIndex
        self.cursor = String.Index(place, within: self.text.unicodeScalars) ?? self.text.endIndex
    }

    /// The prompt that shells show during a search.
    private static func searchPrompt(_ search: Substring) -> String {
        let kind = search.hasPrefix("fwd") ? "i-search" : "reverse-i-search"
        let failed = search.dropFirst(3).first == "?" ? "failed " : ""
        return "(\(failed)\(kind))`\(search.dropFirst(4))': "
    }

    /// The part of the text that fits, including the cursor, and the cursor's column.
    func shown(columns: Int) -> (text: String, column: Int) {
        let before = UntrustedText.shown(prompt) + UntrustedText.shown(String(text[..<cursor]))
        let after = UntrustedText.shown(String(text[cursor...]))
        // The cursor needs its own column.
        let room = columns - 1
        guard ShownText.width(before) > room else {
            return (ShownText.cut(before + after, to: columns), ShownText.width(before))
        }
        let end = ShownText.end(of: before, columns: room - 1)
        return (ShownText.cut("…" + end + after, to: columns), 1 + ShownText.width(end))
    }
}
