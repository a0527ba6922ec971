// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides what to write to a terminal so that lines appear above the prompt, the panel below it stays up to date, and
/// the typed text stays in place.
///
/// It does not know the prompt's row. Everything is relative to the cursor, which each output leaves where the person
/// types. Every output is one string without a line feed. The escape codes are those of ECMA-48, and VT100's save and
/// restore of the cursor. None of them changes a mode that would stay after the program's death.
struct LiveDisplay {
    /// The window's size. After a change, typed text may arrive before the signal.
    var size: TerminalSize
    private let usesColour: Bool
    private var panel: Panel
    private var typed = TypedLine()

    init(size: TerminalSize, usesColour: Bool, panel: Panel) {
        self.size = size
        self.usesColour = usesColour
        self.panel = panel
    }

    /// The first output, and the first one after the shell had the terminal: draws everything from the cursor's row on.
    mutating func begin(_ panel: Panel) -> String {
        self.panel = panel
        return "\r\u{1B}[J" + prompt + draw()
    }

    /// The typed line if it has changed, else an empty text.
    mutating func type(_ typed: TypedLine) -> String {
        guard typed != self.typed else { return "" }
        self.typed = typed
        return prompt
    }

    /// Shows lines above the prompt.
    mutating func say(_ lines: [String], _ panel: Panel) -> String {
        let wrapped = wrap(lines)
        // More lines at once would push the prompt off the screen.
        let most = max(size.rows - 2, 1)
        var output = ""
        var rest = wrapped[...]
        while !rest.isEmpty {
            var rows = 0
            let fitting = rest.prefix { line in
                rows += line.rows
                return rows <= most
            }
            let next = fitting.isEmpty ? rest.prefix(1) : fitting
            output += insert(next)
            rest = rest[next.endIndex...]
        }
        self.panel = panel
        return output + (wrapped.isEmpty ? "" : draw())
    }

    /// The panel if it has changed, else an empty text.
    mutating func update(_ panel: Panel) -> String {
        guard panel != self.panel else { return "" }
        self.panel = panel
        return draw()
    }

    /// Keeps the entered line above, with its answer.
    mutating func entered(_ line: String, _ lines: [String], _ panel: Panel) -> String {
        typed = TypedLine()
        let said = wrap([typed.prompt + line] + lines).map { $0.text + Self.nextRow }.joined()
        return "\r\u{1B}[J" + said + begin(panel)
    }

    /// Draws everything for another window size.
    mutating func resized(_ panel: Panel) -> String {
        self.panel = panel
        return prompt + draw()
    }

    /// The last output, which removes the prompt and the panel.
    func end(_ lines: [String]) -> String {
        "\r\u{1B}[J" + wrap(lines).map { $0.text + Self.nextRow }.joined()
    }

    /// Moves down, scrolling at the last row, in the same column.
    private static let down = "\u{1B}D"
    private static let nextRow = "\r" + down
    private static let save = "\u{1B}7"
    private static let restore = "\u{1B}8"

    private var columns: Int { max(size.columns, TerminalLimits.leastColumns) - 1 }

    /// A line, and the rows of the window that it takes.
    private struct Line {
        var text: String
        var rows = 1
    }

    /// The terminal itself breaks a word that is too wide, such as a link, so that it can be copied in one piece.
    private func wrap(_ lines: [String]) -> [Line] {
        lines.flatMap { line -> [Line] in
            if ShownText.isPicture(line) { return [Line(text: line)] }
            guard line.split(separator: " ").contains(where: { ShownText.width($0) > columns }) else {
                return ShownText.wrap(line, to: columns).map { Line(text: $0) }
            }
            let whole = UntrustedText.shown(line)
            return [Line(text: whole, rows: max(1, (ShownText.width(whole) + columns) / (columns + 1)))]
        }
    }

    /// The prompt's row, with the cursor in its place.
    private var prompt: String {
        let shown = typed.shown(columns: columns)
        return "\r\u{1B}[K" + shown.text + "\r" + (shown.column > 0 ? "\u{1B}[\(shown.column)C" : "")
    }

    /// Inserts rows for lines and moves the prompt below them. Scrolls if the window is full.
    private func insert(_ lines: ArraySlice<Line>) -> String {
        let count = lines.reduce(0) { $0 + $1.rows }
        return String(repeating: Self.down, count: count) + Self.save + "\u{1B}[\(count)A\r\u{1B}[\(count)L"
            + lines.map(\.text).joined(separator: "\u{1B}[B\r") + Self.restore
    }

    private func draw() -> String {
        let lines = panel.lines
        return String(repeating: Self.down, count: lines.count) + "\u{1B}[\(lines.count)A" + Self.save
            + "\u{1B}[B\r\u{1B}[J" + lines.map(styled).joined(separator: "\u{1B}[B\r") + Self.restore
    }

    private func styled(_ line: Panel.Line) -> String {
        let code: String? =
            switch line.style {
            case .plain: nil
            case .strong: "1"
            case .faint: "2"
            case .warning: usesColour ? "33" : "1"
            }
        return code.map { "\u{1B}[\($0)m\(line.text)\u{1B}[0m" } ?? line.text
    }
}
