// SPDX-License-Identifier: Apache-2.0

/// Limits of a store, each with its reason. `MeshProtocol.Limits` bounds how much data a peer can cause, and the
/// application's own limits bound the application's data.
public enum StoreLimits {
    /// How long a write waits for another program that locks the database, such as one that copies it. A vote that
    /// takes longer looks stuck to its user.
    public static let busyTimeout: Duration = .milliseconds(200)
    /// Largest log that stays on disk after a checkpoint, in bytes: four times the size at which SQLite checkpoints. A
    /// log within this limit is reused instead of created again.
    public static let journalBytes = 16 << 20
    /// Idle time after a write until the log is checkpointed: soon enough that a vote is rarely only in the log, and
    /// late enough that a burst of votes causes one checkpoint.
    public static let idleCheckpoint: Duration = .seconds(1)
    /// Lines of one recorded drive: ten guests, each measured once a second, for a day. A line has some hundred bytes.
    public static let driveLines = 1_000_000
    /// Longest line of a recorded drive, in bytes: a name and a mark with all characters escaped.
    public static let driveLineBytes = 4_096
    /// Largest secret in a separate file, in bytes: a key, or a page's tokens.
    public static let secretBytes = 128
    /// Distance between the places of two neighbours in a list, for rows that move between them. After some thirty
    /// moves into one gap, all places are assigned again.
    static let placeStep: Int64 = 1 << 32
}
