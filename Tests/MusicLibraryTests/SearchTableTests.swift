// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import TestSupport
import Testing

@testable import MusicLibrary

/// A hundred searches as people type them, each with the song, artist or album that must come first. `WRITE_SEARCHES=1`
/// writes the first three results of each to `docs/searches.md`.
@Suite("A hundred searches")
struct SearchTableTests {
    private static let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../docs/searches.md")

    @Test("each search finds the intended result first, and the page has its first three results")
    func table() async throws {
        let shelf = try MusicShelf()
        defer { shelf.clear() }
        for (number, line) in Self.songs.enumerated() {
            let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            try shelf.put(
                "\(number / 4)/\(number).mp3", title: parts[0], artist: parts[1], album: parts.count > 2 ? parts[2] : ""
            )
        }
        let count = Self.songs.count
        let text = try await shelf.withLibrary { library, updates in
            _ = try await updates.songs { $0.count == count }
            var text = Self.head
            for (typed, expected) in Self.searches {
                let found = await library.find(SongQuery(typed), atMost: 20)
                let songs = found.songs.map { "\($0.title) – \($0.artist)" }
                let artists = found.artists.map { "artist \($0.name)" }
                let albums = found.albums.map { "album \($0.name)" }
                let results = [songs.first, artists.first, albums.first].compactMap(\.self)
                #expect(results.contains { $0.hasPrefix(expected) }, "\(typed): \(songs) \(artists) \(albums)")
                let groups = (artists + albums).prefix(3).joined(separator: ", ")
                let shown = [typed, songs.prefix(3).joined(separator: "<br>"), groups, found.lookedFor ?? ""]
                text += "| " + shown.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
            }
            return text
        }
        #expect(Self.searches.count >= 100)
        if ProcessInfo.processInfo.environment["WRITE_SEARCHES"] != nil {
            try text.write(to: Self.page, atomically: true, encoding: .utf8)
        }
        let written = try? String(contentsOf: Self.page, encoding: .utf8)
        #expect(written == text, "Write docs/searches.md again: WRITE_SEARCHES=1 swift test --filter SearchTableTests")
    }

    private static let head = """
        # A hundred searches

        This page is for people who want to know what a search finds. For example, `im yours` finds "I'm Yours". A test writes the
        page: `WRITE_SEARCHES=1 swift test --filter SearchTableTests`. It searches a library of \(songs.count) songs and fails if the expected
        song, artist or album is not the first of its kind. [library.md](library.md#search) says how results are ordered.

        | typed | first three songs | first three artists and albums | looked for instead |
        |---|---|---|---|

        """

