// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Testing

@testable import MusicLibrary

@Suite("Searches in every script")
struct ScriptTests {
    private func finds(_ typed: String, in title: String) async throws -> Bool {
        let index = try MusicIndex.inMemory([
            Song(id: "1", title: title, artist: "A", duration: 200),
            Song(id: "2", title: "Xyz", artist: "B", duration: 200),
        ])
        let found = try await index.find(SongQuery(typed), atMost: 20)
        return found.songs.map(\.id) == ["1"] && found.lookedFor == nil
    }

    @Test(
        "accents, points, tones and capitals do not matter",
        arguments: [
            // Cyrillic.
            ("В лесу родилась ёлка", "елка"),
            ("В лесу родилась елка", "ёлка"), ("Подмосковные вечера", "ПОДМОСКОВНЫЕ"),
            ("за́мок", "замок"), ("Чайковский", "чайковск"), ("Щедрик", "щедрик"),
            // Greek.
            ("Ζορμπάς", "ζορμπας"), ("ΖΟΡΜΠΑΣ", "ζορμπάς"), ("Θεοδωράκης", "ΘΕΟΔΩΡΑΚΗΣ"), ("Οὐρανός", "ουρανος"),
            ("Καλημέρα Ήλιε", "ηλιε"),
            // Turkish.
            ("Işık", "isik"), ("İstanbul", "istanbul"), ("ISTANBUL", "istanbul"), ("Şımarık", "simarik"),
            ("Şımarık", "ŞIMARIK"), ("Gülpembe", "gulpembe"), ("Dağlar Dağlar", "daglar"),
            // Vietnamese.
            ("Đừng Hỏi Em", "dung hoi"), ("Nơi này có anh", "noi nay co anh"), ("Lạc Trôi", "lac troi"),
            ("Em của ngày hôm qua", "cua ngay hom"),
            // Hebrew, with and without points.
            ("שָׁלוֹם עֲלֵיכֶם", "שלום"), ("שלום", "שָׁלוֹם"), ("הָבָה נָגִילָה", "הבה נגילה"),
            // Arabic, with and without marks, and from Persian keyboards.
            ("حَبِيبِي", "حبيبي"), ("أهواك", "اهواك"), ("إنت عمري", "انت عمري"), ("آه يا ليل", "اه"), ("هـــلا", "هلا"),
            ("أغنية", "اغنيه"), ("على بالي", "علي"), ("كل يوم", "کل یوم"), ("۱۲۳", "123"), ("١٩٩٩", "1999"),
            // Latin letters outside ASCII.
            ("Møde", "mode"), ("Łódź", "lodz"), ("Ágætis byrjun", "agaetis"), ("Straße", "strasse"),
            ("STRASSE", "straße"),
            ("Þú ert jörðin", "thu ert"), ("Čaje", "caje"), ("Œuvre", "oeuvre"), ("Țara", "tara"),
            ("Señorita", "senorita"),
            // Wide, narrow, and other printed forms.
            ("ＡＢＣ", "abc"), ("Love", "ｌｏｖｅ"), ("１９８４", "1984"), ("ﬁre", "fire"), ("Ⅳ", "iv"), ("ℌello", "hello"),
            ("ﾊﾞﾗｰﾄﾞ", "バラード"), ("バラード", "ﾊﾞﾗｰﾄﾞ"),
            // Composed and decomposed.
            ("Beyonce\u{301}", "beyoncé"), ("Beyoncé", "beyonce\u{301}"), ("\u{1112}\u{1161}\u{11AB}", "한"),
        ])
    func folded(title: String, typed: String) async throws {
        #expect(try await finds(typed, in: title))
    }

    @Test(
        "a title in a script without spaces is found by any part of it",
        arguments: [
            ("月亮代表我的心", "代表"), ("月亮代表我的心", "心"), ("月亮代表我的心", "我的心"), ("愛情萬歲", "爱情"), ("爱情万岁", "愛"),
            ("千本桜", "本桜"), ("残酷な天使のテーゼ", "天使"), ("残酷な天使のテーゼ", "テーゼ"), ("残酷な天使のテーゼ", "てーぜ"),
            ("さくらんぼ", "くらん"), ("上を向いて歩こう", "向いて"), ("Lemon 米津玄師", "玄師"), ("夜に駆けるLIVE", "駆けるlive"),
            ("รักแท้ดูแลไม่ได้", "ดูแล"), ("ບົວຂາວ", "ຂາວ"), ("강남스타일", "강남"), ("강남스타일", "가"), ("방탄소년단", "방ㅌ"),
        ])
    func parts(title: String, typed: String) async throws {
        #expect(try await finds(typed, in: title))
    }

    @Test(
        "letters with different meanings stay different",
        arguments: [
            // Vowel signs and the virama.
            ("की", "का"), ("कि", "की"), ("हिन्दी", "हन्द"), ("பாடல்", "பிடல்"), ("গান", "গুন"), ("ਪਾਣੀ", "ਪਣ"), ("สี", "สา"),
            ("เสือ", "เสื้อ"), ("ខ្មែរ", "ខមរ"),
            // Dots of Japanese syllables, small ones, and different Cyrillic letters.
            ("はか", "ばか"), ("ハハ", "パパ"), ("きつて", "きって"), ("мои", "мой"), ("іхтіо", "їхтіо"), ("шина", "щина"),
            ("ب", "ت"), ("ח", "ה"),
        ])
    func different(title: String, typed: String) async throws {
        #expect(try await !finds(typed, in: title))
        #expect(try await finds(typed, in: typed))
    }

    @Test("a typing error is also found in another script", arguments: [("Калинка", "калнка", "калинка")])
    func slip(title: String, typed: String, meant: String) async throws {
        let index = try MusicIndex.inMemory([Song(id: "1", title: title, artist: "A", duration: 200)])
        #expect(try await index.find(SongQuery(typed), atMost: 20).lookedFor == meant)
    }

    @Test("any text is folded without harm")
    func anything() {
        for start in stride(from: UInt32(0), to: 0x1_0000, by: 64) where !(0x3500..<0xA000).contains(start) {
            let text = String(String.UnicodeScalarView((start..<start + 64).compactMap { Unicode.Scalar($0) }))
            #expect(Words(text).words.allSatisfy { !$0.isEmpty && !$0.contains(" ") })
        }
    }
}
