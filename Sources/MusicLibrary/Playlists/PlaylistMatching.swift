// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Finds the songs that a playlist names. It may have been written on another system, where the same music is in another
/// folder or on a drive: the song with the longest common end of the path is meant. Separators, case, normal forms of Unicode
/// and escapes of URLs do not matter.
struct PlaylistMatching: Sendable {
    /// A song of the library.
    private struct Candidate {
        var parts: [String]
        var id: String
    }

    /// Songs by the name of their file.
    private var candidates: [String: [Candidate]] = [:]

    /// Takes the songs of the library: the paths of their files in it, and their ids.
    init(_ songs: [(path: String, id: String)], for entries: [String]) {
        let names = Set(entries.flatMap { Self.readings(of: $0).compactMap(\.last) })
        for song in songs {
            let parts = Self.parts(of: song.path)
            guard let name = parts.last, names.contains(name) else { continue }
            candidates[name, default: []].append(Candidate(parts: parts, id: song.id))
        }
    }

    /// The song that an entry names. Nil if no song or several songs fit best.
    func song(for entry: String) -> String? {
        Self.readings(of: entry).lazy.compactMap(song(of:)).first
    }

    private func song(of parts: [String]) -> String? {
        guard let name = parts.last else { return nil }
        let ranked = (candidates[name] ?? []).map { candidate in
            (id: candidate.id, common: zip(candidate.parts.reversed(), parts.reversed()).prefix { $0 == $1 }.count)
        }
        guard let longest = ranked.map(\.common).max() else { return nil }
        let best = ranked.filter { $0.common == longest }
        return best.count == 1 ? best[0].id : nil
    }

    /// An entry as it is written, and without escapes.
    private static func readings(of entry: String) -> [[String]] {
        let decoded = entry.contains("%") ? PercentCoding.decoded(entry[...]) : nil
        return ([entry] + [decoded].compactMap(\.self)).map(parts)
    }

    private static func parts(of path: String) -> [String] {
        path.split { $0 == "/" || $0 == "\\" }.map { Letters.caseless(String($0)) }
    }
}
