// SPDX-License-Identifier: Apache-2.0

/// Recognises music files by their names. These are the extensions of the formats that the player can play
/// (`MPVArguments.formats`).
enum AudioFormat {
    /// File name extensions in lower case.
    static let endings: Set<String> = [
        "mp3", "mp2", "mpga", "flac", "ogg", "oga", "opus", "spx", "m4a", "m4b", "m4r", "aac", "mp4", "3gp", "3ga",
        "wav",
        "w64", "aif", "aiff", "aifc", "wma", "asf", "ape", "mpc", "mp+", "wv", "tta", "tak", "dsf", "dff", "ac3",
        "eac3",
        "ec3", "dts", "au", "snd", "caf", "mka", "weba", "webm", "amr",
    ]

    /// Extensions of music that cannot be played here: scores and tracker modules, which have no end, and files that
    /// only the seller's program can read.
    static let unplayable: Set<String> = [
        "mid", "midi", "kar", "rmi", "mod", "xm", "s3m", "it", "m4p", "aa", "aax", "aaxc", "ra", "rm", "ram", "ofr",
        "shn", "cda",
    ]

    /// Extensions of files with tags that only the player reads. TagLib 1.13 finds the length of some.
    static let taggedForPlayer: Set<String> = ["mka", "weba", "webm", "tta"]

    private static let longestEnding = 4

    /// Whether a file's name is that of music that cannot be played here.
    static func isUnplayable(_ name: String) -> Bool { hasEnding(of: unplayable, name) }

    /// Whether only the player reads the file's tags, judged by its name.
    static func isTaggedForPlayer(_ name: String) -> Bool { hasEnding(of: taggedForPlayer, name) }

    /// Whether a file's name is that of playable music.
    static func isMusic(_ name: String) -> Bool { hasEnding(of: endings, name) }

    private static func hasEnding(of endings: Set<String>, _ name: String) -> Bool {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return false }
        let ending = name[name.index(after: dot)...]
        return !SystemFiles.isFile(name) && ending.utf8.count <= longestEnding && endings.contains(ending.lowercased())
    }
}
