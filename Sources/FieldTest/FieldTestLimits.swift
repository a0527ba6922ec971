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
    /// Peers with a line of their own in a plot: people cannot distinguish more.
    public static let plotPeers = 12
    /// Characters of a word in a drive that people do not read: an identifier, a code.
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
    /// Drives side by side in a report: more do not fit a screen.
    public static let comparedDrives = 6
    /// Points of a line in a plot: twice as many as a large screen has pixels.
    public static let plotPoints = 2_400
    /// Gaps in a report's table; a longer list is a file for a spreadsheet.
    public static let shownGaps = 200
    /// Worlds that a drive is driven through at a time.
    public static let replaySeeds = 1_000
    /// What a replay back to back leaves of the time between two gaps: the guest is in, and has been measured.
    public static let backToBack: Duration = .seconds(2)

    // MARK: A fleet

    /// Bytes of rows, or of a header, in one message to a broker: with a number and a topic they fit into 4,096, the
    /// `message_size_limit` that is recommended for brokers.
    public static let batchBytes = 3_900
    /// Bytes of a message that is read: a batch and its number.
    public static let messageBytes = 4_096
    /// Rows that are read for one batch: none is shorter than some 25 bytes.
    public static let batchRows = 160
    /// Rows that are sent without waiting for more: they most often fill a batch.
    public static let fullBatchRows = 25
    /// The shortest time between two batches, so that at most some 4 KB a second leave: the queue and its votes go first on
    /// the same mobile network, and an hour's drive is caught up with within minutes.
    public static let uplinkPace: Duration = .seconds(1)
    /// How long rows of a drive that goes on wait to fill a batch: each costs some 300 bytes of headers and acknowledgements.
    public static let uplinkInterval: Duration = .seconds(15)
    /// How long the collector's word on a batch is waited for at first, and twice as long each time: two mobile networks and
    /// a disk take a second or two.
    public static let uplinkPatience: Duration = .seconds(10)
    /// A person sees only after this time that no collector answers: a restarted collector is back by then.
    public static let uplinkQuiet: Duration = .seconds(60)
    /// How often a car asks the broker again for a collector: the collector's message may be lost.
    public static let uplinkLook: Duration = .seconds(300)
    /// How long what remains may take to leave at the end, within `NodeLimits.shutdown`.
    public static let uplinkFarewell: Duration = .milliseconds(1_200)
    /// Earlier drives whose headers are published at a time. The next follow when these are collected.
    public static let announcedDrives = 16
    /// The last collected drives, whose headers are withdrawn again at the start of a run.
    public static let withdrawnDrives = 32
    /// Cars of a collection: a large fleet.
    public static let collectedCars = 2_000
    /// Drives of one car in a collection: one a day for more than a year. A node that impersonates a car leaves room
    /// for others.
    public static let collectedDrivesOfCar = 500
    /// Drives of a collection, in all.
    public static let collectedDrives = 50_000
    /// Bytes of a collection's database: some 10,000 hours of driving.
    public static let collectedBytes = 8 << 30
    /// How often the collector prints that a drive goes on.
    public static let collectTold: Duration = .seconds(60)
    /// Slowest times back that a report on a fleet names.
    public static let slowestShown = 12
    /// Drives in a fleet report's table; all are in its other forms.
    public static let fleetDrivesShown = 200
    /// Cars, and versions, with a row of their own in a fleet report.
    public static let fleetRows = 200
}
