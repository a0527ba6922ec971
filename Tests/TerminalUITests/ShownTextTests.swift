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
        #expect(ShownText.wrap("  1. indented words", to: 12) == ["  1.", "indented", "words"])
        #expect(ShownText.wrap("", to: 4) == [""])
    }
}
