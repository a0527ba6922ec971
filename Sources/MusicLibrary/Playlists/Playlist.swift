// SPDX-License-Identifier: Apache-2.0

import Glibc
import MeshProtocol

/// An entry of a playlist that may be a file.
struct PlaylistEntry: Hashable, Sendable {
    /// The path of the entry in every possible reading of its bytes, the likeliest first. A playlist specifies neither
    /// its encoding nor whether a percent sign is an escape.
    var readings: [String]

    /// An entry with these readings, at least one.
    init(_ readings: [String]) { self.readings = readings }

    /// The text to show.
    var text: String { readings.first ?? "" }
}

/// The files of a playlist, in order: M3U, extended M3U or PLS. No maintained library in Debian or for Swift reads both
/// formats, and each file is only one line. Streams and other entries that are not files are skipped.
struct Playlist: Hashable, Sendable {
    /// The files of the playlist.
    let entries: [PlaylistEntry]
    /// Entries that are not files, such as streams.
    let others: Int

    /// The extensions of playlists.
    static let endings = [".m3u", ".m3u8", ".pls"]

    /// Whether a path has the extension of a playlist.
    static func isPlaylist(_ path: String) -> Bool { endings.contains { path.lowercased().hasSuffix($0) } }

    /// Reads a playlist file. Nil if it cannot be read.
    init?(file path: String, limits: LibraryLimits) {
        guard Self.isPlaylist(path), let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: limits.playlistBytes)
        let count = fread(&bytes, 1, bytes.count, file)
        guard ferror(file) == 0 else { return nil }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        self.init(
            Array(bytes[..<count]), in: folder, isPLS: path.lowercased().hasSuffix(".pls"), limits: limits)
    }

    /// Parses a playlist in a folder. Entries beyond the limit are left out.
    init(_ bytes: [UInt8], in folder: String, isPLS: Bool, limits: LibraryLimits) {
        let decoder = PlaylistDecoder()
        var entries: [PlaylistEntry] = []
        var others = 0
        let lines = decoder.lines(of: bytes).lazy.compactMap { isPLS ? Self.entry($0) : Self.line($0) }
        for line in lines {
            guard entries.count + others < limits.playlistEntries else { break }
            let paths = decoder.readings(of: line).compactMap { Self.path($0, in: folder) }
                .filter { $0.utf8.count <= limits.playlistPathBytes }
            if paths.isEmpty { others += 1 } else { entries.append(PlaylistEntry(paths)) }
        }
        (self.entries, self.others) = (entries, others)
    }

    /// The file in a line of M3U.
    private static func line(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let entry = trimmed(line)
        return entry.isEmpty || entry.first == UInt8(ascii: "#") ? nil : entry
    }

    /// The file in a line of PLS: `File1=…`.
    private static func entry(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let sign = line.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let key = String(decoding: line[..<sign], as: UTF8.self).lowercased().filter { !$0.isWhitespace }
        guard key.hasPrefix("file"), Int(key.dropFirst(4)) != nil else { return nil }
        let value = trimmed(line[(sign + 1)...])
        return value.isEmpty ? nil : value
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) { line.removeLast() }
        return line
    }

    /// The absolute path of an entry, here or on another system. Nil for a stream.
    private static func path(_ entry: String, in folder: String) -> String? {
        var entry = entry
        if entry.lowercased().hasPrefix("file:") {
            // file:///home, file://localhost/home, file:///C:/Musik, file://server/Musik
            let rest = entry.dropFirst(5)
            let isLocal = rest.hasPrefix("///") || !rest.hasPrefix("//")
            let path = isLocal ? rest.drop { $0 == "/" || $0 == "\\" } : rest.dropFirst(2).drop { $0 != "/" }
            entry = "/" + path.drop { $0 == "/" }
            if path.isEmpty { return nil }
        } else if entry.contains("://") {
            return nil
        }
        guard !entry.unicodeScalars.contains("\0"), !entry.isEmpty else { return nil }
        // Windows writes backslashes. Linux allows backslashes in names, so a path with slashes keeps them.
        if !entry.contains("/") { entry = entry.replacing("\\", with: "/") }
        return normalized(entry.hasPrefix("/") ? entry : folder + "/" + entry)
    }

    /// Removes `.` and `..`. `..` never leaves the root.
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
