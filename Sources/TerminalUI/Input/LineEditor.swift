// SPDX-License-Identifier: Apache-2.0

import CReadline
import Glibc
import MeshProtocol

/// Edits the line at a prompt as people expect it: GNU readline with its keys, its history and whatever `~/.inputrc` says. It
/// neither reads nor draws, so it lives beside a panel that changes by itself. readline is one in a program, and so is this.
struct LineEditor {
    /// What a person has done.
    enum Event: Hashable {
        /// A line was entered.
        case entered(String)
        /// Ctrl-D on an empty line.
        case ended
        /// Several lines begin as typed.
        case listed([String])
    }

    /// The line that stands at the prompt.
    private(set) var typed = TypedLine()

    init() {
        creadline_begin(typed.prompt)
    }

    /// Takes what was typed. `completions` says what a line that has only begun may become.
    mutating func take(_ bytes: ArraySlice<UInt8>, completions: (String) -> [String]) -> [Event] {
        var events: [Event] = []
        var rest = bytes
        while let first = rest.first {
            // A key that completes is the first of its piece.
            let piece = rest.prefix(1) + rest.dropFirst().prefix { $0 != Self.tab }
            rest = rest.dropFirst(piece.count)
            let lines = first == Self.tab ? completions(String(typed.text[..<typed.cursor])) : []
            if first == Self.tab { Self.offer(lines) }
            piece.withUnsafeBufferPointer { creadline_feed($0.baseAddress, $0.count) }
            read(lines, &events)
        }
        return events
    }

    private static let tab = UInt8(ascii: "\t")

    private mutating func read(_ offered: [String], _ events: inout [Event]) {
        while true {
            let event = creadline_next()
            switch event {
            case creadline_entered: events.append(.entered(String(cString: creadline_line())))
            case creadline_ended: events.append(.ended)
            case creadline_listed: events.append(.listed(offered))
            default:
                typed = TypedLine(
                    prompt: String(cString: creadline_prompt()), text: String(cString: creadline_typed()),
                    cursor: creadline_cursor())
                return
            }
        }
    }

    private static func offer(_ lines: [String]) {
        let copies = lines.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var pointers = copies.map { UnsafePointer<CChar>($0) }
        creadline_offer(&pointers, pointers.count)
    }
}

/// What is typed at a prompt, and where in it the cursor is.
struct TypedLine: Hashable {
    var prompt = "> "
    var text = ""
    var cursor: String.Index

    init() { cursor = text.startIndex }

    /// The cursor is so many bytes behind the beginning.
    init(prompt: String, text: String, cursor: Int) {
        self.prompt = prompt
        self.text = text
        let place = text.utf8.index(text.startIndex, offsetBy: cursor, limitedBy: text.endIndex) ?? text.endIndex
        self.cursor = String.Index(place, within: text.unicodeScalars) ?? text.endIndex
    }

    /// As much of it as fits, with the cursor in it, and the cursor's column.
    func shown(columns: Int) -> (text: String, column: Int) {
        let before = UntrustedText.shown(prompt) + UntrustedText.shown(String(text[..<cursor]))
        let after = UntrustedText.shown(String(text[cursor...]))
        // The cursor has a column of its own.
        let room = columns - 1
        guard ShownText.width(before) > room else {
            return (ShownText.cut(before + after, to: columns), ShownText.width(before))
        }
        let end = ShownText.end(of: before, columns: room - 1)
        return (ShownText.cut("…" + end + after, to: columns), 1 + ShownText.width(end))
    }
}
