// SPDX-License-Identifier: Apache-2.0

/// Which files are music, as their names say: what TagLib can tell the length of and the player can play. What plays but
/// has no length that can be told, such as MIDI and tracker modules, is left out: a song must end.
enum AudioFormat {
    /// Endings of file names, in small letters.
    static let endings: Set<String> = [
        "mp3", "flac", "ogg", "oga", "opus", "m4a", "aac", "mp4", "wav", "aif", "aiff", "wma", "ape", "mpc", "wv",
    ]

    private static let longestEnding = 4

    /// Whether a file's name is that of music.
    static func isMusic(_ name: String) -> Bool {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return false }
        let ending = name[name.index(after: dot)...]
        return !SystemFiles.isFile(name) && ending.utf8.count <= longestEnding && endings.contains(ending.lowercased())
    }
}
