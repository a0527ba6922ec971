// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A step of the driver that can be undone for a limited time.
public struct UndoStep: Hashable, Sendable {
    /// The step.
    public enum Done: Hashable, Sendable {
        /// A song was removed from the queue, at this position.
        case remove(QueuedSong, at: Int)
        /// All songs were removed, in this order.
        case clear([QueuedSong])
        /// A song of the queue was moved from this position; nil if it was not queued before.
        case move(QueueItem, from: Int?, wasHeld: Bool)
        /// A guest was removed.
        case kick(Peer)
        /// A guest was banned beyond the session.
        case ban(Peer)
    }

    /// The step.
    public var done: Done
    /// The time until which it can be undone.
    public var until: MeshInstant
}

/// The driver's controls apart from the queue, as of now. Only the driver sees them.
public struct Steering: Hashable, Sendable {
    /// What `undo` would do.
    public enum Undo: Hashable, Sendable {
        /// Return the song of this title to the queue.
        case remove(title: String)
        /// Fill the queue again.
        case clear
        /// Move the song of this title back, or remove it if it was not queued before.
        case move(title: String)
        /// Admit the guest of this name again.
        case kick(name: String)
        /// Lift the ban of the guest of this name.
        case ban(name: String)
    }

    /// The step that can be undone; nil if there is none.
    public var undo: Undo?
    /// Counts the driver's steps. This number distinguishes a new step from an earlier one that can be undone again.
    public var steps: Int
    /// Whether there is a song before the present one.
    public var canGoBack: Bool
    /// The player's volume in percent; nil without a player.
    public var volume: Int?
    /// How many decibels the music is lowered at present; nil without a player.
    public var ducked: Int?
    /// Whether songs for an empty queue come in random order.
    public var shuffles: Bool

    /// Creates a description of the controls.
    public init(
        undo: Undo? = nil, steps: Int = 0, canGoBack: Bool = false, volume: Int? = nil, ducked: Int? = nil,
        shuffles: Bool = false
    ) {
        (self.undo, self.steps, self.canGoBack, self.volume) = (undo, steps, canGoBack, volume)
        self.ducked = ducked
        self.shuffles = shuffles
    }
}