    private static let songs = [
        "I'm Yours|Jason Mraz|We Sing. We Dance. We Steal Things.", "The Sound of Silence|Simon & Garfunkel|Bookends",
        "Mrs. Robinson|Simon & Garfunkel|Bookends", "Mr. Brightside|The Killers|Hot Fuss",
        "Thunderstruck|AC/DC|The Razors Edge", "Back in Black|AC/DC|Back in Black",
        "Losing My Religion|R.E.M.|Out of Time", "Everybody Hurts|R.E.M.|Automatic for the People",
        "Sweet Child O' Mine|Guns N' Roses|Appetite for Destruction", "November Rain|Guns N’ Roses|Use Your Illusion I",
        "Empire State of Mind|Jay-Z feat. Alicia Keys|The Blueprint 3",
        "All the Small Things|blink-182|Enema of the State",
        "So What|P!nk|Funhouse", "Praise the Lord (Da Shine)|A$AP Rocky|TESTING", "TiK ToK|Ke$ha|Animal",
        "Strobe|deadmau5|For Lack of a Better Name", "Still D.R.E.|Dr. Dre|2001",
        "Digital Witness|St. Vincent|St. Vincent",
        "#thatPOWER|will.i.am|#willpower", "Hotel California|Eagles|Hotel California", "Yesterday|The Beatles|Help!",
        "Help!|The Beatles|Help!", "I Want to Hold Your Hand|The Beatles|1",
        "Sgt. Pepper's Lonely Hearts Club Band|The Beatles|Sgt. Pepper's Lonely Hearts Club Band",
        "Bachelorette|Björk|Homogenic", "Toccata and Fugue in D minor|Johann Sebastian Bach|Organ Works",
        "Cello Suite No. 1|Johann Sebastian Bach|Bach: The Cello Suites", "Hyperballad|Björk|Post",
        "7 Rings|Ariana Grande|thank u, next", "Seven Nation Army|The White Stripes|Elephant",
        "Moves Like Jagger|Maroon 5|Hands All Over", "In da Club|50 Cent|Get Rich or Die Tryin'",
        "99 Luftballons|Nena|99 Luftballons", "Nothing Compares 2 U|Sinéad O'Connor|I Do Not Want What I Haven't Got",
        "Livin' on a Prayer|Bon Jovi|Slippery When Wet", "Rock 'n' Roll|Led Zeppelin|Led Zeppelin IV",
        "Black Dog|Led Zeppelin|Led Zeppelin IV", "R&B Junkie|Janet Jackson|Damita Jo",
        "Dog Days Are Over|Florence + the Machine|Lungs", "Schrei nach Liebe|Die Ärzte|Die Bestie in Menschengestalt",
        "Für Elise|Ludwig van Beethoven|Bagatelles", "Ace of Spades|Motörhead|Ace of Spades",
        "Heart of Glass|Blondie|Parallel Lines",
        "Basket Case|Green Day|Dookie", "Creep|Radiohead|Pablo Honey", "Yellow|Coldplay|Parachutes",
        "Numb|Linkin Park|Meteora", "Autobahn|Kraftwerk|Autobahn",
        "Me and Giuliani Down by the School Yard|!!!|Louden Up Now",
        "This Is the Day|The The|Soul Mining", "Baba O'Riley|The Who|Who's Next",
        "Comfortably Numb|Pink Floyd|The Wall",
        "Another Brick in the Wall, Pt. 2|Pink Floyd|The Wall", "Wonderwall|Oasis|(What's the Story) Morning Glory?",
        "Don't Stop Me Now|Queen|Jazz", "Killer Queen|Queen|Sheer Heart Attack",
        "Bohemian Rhapsody|Queen|A Night at the Opera",
        "Dancing Queen|ABBA|Arrival", "Hey Ya!|OutKast|Speakerboxxx/The Love Below",
        "U Can't Touch This|MC Hammer|Please Hammer",
        "L'amour toujours|Gigi D'Agostino|L'amour toujours", "Gangsta's Paradise|Coolio|Gangsta's Paradise",
        "Ain't No Mountain High Enough|Marvin Gaye & Tammi Terrell|United",
        "What's Going On|Marvin Gaye|What's Going On",
        "Let It Be|The Beatles|Let It Be", "Live and Let Die|Wings|Wings Greatest",
        "Smells Like Teen Spirit|Nirvana|Nevermind",
        "Under Pressure|Queen & David Bowie|Hot Space", "'Heroes'|David Bowie|\"Heroes\"",
        "Sk8er Boi|Avril Lavigne|Let Go",
        "В лесу родилась ёлка|Детский хор|Новый год", "Группа крови|Кино|Группа крови",
        "Ζορμπάς|Μίκης Θεοδωράκης|Zorba the Greek",
        "Şımarık|Tarkan|Ölürüm Sana", "Lạc Trôi|Sơn Tùng M-TP|m-tp M-TP", "שָׁלוֹם עֲלֵיכֶם|מקהלה|שירים",
        "حبيبي|عمرو دياب|نور العين",
        "月亮代表我的心|鄧麗君|島國之情歌", "残酷な天使のテーゼ|高橋洋子|エヴァンゲリオン", "강남스타일|싸이|싸이6甲", "तुम ही हो|अरिजीत सिंह|आशिक़ी 2",
        "รักแท้ดูแลไม่ได้|โปเตโต้|Life",
    ]

