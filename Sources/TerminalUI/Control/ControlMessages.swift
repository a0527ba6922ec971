// SPDX-License-Identifier: Apache-2.0

/// A request of `roadmesh control` to a running host: one line of JSON.
package struct ControlRequest: Codable, Hashable, Sendable {
    /// The key of the host's state folder. A confined child process of the host can reach the socket, but not read the
    /// folder.
    package var key: String
    /// The command, as it is typed at the prompt.
    package var command: String
    /// The language of the answer, as in `Language`.
    package var language: String

    /// A request.
    package init(key: String, command: String, language: String) {
        (self.key, self.command, self.language) = (key, command, language)
    }
}

/// The answer of the host: one line of JSON. `roadmesh control --json` prints it.
package struct ControlAnswer: Codable, Hashable, Sendable {
    /// The time of the answer, in seconds since 1970.
    package var at = 0.0
    /// The command that this answer belongs to.
    package var command: String
    /// The exit code of `roadmesh control`.
    package var exitCode: Int32
    /// The code of the notice that says why the command had no effect; nil if it was carried out.
    package var code: String?
    /// The effect of the command, for a person: one or more lines.
    package var message: String
    /// The song that plays after the command; nil for none.
    package var songID: String?
    /// The title of the song.
    package var title: String?
    /// The artist of the song.
    package var artist: String?
    /// Whether the song plays, and is not paused.
    package var isPlaying = false
    /// The position in the song, in seconds.
    package var elapsed = 0.0
    /// The volume in percent; nil without a player.
    package var volume: Int?
    /// How many decibels the music is lowered at present; nil without a player.
    package var duck: Int?

    /// An answer without the state of the music.
    package init(_ command: String, exitCode: Int32, code: String?, message: String) {
        (self.command, self.exitCode, self.code, self.message) = (command, exitCode, code, message)
    }

    private enum Key: String, CodingKey {
        case at, event, command, exitCode, code, message, songID, title, artist, isPlaying, elapsed, volume, duck
    }

    /// Reads an answer.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        command = try container.decode(String.self, forKey: .command)
        exitCode = try container.decode(Int32.self, forKey: .exitCode)
        code = try container.decodeIfPresent(String.self, forKey: .code)
        message = try container.decode(String.self, forKey: .message)
        songID = try container.decodeIfPresent(String.self, forKey: .songID)
        title = try container.decodeIfPresent(String.self, forKey: .title)
        artist = try container.decodeIfPresent(String.self, forKey: .artist)
        isPlaying = try container.decode(Bool.self, forKey: .isPlaying)
        elapsed = try container.decode(Double.self, forKey: .elapsed)
        volume = try container.decodeIfPresent(Int.self, forKey: .volume)
        duck = try container.decodeIfPresent(Int.self, forKey: .duck)
    }

    /// Writes the object. A missing value is a null.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(at, forKey: .at)
        try container.encode("answer", forKey: .event)
        try container.encode(command, forKey: .command)
        try container.encode(exitCode, forKey: .exitCode)
        try container.encode(code, forKey: .code)
        try container.encode(message, forKey: .message)
        try container.encode(songID, forKey: .songID)
        try container.encode(title, forKey: .title)
        try container.encode(artist, forKey: .artist)
        try container.encode(isPlaying, forKey: .isPlaying)
        try container.encode(elapsed, forKey: .elapsed)
        try container.encode(volume, forKey: .volume)
        try container.encode(duck, forKey: .duck)
    }
}
