// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import MusicLibrary

@Suite("Tags in wrong and old encodings")
struct EncodingTests {
    /// A title and an artist, and the encoding that an old program wrote them in.
    struct Old: Sendable, CustomTestStringConvertible {
        var title: String
        var artist: String
        var encoding: String
        var testDescription: String { "\(artist), \(encoding)" }
    }

    private static let old = [
        Old(title: "Группа крови", artist: "Кино", encoding: "CP1251"),
        Old(title: "Искала", artist: "Земфира", encoding: "CP1251"),
        Old(title: "Группа крови", artist: "Кино", encoding: "KOI8-R"),
        Old(title: "上を向いて歩こう", artist: "坂本九", encoding: "CP932"),
        Old(title: "First Love", artist: "宇多田ヒカル", encoding: "CP932"),
        Old(title: "上を向いて歩こう", artist: "坂本九", encoding: "EUC-JP"),
        Old(title: "月亮代表我的心", artist: "邓丽君", encoding: "GBK"),
        Old(title: "童话", artist: "光良", encoding: "GBK"),
        Old(title: "月亮代表我的心", artist: "鄧麗君", encoding: "BIG5"),
        Old(title: "강남스타일", artist: "싸이", encoding: "UHC"),
        Old(title: "Τα παιδιά του Πειραιά", artist: "Μελίνα Μερκούρη", encoding: "CP1253"),
        Old(title: "ירושלים של זהב", artist: "שולי נתן", encoding: "CP1255"),
        Old(title: "إنت عمري", artist: "أم كلثوم", encoding: "CP1256"),
        Old(title: "Symfonie č. 9", artist: "Dvořák", encoding: "CP1250"),
        Old(title: "Şarkı söylemek lazım", artist: "Sezen Aksu", encoding: "CP1254"),
        Old(title: "Hoppípolla", artist: "Sigur Rós", encoding: "CP1252"),
        Old(title: "Männer sind Schweine", artist: "Die Ärzte", encoding: "CP1252"),
        Old(title: "Don’t Stop", artist: "Beyoncé", encoding: "CP1252"),
        Old(title: "Jalapeño", artist: "Röyksopp", encoding: "CP1252"),
        Old(title: "Группа крови", artist: "Кино", encoding: "UTF-8"),
        Old(title: "Déjà Vu", artist: "Beyoncé", encoding: "UTF-8"),
    ]

    @Test("texts that ID3v2 calls Latin-1 are read in the encoding that they have", arguments: old)
    func id3v2(old: Old) throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", MP3(title: old.title, artist: old.artist, encoding: old.encoding).bytes)
        let tags = try #require(AudioTags(of: shelf.path("a.mp3"), limits: .standard))
        #expect(tags.title == old.title && tags.artists == [old.artist])
    }

    @Test("so are those of ID3v1", arguments: old.filter { !["Τα παιδιά του Πειραιά"].contains($0.title) })
    func id3v1(old: Old) throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        func field(_ text: String, _ count: Int) -> [UInt8] {
            let bytes = converted(text, to: old.encoding).prefix(count)
            return bytes + [UInt8](repeating: 0, count: count - bytes.count)
        }
        let tag = Array("TAG".utf8) + field(old.title, 30) + field(old.artist, 30) + [UInt8](repeating: 0, count: 65)
        try shelf.put("a.mp3", MP3.audio + tag)
        let tags = try #require(AudioTags(of: shelf.path("a.mp3"), limits: .standard))
        #expect(tags.title.hasPrefix(old.title.prefix(8)) && tags.artists == [old.artist])
    }

    @Test(
        "a Unicode text that was made of one of another encoding is what it was",
        arguments: [
            ("Ãðóïïà êðîâè", "Группа крови"), ("Ð\u{93}Ñ\u{80}Ñ\u{83}Ð¿Ð¿Ð°", "Группа"), ("BeyoncÃ©", "Beyoncé"),
            ("Donâ€™t Stop", "Don’t Stop"), ("Don\u{92}t Stop", "Don’t Stop"),
            ("Ágætis byrjun", "Ágætis byrjun"), ("Ænima", "Ænima"), ("Øystein Sunde", "Øystein Sunde"),
            ("Dvořák", "Dvořák"), ("Кино", "Кино"), ("Ça ira", "Ça ira"), ("Ääni", "Ääni"),
        ])
    func unicode(wrong: String, right: String) throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        try shelf.put("a.mp3", title: wrong, artist: "A")
        #expect(AudioTags(of: shelf.path("a.mp3"), limits: .standard)?.title == right)
    }
}

/// A text in an encoding of iconv.
func converted(_ text: String, to encoding: String) -> [UInt8] {
    let converter = iconv_open(encoding, "UTF-8")
    defer { iconv_close(converter) }
    var input = Array(text.utf8).map { CChar(bitPattern: $0) }
    var output = [CChar](repeating: 0, count: input.count * 4 + 8)
    var (left, room) = (input.count, output.count)
    input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            var (from, to) = (input.baseAddress, output.baseAddress)
            let result = iconv(converter, &from, &left, &to, &room)
            precondition(result != Int.max && left == 0, "\(text) is not in \(encoding)")
            _ = iconv(converter, nil, nil, &to, &room)
        }
    }
    return output.prefix(output.count - room).map { UInt8(bitPattern: $0) }
}
