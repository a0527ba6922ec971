// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import MeshNode

/// Reads a song list from a file. Errors say how to fix the list.
enum SongListFile {
    /// Largest file that is read, in bytes: ten thousand songs with long names.
    private static let maximumBytes = 8 << 20

    /// Reads the songs in a file.
    static func load(_ path: String) throws(SetupProblem) -> [Song] {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw SetupProblem(
                .data, "Cannot read the song list \(path); give a JSON file that exists and is readable with --library."
            )
        }
        guard data.count <= maximumBytes else {
            throw SetupProblem(.data, "The song list \(path) is larger than 8 MiB; split it into smaller lists.")
        }
        do {
            return try JSONDecoder().decode(SongList.self, from: data).songs
        } catch let problem as SongList.Problem {
            throw SetupProblem(.data, "The song list \(path) \(sentence(problem)).")
        } catch {
            throw SetupProblem(
                .data,
                "The song list \(path) is not a JSON list of songs; write it like [{\"id\": \"s1\", \"title\": \"…\", "
                    + "\"artist\": \"…\", \"duration\": 200}].")
        }
    }

    private static func sentence(_ problem: SongList.Problem) -> String {
        switch problem {
        case .empty: "contains no songs; add at least one"
        case .tooManySongs: "has more than \(DJLimits.listedSongs) songs; split it into smaller lists"
        case .missing(let field, let song): "lacks \"\(field)\" in song \(song); add it"
        case .wrong(let field, let song, let needs): "has a wrong \"\(field)\" in song \(song); make it \(needs)"
        case .unknown(let field, let song):
            "has an unknown field \"\(field.prefix(40))\" in song \(song); songs have id, title, artist, duration and, "
                + "if you like, albumArtURL"
        case .duplicate(let id, let song): "has the id \"\(id)\" a second time in song \(song); give it another"
        case .notASong(let song): "has an entry \(song) that is not a song; make it an object in braces"
        }
    }
}
