// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What the driver has done and can undo, for a while.
public struct UndoStep: Hashable, Sendable {
    /// What was done.
    public enum Done: Hashable, Sendable {
        /// A song was taken out of the queue, at this place of it.
        case remove(QueuedSong, at: Int)
        /// All songs were, in this order.
        case clear([QueuedSong])
        /// A song of the queue was given a place, and had this one before. Nil where it was not queued.
        case move(QueueItem, from: Int?, wasHeld: Bool)
        /// A guest was sent away.
        case kick(Peer)
        /// A guest was sent away beyond the session.
        case ban(Peer)
    }

    /// What was done.
    public var done: Done
    /// Until when it can be undone.
    public var until: MeshInstant
}

/// What a driver can do beside the queue, as it stands: shown to the driver alone.
public struct Steering: Hashable, Sendable {
    /// What `undo` would undo.
    public enum Undo: Hashable, Sendable {
        /// The song of this title goes back into the queue.
        case remove(title: String)
        /// The queue is filled again.
        case clear
        /// The song of this title goes back to its place, or out of the queue where it was not in it.
        case move(title: String)
        /// The guest of this name may come again.
        case kick(name: String)
        /// The same after a ban.
        case ban(name: String)
    }

    /// What can be undone; nil for nothing.
    public var undo: Undo?
    /// Counts what was done, so that what is new can be told from what is on offer again.
    public var steps: Int
    /// Whether there is a song before the present one.
    public var canGoBack: Bool
    /// How loud the player plays, in percent; nil where there is none.
    public var volume: Int?
    /// Whether the library's songs play in a random order where nobody asks.
    public var shuffles: Bool

    /// What can be done.
    public init(
        undo: Undo? = nil, steps: Int = 0, canGoBack: Bool = false, volume: Int? = nil, shuffles: Bool = false
    ) {
        (self.undo, self.steps, self.canGoBack, self.volume) = (undo, steps, canGoBack, volume)
        self.shuffles = shuffles
    }
}
