// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TerminalUI

@Suite("The line at the prompt")
struct TypedLineTests {
    @Test(
        "a line that is wider than the window shows the part with the cursor",
        arguments: [
            ("vote 2", 6, "> vote 2", 8), ("vote 2", 0, "> vote 2", 2), ("search open road", 16, "…arch open road", 15),
            ("search open road", 3, "> search open r…", 5), ("vote 漢漢漢漢漢漢", 23, "…e 漢漢漢漢漢漢", 15), ("", 0, "> ", 2),
            ("a\u{1B}[2Jb", 6, "> a[2Jb", 7),
        ])
    func window(text: String, cursor: Int, shown: String, column: Int) {
        let line = TypedLine(text: text, cursor: cursor)
        #expect(line.shown(columns: 16) == (shown, column))
    }

    @Test("a cursor within a character or after the end does not trap", arguments: [1, 99])
    func cursors(cursor: Int) {
        #expect(TypedLine(text: "漢", cursor: cursor).shown(columns: 16).column == 4)
    }

    @Test(
        "a search of the history has the prompt of shells",
        arguments: [
            ("unvote mile 3\nbck:vot", "(reverse-i-search)`vot': ", "unvote mile 3"),
            ("\nbck?xyz", "(failed reverse-i-search)`xyz': ", ""), ("vote 2\nfwd:", "(i-search)`': ", "vote 2"),
            ("vote 2", "> ", "vote 2"),
        ])
    func search(text: String, prompt: String, line: String) {
        let typed = TypedLine(text: text, cursor: 0)
        #expect(typed.prompt == prompt && typed.text == line)
    }
}
