// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TerminalUI

@Suite("Text on a terminal")
struct ShownTextTests {
    @Test(
        "columns",
        arguments: [
            ("abc", 3), ("é", 1), ("e\u{301}", 1), ("夜", 2), ("한", 2), ("Ａ", 2), ("🚗", 2), ("▂█…–", 4), ("", 0),
        ])
    func width(text: String, columns: Int) {
        #expect(ShownText.width(text) == columns)
    }

    @Test func aLongTextIsCutBetweenCharacters() {
        #expect(ShownText.cut("Tunnel of Lights", to: 9) == "Tunnel o…")
        #expect(ShownText.cut("夜の道夜の道", to: 6) == "夜の…")
        #expect(ShownText.cut("fits", to: 4) == "fits")
    }

    @Test func aSentenceIsBrokenBetweenWordsAndAWordWhereItMustBe() {
        #expect(ShownText.wrap("one two three", to: 8) == ["one two", "three"])
        #expect(ShownText.wrap("abcdefghij", to: 4) == ["abcd", "efgh", "ij"])
        #expect(ShownText.wrap("  1. indented words", to: 12) == ["  1.", "    indented", "    words"])
        #expect(ShownText.wrap("     abcdefghij", to: 8).allSatisfy { ShownText.width($0) <= 8 })
        #expect(ShownText.wrap("", to: 4) == [""])
    }

    @Test("a name of one character that is wider than the window is still broken", .timeLimit(.minutes(5)))
    func oneWideCharacter() {
        let name = String(repeating: "\u{1100}", count: 60)
        #expect(name.count == 1)
        for (text, columns) in [(name, 19), ("  1. " + name, 19), ("     " + name, 8), (name, 1), ("a " + name, 5)] {
            let lines = ShownText.wrap(text, to: columns)
            #expect(lines.allSatisfy { ShownText.width($0) <= max(columns, 2) })
            let shown = lines.joined().unicodeScalars.count(where: { $0.value == 0x1100 })
            #expect(shown == 60)
        }
        #expect(ShownText.wrap("Ana has joined. " + name, to: 20).first == "Ana has joined.")
        #expect(ShownText.cut("> " + name, to: 9) == "> \u{1100}\u{1100}\u{1100}…")
        let typed = TypedLine(text: name, cursor: name.utf8.count).shown(columns: 20)
        #expect(ShownText.width(typed.text) <= 20 && typed.column < 20)
    }

    @Test("a picture of several people that is too wide next to its indentation does not stop the text after it")
    func wideBesideItsIndentation() {
        let family = "👨\u{200D}👩\u{200D}👧\u{200D}👦"
        let lines = ShownText.wrap("     \(family) back", to: 9)
        #expect(lines.allSatisfy { ShownText.width($0) <= 9 })
        #expect(lines.last?.hasSuffix("back") == true)
    }
}
