// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import MeshProtocol

/// The files that a playlist names, in its order: M3U, extended M3U, or PLS. No library of Debian or Swift reads both and is
/// kept, and what there is to read is a line a file. Streams and other things that are no file of this device are passed over.
struct Playlist: Hashable, Sendable {
    /// The absolute paths of its files.
    let files: [String]
    /// Entries that are no files, such as streams.
    let others: Int

    /// The endings of playlists.
    static let endings = [".m3u", ".m3u8", ".pls"]

    /// Whether a path is that of a playlist, by its ending.
    static func isPlaylist(_ path: String) -> Bool { endings.contains { path.lowercased().hasSuffix($0) } }

    /// Reads a playlist. Nil where it cannot be read, and where it names no file.
    init?(file path: String, limits: LibraryLimits) {
        guard Self.isPlaylist(path), let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: limits.playlistBytes)
        let count = fread(&bytes, 1, bytes.count, file)
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        self.init(
            Array(bytes[..<count]), in: folder, isPLS: path.lowercased().hasSuffix(".pls"), limits: limits)
        if files.isEmpty { return nil }
    }

    /// Reads what a playlist in a folder says. Entries beyond the limit are left out.
    init(_ bytes: [UInt8], in folder: String, isPLS: Bool, limits: LibraryLimits) {
        let text = Self.text(bytes)
        var files: [String] = []
        var others = 0
        for line in text.split(whereSeparator: \.isNewline).lazy.compactMap({ isPLS ? Self.entry($0) : Self.line($0) })
        {
            guard files.count + others < limits.playlistEntries else { break }
            if let path = Self.path(line, in: folder), path.utf8.count <= limits.playlistPathBytes {
                files.append(path)
            } else {
                others += 1
            }
        }
        (self.files, self.others) = (files, others)
    }

    /// UTF-8, or what older programs write: then each byte is a letter of Latin-1.
    private static func text(_ bytes: [UInt8]) -> String {
        let bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    /// A line of M3U that names a file.
    private static func line(_ line: Substring) -> Substring? {
        let entry = line.drop(while: \.isWhitespace)
        return entry.isEmpty || entry.hasPrefix("#") ? nil : entry
    }

    /// A line of PLS that names a file: `File1=…`.
    private static func entry(_ line: Substring) -> Substring? {
        guard let sign = line.firstIndex(of: "=") else { return nil }
        let key = line[..<sign].lowercased().filter { !$0.isWhitespace }
        guard key.hasPrefix("file"), Int(key.dropFirst(4)) != nil else { return nil }
        let value = line[line.index(after: sign)...].drop(while: \.isWhitespace)
        return value.isEmpty ? nil : value
    }

    /// The absolute path of an entry; nil of what is no file.
    private static func path(_ entry: Substring, in folder: String) -> String? {
        var entry = String(entry)
        while entry.last?.isWhitespace == true { entry.removeLast() }
        if entry.lowercased().hasPrefix("file://") {
            guard let path = PercentCoding.decoded(entry.dropFirst(7)), path.hasPrefix("/") else { return nil }
            entry = path
        } else if entry.contains("://") {
            return nil
        }
        // Of Windows, whose drives are not here.
        if !entry.contains("/") { entry = entry.replacing("\\", with: "/") }
        guard !entry.utf8.contains(0), !entry.isEmpty else { return nil }
        return normalized(entry.hasPrefix("/") ? entry : folder + "/" + entry)
    }

    /// Without `.` and `..`, which lead out of no root.
    private static func normalized(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") {
            switch part {
            case ".": break
            case "..": _ = parts.popLast()
            default: parts.append(part)
            }
        }
        return "/" + parts.joined(separator: "/")
    }
}
