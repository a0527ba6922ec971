// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Limits of recordings and reports, each with its reason.
public enum FieldTestLimits {
    /// How often what was recorded goes to the disk: a power cut takes no more than that, and a card that wears out by
    /// writing gets one write a second.
    public static let writeInterval: Duration = .seconds(1)
    /// How often a recording in which nothing happens says that it goes on.
    public static let tickInterval: Duration = .seconds(10)
    /// Rows that wait for a disk that takes nothing: some minutes of a full car. The oldest go first.
    public static let waitingRows = 4_096
    /// Where a drive comes from: a sentence or two.
    public static let originCharacters = 400
    /// Peers that have a line of their own in a plot: nobody tells more apart.
    public static let plotPeers = 12
    /// A word of a drive that no person reads: an identifier, a code.
    public static let wordCharacters = 256
    /// Marks given on the command line: more than a plot can show.
    public static let timedMarks = 100
    /// Largest drive that is read, in bytes: the longest that is recorded, `StoreLimits.driveLines` of some hundred
    /// bytes.
    public static let driveBytes = 256 << 20
    /// A drive is not longer than this: a recording of a month was forgotten, not made.
    public static let longestDrive: Duration = .seconds(31 * 86_400)
    /// How long a pending dial takes on average from being in range to a link: one advertisement is heard, which comes
    /// within 20 to 30 ms, and the next is answered.
    public static let linkLag: Duration = .microseconds(37_500)
    /// The same of a host that advertises slowly, every 150 to 210 ms.
    public static let slowLinkLag: Duration = .milliseconds(270)
    /// Drives beside one another in a report: more do not fit a screen.
    public static let comparedDrives = 6
    /// Points of a line in a plot: twice as many as a large screen has pixels.
    public static let plotPoints = 2_400
    /// Gaps in a report's table; a longer list is a file for a spreadsheet.
    public static let shownGaps = 200
    /// Worlds that a drive is driven through at a time.
    public static let replaySeeds = 1_000
    /// What a replay back to back leaves of the time between two gaps: the guest is in, and has been measured.
    public static let backToBack: Duration = .seconds(2)
}
