// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@Suite("Names as people type them")
struct TypedNameTests {
    @Test(
        "are the same without capitals, accents and kinds of apostrophe",
        arguments: [
            ("José", "jose"), ("Jose\u{301}", "JOSÉ"), ("Nguyễn", "nguyen"), ("Straße", "STRASSE"), ("Æsop", "aesop"),
            ("Łódź", "lodz"), ("Øystein", "oystein"), ("İstanbul", "istanbul"), ("Οδυσσέας", "οδυσσεασ"), ("Ёж", "еж"),
            ("O’Neill", "o'neill"), ("O´Neill", "o`neill"), ("ʻOkina", "'okina"), ("ＡＢＣ", "abc"), ("Ǆ", "ǆ"),
        ])
    func same(one: String, other: String) { #expect(TypedName.isMeant(one, by: other)) }

    @Test(
        "stay different if their letters mean something else",
        arguments: [
            ("कि", "की"), ("ก่า", "ก้า"), ("も", "モ"), ("и", "й "), ("ann", "anne"), ("a b", "ab"), ("Dads", "Dad's"),
            ("", "a"),
            ("か", "が"), ("한", "하"), ("שׁ", "שׂ"),
        ])
    func different(one: String, other: String) { #expect(!TypedName.isMeant(one, by: other)) }
}
