// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Search results in lines: their number, the first results with numbers, and how to see more.
struct FoundText {
    let lines: [String]

    init(_ found: FoundSongs, _ query: SongQuery, _ place: Sentences.Place, _ language: Language) {
        func say(_ text: LocalizedText) -> String { language.text(text) }
        func row(_ group: SongGroup) -> String {
            "\(ViewText.SongText(group.name, group.artist).whole)  (\(group.songs))"
        }
        let groups = found.groups.map(row)
        let songs = found.songs.map { song in
            let id = place == .lines ? "[\(UntrustedText.shown(song.id))] " : ""
            return id + ViewText.SongText(song.title, song.artist).whole
        }
        let rows = groups + songs
        guard !rows.isEmpty else {
            lines = [say(Self.nothing(query))]
            return
        }
        let left = found.total - query.from - rows.count
        let head = query.from == 0 ? Self.head(found, query).map(say) : []
        let numbered = rows.enumerated().map { "  \(query.from + $0 + 1). \($1)" }
        let others = Self.others(found, row).map { $0.map { language.text($0) } ?? $1 }
        lines = others + head + numbered + (left > 0 ? ["  … " + say("and \(left) more: type more")] : [])
    }

    /// Artists and albums that contain the words, with continued numbers: a text to translate, or a row.
    private static func others(_ found: FoundSongs, _ row: (SongGroup) -> String) -> [(LocalizedText?, String)] {
        func rows(_ groups: [SongGroup], after count: Int) -> [(LocalizedText?, String)] {
            groups.enumerated().map { (nil, "  \(count + $0 + 1). \(row($1))") }
        }
        let artists = found.artists.count
        let first = artists + 1
        return (artists == 0 ? [] : [("Artists; open 1 shows the songs of the first:", "")])
            + rows(found.artists, after: 0)
            + (found.albums.isEmpty ? [] : [("Albums; open \(first) shows the songs of the first:", "")])
            + rows(found.albums, after: artists)
    }

    private static func nothing(_ query: SongQuery) -> LocalizedText {
        if query.from > 0 { return "That is all." }
        switch query.shelf {
        case .words: return "Nothing found for \"\(query.words)\"."
        case .heard: return "Nothing was played before."
        case .artists: return "There are no artists."
        case .albums: return "There are no albums."
        case .newest, .artist, .album: return "There are no songs."
        }
    }

    private static func head(_ found: FoundSongs, _ query: SongQuery) -> [LocalizedText] {
        let count = found.total
        switch query.shelf {
        case .words:
            // A host's corrected search words come from another device.
            let words = found.lookedFor.map { UntrustedText.shown($0) } ?? query.words
            let head: LocalizedText =
                count == 1 ? "1 song found for \"\(words)\":" : "\(count) songs found for \"\(words)\":"
            return found.lookedFor == nil ? [head] : ["Nothing found for \"\(query.words)\".", head]
        case .artists: return [count == 1 ? "1 artist:" : "\(count) artists; open 1 shows the songs of the first:"]
        case .albums: return [count == 1 ? "1 album:" : "\(count) albums; open 1 shows the songs of the first:"]
        case .newest: return ["The newest songs first:"]
        case .heard: return ["Played songs, the last one first:"]
        case .artist, .album: return [count == 1 ? "1 song:" : "\(count) songs:"]
        }
    }
}
