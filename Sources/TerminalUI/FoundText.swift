// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// What was found, in lines: how many there are, the first of them with numbers, and how to see more.
struct FoundText {
    let lines: [String]

    init(_ found: FoundSongs, _ query: SongQuery, _ place: Sentences.Place, _ language: Language) {
        func say(_ text: LocalizedText) -> String { language.text(text) }
        let groups = found.groups.map { "\(ViewText.SongText($0.name, $0.artist).whole)  (\($0.songs))" }
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
        lines = head + numbered + (left > 0 ? ["  … " + say("and \(left) more: type more")] : [])
    }

    private static func nothing(_ query: SongQuery) -> LocalizedText {
        if query.from > 0 { return "That is all." }
        switch query.shelf {
        case .words: return "Nothing found for \"\(query.words)\"."
        case .heard: return "Nothing was played before."
        case .artists, .albums, .newest, .artist, .album: return "There is nothing there."
        }
    }

    private static func head(_ found: FoundSongs, _ query: SongQuery) -> [LocalizedText] {
        let count = found.total
        switch query.shelf {
        case .words:
            // What a host has looked for instead comes from another device.
            let words = found.lookedFor.map { UntrustedText.shown($0) } ?? query.words
            let head: LocalizedText =
                count == 1 ? "1 song found for \"\(words)\":" : "\(count) songs found for \"\(words)\":"
            return found.lookedFor == nil ? [head] : ["Nothing found for \"\(query.words)\".", head]
        case .artists: return [count == 1 ? "1 artist:" : "\(count) artists; open 1 shows the songs of the first:"]
        case .albums: return [count == 1 ? "1 album:" : "\(count) albums; open 1 shows the songs of the first:"]
        case .newest: return ["The newest songs first:"]
        case .heard: return ["What was played, the last song first:"]
        case .artist, .album: return [count == 1 ? "1 song:" : "\(count) songs:"]
        }
    }
}