    private static let searches: [(String, String)] = [
        ("im yours", "I'm Yours"), ("i'm yours", "I'm Yours"), ("i’m yours", "I'm Yours"), ("i m yours", "I'm Yours"),
        ("simon and garfunkel", "artist Simon & Garfunkel"), ("simon & garfunkel", "artist Simon & Garfunkel"),
        ("simon garfunkel", "artist Simon & Garfunkel"), ("simon und garfunkel", "artist Simon & Garfunkel"),
        ("mrs robinson", "Mrs. Robinson"), ("mr brightside", "Mr. Brightside"), ("mister brightside", "Mr. Brightside"),
        ("acdc", "artist AC/DC"), ("ac dc", "artist AC/DC"), ("ac/dc", "artist AC/DC"),
        ("ac-dc black", "Back in Black"),
        ("rem", "artist R.E.M."), ("r.e.m", "artist R.E.M."), ("r e m", "artist R.E.M."),
        ("rem hurts", "Everybody Hurts"),
        ("guns n roses", "artist Guns N' Roses"), ("guns and roses", "artist Guns N' Roses"),
        ("guns'n'roses", "artist Guns N' Roses"), ("sweet child of mine", "Sweet Child O' Mine"),
        ("jay z", "Empire State of Mind"), ("jayz", "Empire State of Mind"), ("alicia keys", "Empire State of Mind"),
        ("blink 182", "artist blink-182"), ("blink182", "artist blink-182"), ("pink so what", "So What"),
        ("p!nk", "artist P!nk"),
        ("asap rocky", "artist A$AP Rocky"), ("a$ap", "artist A$AP Rocky"), ("kesha", "artist Ke$ha"),
        ("tik tok", "TiK ToK"),
        ("tiktok", "TiK ToK"), ("deadmaus", "artist deadmau5"), ("dr dre", "artist Dr. Dre"),
        ("doctor dre", "artist Dr. Dre"),
        ("still dre", "Still D.R.E."), ("saint vincent", "artist St. Vincent"), ("st vincent", "artist St. Vincent"),
        ("will i am", "artist will.i.am"), ("william", "artist will.i.am"), ("that power", "#thatPOWER"),
        ("the eagles", "artist Eagles"), ("eagles", "artist Eagles"), ("beatles", "artist The Beatles"),
        ("the beatles", "artist The Beatles"), ("help", "Help!"),
        ("i wanna hold your hand", "I Want to Hold Your Hand"),
        ("sergeant pepper", "Sgt. Pepper"), ("sgt peppers", "Sgt. Pepper"), ("bach", "artist Johann Sebastian Bach"),
        ("bachel", "Bachelorette"), ("cello suite number 1", "Cello Suite No. 1"), ("seven rings", "7 Rings"),
        ("7 nation army", "Seven Nation Army"), ("maroon five", "artist Maroon 5"), ("fifty cent", "artist 50 Cent"),
        ("neunundneunzig luftballons", "99 Luftballons"), ("ninety nine luftballons", "99 Luftballons"),
        ("nothing compares to you", "Nothing Compares 2 U"), ("sinead oconnor", "artist Sinéad O'Connor"),
        ("living on a prayer", "Livin' on a Prayer"), ("rock and roll", "Rock 'n' Roll"),
        ("rock n roll", "Rock 'n' Roll"),
        ("rocknroll", "Rock 'n' Roll"), ("led zeppelin 4", "album Led Zeppelin IV"), ("rnb junkie", "R&B Junkie"),
        ("r and b junkie", "R&B Junkie"), ("florence and the machine", "artist Florence + the Machine"),
        ("die aerzte", "artist Die Ärzte"), ("aerzte", "artist Die Ärzte"), ("fuer elise", "Für Elise"),
        ("motorhead", "artist Motörhead"), ("greenday", "artist Green Day"), ("green day basketcase", "Basket Case"),
        ("radio head", "artist Radiohead"), ("cold play", "artist Coldplay"), ("linkinpark", "artist Linkin Park"),
        ("bahn", "Autobahn"), ("!!!", "artist !!!"), ("the the", "artist The The"), ("the who", "artist The Who"),
        ("the wall", "album The Wall"), ("wall", "album The Wall"),
        ("another brick in the wall part 2", "Another Brick"),
        ("another brick part two", "Another Brick"), ("whats the story", "album (What's the Story)"),
        ("dont stop me now", "Don't Stop Me Now"), ("queen", "artist Queen"), ("queen jazz", "Don't Stop Me Now"),
        ("qeen", "artist Queen"), ("bohemian rapsody", "Bohemian Rhapsody"), ("hey ya", "Hey Ya!"),
        ("outcast", "artist OutKast"),
        ("you cant touch this", "U Can't Touch This"), ("l'amour", "L'amour"), ("lamour toujours", "L'amour"),
        ("amour", "L'amour"), ("gigi dagostino", "artist Gigi D'Agostino"), ("gangstas paradise", "Gangsta's Paradise"),
        ("aint no mountain", "Ain't No Mountain"), ("marvin gaye", "artist Marvin Gaye"),
        ("whats going on", "What's Going On"),
        ("let it be", "Let It Be"), ("live let die", "Live and Let Die"), ("teen spirit", "Smells Like Teen Spirit"),
        ("heroes", "'Heroes'"), ("heroes bowie", "'Heroes'"), ("елка", "В лесу родилась ёлка"), ("кино", "artist Кино"),
        ("ζορμπας", "Ζορμπάς"), ("simarik", "Şımarık"), ("olurum", "album Ölürüm Sana"), ("lac troi", "Lạc Trôi"),
        ("שלום", "שָׁלוֹם"), ("حبيبي", "حبيبي"), ("代表", "月亮代表我的心"), ("邓丽君", "artist 鄧麗君"), ("天使", "残酷な天使のテーゼ"),
        ("エヴァ", "album エヴァンゲリオン"), ("강남", "강남스타일"), ("तुम", "तुम ही हो"), ("ดูแล", "รักแท้ดูแลไม่ได้"),
    ]
}
