// SPDX-License-Identifier: Apache-2.0

/// What a host sees to so that one guest does not have all the music. Each is a policy of its own; nil or false is off.
public struct Fairness: Hashable, Sendable {
    /// Suggestions of one guest that may wait in the queue at a time.
    public var openSuggestions: Int?
    /// Songs of one guest that play in a row while another guest's song waits.
    public var songsInARow: Int?
    /// More than half of the guests that are present can skip a song.
    public var majoritySkip: Bool
    /// Guests vote for what the driver has queued, and suggest nothing.
    public var voteOnly = false

    /// Policies; what is not named is as most cars want it.
    public init(
        openSuggestions: Int? = DJLimits.openSuggestions, songsInARow: Int? = DJLimits.songsInARow,
        majoritySkip: Bool = false
    ) {
        self.openSuggestions = openSuggestions
        self.songsInARow = songsInARow
        self.majoritySkip = majoritySkip
    }
}
