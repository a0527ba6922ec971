// SPDX-License-Identifier: Apache-2.0

/// A host's policies that keep one guest from taking over the music. Each is independent; nil or false disables it.
public struct Fairness: Hashable, Sendable {
    /// Maximum number of suggestions of one guest that may wait in the queue.
    public var openSuggestions: Int?
    /// Maximum number of songs of one guest that play in a row while another guest's song waits.
    public var songsInARow: Int?
    /// More than half of the linked guests can skip a song.
    public var majoritySkip: Bool
    /// Guests vote for the songs that the driver has queued, and suggest nothing.
    public var voteOnly = false

    /// Creates policies. The defaults suit most cars.
    public init(
        openSuggestions: Int? = DJLimits.openSuggestions, songsInARow: Int? = DJLimits.songsInARow,
        majoritySkip: Bool = false
    ) {
        self.openSuggestions = openSuggestions
        self.songsInARow = songsInARow
        self.majoritySkip = majoritySkip
    }
}
