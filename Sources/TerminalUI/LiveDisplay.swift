// SPDX-License-Identifier: Apache-2.0

/// Decides what is written to a terminal so that lines come in above the prompt, and the panel below it stays up to date,
/// without what is being typed ever being touched.
///
/// The terminal stays in its ordinary line mode: the kernel echoes and edits what is typed, and whatever becomes of this
/// program, the shell finds a keyboard that works. So this knows neither the typed text nor where on the screen it is, and
/// needs neither: everything is relative to the cursor, which the typing leaves on the prompt's row, and to which each
/// output brings it back. Every output is one string without a line feed, since the kernel lets an echo in at a line feed.
/// The escape codes are those of ECMA-48, and VT100's save and restore of the cursor.
struct LiveDisplay {
    private var size: TerminalSize
    private let usesColour: Bool
    private var panel: Panel
    private static let prompt = "> "

    init(size: TerminalSize, usesColour: Bool, panel: Panel) {
        self.size = size
        self.usesColour = usesColour
        self.panel = panel
    }

    /// The first output, and the one after the shell had the terminal: everything anew from the cursor's row on.
    mutating func begin(_ panel: Panel) -> String {
        self.panel = panel
        return "\r\u{1B}[J" + Self.prompt + draw()
    }

    /// Shows lines above the prompt.
    mutating func say(_ lines: [String], _ panel: Panel) -> String {
        let wrapped = wrap(lines)
        // More at a time would push the prompt off the screen.
        let most = max(size.rows - 2, 1)
        var output = ""
        for start in stride(from: 0, to: wrapped.count, by: most) {
            output += insert(wrapped[start..<min(start + most, wrapped.count)])
        }
        self.panel = panel
        return output + (wrapped.isEmpty ? "" : draw())
    }

    /// The panel where it has changed; else nothing.
    mutating func update(_ panel: Panel) -> String {
        guard panel != self.panel else { return "" }
        self.panel = panel
        return draw()
    }

    /// The person has pressed Enter: the kernel has brought the cursor to the row below, and what was typed stays above.
    mutating func entered(_ lines: [String], _ panel: Panel) -> String {
        let said = wrap(lines).map { $0 + Self.nextRow }.joined()
        return "\r\u{1B}[J" + said + begin(panel)
    }

    /// The window has another size. The typing stays where it is.
    mutating func resize(_ size: TerminalSize, _ panel: Panel) -> String {
        self.size = size
        self.panel = panel
        return draw()
    }

    /// The last output: the prompt and the panel go.
    func end(_ lines: [String]) -> String {
        "\r\u{1B}[J" + wrap(lines).map { $0 + Self.nextRow }.joined()
    }

    /// Down, scrolling where it is the last row; the column stays.
    private static let down = "\u{1B}D"
    private static let nextRow = "\r" + down
    private static let save = "\u{1B}7"
    private static let restore = "\u{1B}8"

    private func wrap(_ lines: [String]) -> [String] {
        lines.flatMap { ShownText.wrap($0, to: max(size.columns, TerminalLimits.leastColumns) - 1) }
    }

    /// Makes room below, by scrolling where there is none, and moves the prompt there.
    private func insert(_ lines: ArraySlice<String>) -> String {
        let count = lines.count
        return String(repeating: Self.down, count: count) + Self.save + "\u{1B}[\(count)A\r\u{1B}[\(count)L"
            + lines.joined(separator: "\u{1B}[B\r") + Self.restore
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
