// SPDX-License-Identifier: Apache-2.0

/// Limits of a store, each with its reason. What a peer can make it grow by is bounded in `MeshProtocol.Limits`, what an
/// application can in the application's own.
public enum StoreLimits {
    /// How long a write waits for another program that holds the database, such as one that copies it: a vote that takes
    /// longer looks stuck to its person.
    public static let busyTimeout: Duration = .milliseconds(200)
    /// Largest log that stays on disk after what is in it went to the database, in bytes: four times what SQLite lets it
    /// grow to before that, so that it is not made again each time.
    public static let journalBytes = 16 << 20
    /// How long after a write, without another one, what is in the log goes to the database: soon enough that the log is
    /// seldom all there is of a vote, and late enough that a burst of votes is one go.
    public static let idleCheckpoint: Duration = .seconds(1)
    /// Lines of one recorded drive: ten guests, each measured once a second, for a day. A line is some hundred bytes.
    public static let driveLines = 1_000_000
    /// Longest line of a recorded drive, in bytes: a name and a mark, each escaped to the utmost.
    public static let driveLineBytes = 4_096
    /// Largest secret in a file of its own, in bytes: a key, or a page's tokens.
    public static let secretBytes = 128
    /// Room between the places of two neighbours in a list, for those that move between them: after some thirty moves
    /// into one gap all places are given out again.
    static let placeStep: Int64 = 1 << 32
}
