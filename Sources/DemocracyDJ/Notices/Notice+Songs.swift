// SPDX-License-Identifier: Apache-2.0

extension Notice {
    /// The head unit has failed on a song, whoever asked for it. `title` is nil where its name is not known any more.
    public static func cannotBePlayed(title: String?) -> Notice {
        passing(
            "cannotBePlayed", "\(title.map { "\"\($0)\"" } ?? "A song that you voted for") cannot be played.",
            "It was skipped, and the next one plays.")
    }

    /// The library is another one than that of the session that goes on.
    public static func songsMissing(_ count: Int) -> Notice {
        passing(
            "songsMissing",
            "\(count) \(count == 1 ? "song" : "songs") of the last queue \(count == 1 ? "is" : "are") not in this library.",
            "They and their votes are gone from the queue.")
    }
}
