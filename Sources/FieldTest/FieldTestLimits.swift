// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Limits of recordings and reports, each with its reason.
public enum FieldTestLimits {
    /// Time between two writes of a recording. A power cut loses no more than this, and a card with limited writes gets
    /// one write a second.
    public static let writeInterval: Duration = .seconds(1)
    /// Interval of rows in a recording without other events.
    public static let tickInterval: Duration = .seconds(10)
    /// Interval of rows with the program's load. An hour has sixty of them.
    public static let loadInterval: Duration = .seconds(60)
    /// Rows that are queued while the disk refuses them: some minutes of a full car. The oldest are dropped first.
    public static let waitingRows = 4_096
    /// Characters of a drive's origin: a sentence or two.
    public static let originCharacters = 400
    /// Peers with their own line in a plot. People cannot distinguish more lines.
    public static let plotPeers = 12
    /// Longest word in a drive that is not meant for people, in characters: an identifier or a code.
    public static let wordCharacters = 256
    /// Shortest time between two recorded positions. It is less than a second. Otherwise, if a receiver reports
    /// slightly early, every other position would be skipped.
    public static let positionInterval: Duration = .milliseconds(800)
    /// Time after which an unchanged position is recorded again. So a report can show that the device stood still.
    public static let positionRepeat: Duration = .seconds(10)
    /// Longest line of gpsd. Its own longest one has 10,240 bytes.
    public static let gpsdLineBytes = 16_384
    /// Time between two attempts to reach gpsd, so that it is found soon after its start.
    public static let gpsdRetry: Duration = .seconds(5)
    /// Timeout of a connection to gpsd. On the same device it takes less than a millisecond.
    public static let gpsdPatience: Duration = .seconds(5)
    /// Length of a track, in metres, that is removed at its start and at its end before it is shared. People live and
    /// work there.
    public static let withheldMetres = 200.0
    /// Positions of a shared drive that wait until the device is far enough away: an hour in one place. The oldest are
    /// dropped first.
    public static let withheldPositions = 3_600
    /// Largest GPX file that is read, in bytes: a day with a point each second and many extensions.
    public static let gpxBytes = 64 << 20
    /// Points of a GPX file: so many that a drive has room for them and for its other rows.
    public static let gpxPoints = 500_000
    /// The first position of a track is also used for this time before it, and the last one for this time after it: a
    /// receiver's usual delay.
    public static let trackEdge: Duration = .seconds(5)
    /// Longest time between two positions in which the device is assumed to go straight on: the longest road tunnels
    /// take some twenty minutes.
    public static let trackHole: Duration = .seconds(1_800)
    /// Distance of gaps that are one dead zone, in metres: some times the error of a good receiver.
    public static let zoneMetres = 30.0
    /// Points of a dead zone's line. A map cannot show more points.
    public static let zonePoints = 64
    /// Gaps of a drive on a map: only the first ones, because more would hide each other.
    public static let mappedGaps = 200
    /// Dead zones in a report's table. JSON and GeoJSON have all dead zones.
    public static let shownZones = 50
    /// A signal measurement older than this no longer colours a track. A new measurement arrives each second.
    public static let signalAge: Duration = .seconds(3)
    /// Smallest width and height of a map, in metres. A device that stands still is a point on it.
    public static let mapMetres = 100.0
    /// Wishes that a replay explains. Further wishes usually have the same reasons.
    public static let explainedWishes = 20
    /// Marks on the command line: more than a plot can show.
    public static let timedMarks = 100
    /// Largest drive that is read, in bytes: the longest that is recorded, `StoreLimits.driveLines` lines of some
    /// hundred bytes.
    public static let driveBytes = 256 << 20
    /// Longest drive. A recording that runs for a month was forgotten, not intended.
    public static let longestDrive: Duration = .seconds(31 * 86_400)
    /// Average time of a pending dial from being in range to a link: it receives one advertisement, which comes within
    /// 20 to 30 ms, and answers the next.
    public static let linkLag: Duration = .microseconds(37_500)
    /// Average time of a pending dial to a host that advertises slowly, every 150 to 210 ms.
    public static let slowLinkLag: Duration = .milliseconds(270)
    /// Drives next to each other in a report: more do not fit a screen.
    public static let comparedDrives = 6
    /// Points of a line in a plot: twice as many as a large screen has pixels.
    public static let plotPoints = 2_400
    /// Gaps in a report's table. The spreadsheet file has a longer list.
    public static let shownGaps = 200
    /// Simulated worlds in which one command replays a drive.
    public static let replaySeeds = 1_000
    /// Time that a back-to-back replay leaves between two gaps: enough for the guest to join and be measured.
    public static let backToBack: Duration = .seconds(2)

    // MARK: Packets

    /// Time before and after the loss of a link, and before and after its return, that a file of packets has. The
    /// longest silence before a loss is 2.5 s, and the kernel ends an incoming link up to 4 s after its last channel.
    public static let packetsAround: Duration = .seconds(5)
    /// Longest time in one file, if gaps follow each other closely: three of them at a signal's limit.
    public static let packetWindow: Duration = .seconds(25)
    /// Files of packets of one drive: two for each gap that a report shows.
    public static let packetFiles = 400
    /// Bytes of all files of packets of one drive. A gap in a street with many devices takes some hundred KB.
    public static let packetBytes = 64 << 20
    /// Peers with a gap at the same time: more than a host has guests.
    public static let packetPeers = 64

    // MARK: A fleet

    /// Bytes of rows, or of a header, in one message to a broker. With a number and a topic they fit into 4,096, the
    /// `message_size_limit` that is recommended for brokers.
    public static let batchBytes = 3_900
    /// Largest message that is read, in bytes: a batch and its number.
    public static let messageBytes = 4_096
    /// Rows that are read for one batch: no row has fewer than some 25 bytes.
    public static let batchRows = 160
    /// Rows that are sent without waiting for more: they usually fill a batch.
    public static let fullBatchRows = 25
    /// Shortest time between two batches, so that a car sends at most some 4 KB a second. The queue and its votes come
    /// first on the same mobile network, and an hour's drive is still sent within minutes.
    public static let uplinkPace: Duration = .seconds(1)
    /// Longest time that rows of an unfinished drive wait to fill a batch. Each batch costs some 300 bytes of headers
    /// and acknowledgements.
    public static let uplinkInterval: Duration = .seconds(15)
    /// First timeout for the collector's confirmation of a batch. It doubles each time. Two mobile networks and a disk
    /// take a second or two.
    public static let uplinkPatience: Duration = .seconds(10)
    /// Time without an answer of a collector until the user is notified. A restarting collector is back sooner.
    public static let uplinkQuiet: Duration = .seconds(60)
    /// Interval at which a car asks the broker again for a collector, because the collector's message may be lost.
    public static let uplinkLook: Duration = .seconds(300)
    /// Time for sending the remaining rows at the end, within `NodeLimits.shutdown`.
    public static let uplinkFarewell: Duration = .milliseconds(1_200)
    /// Earlier drives that have published headers at the same time. Further drives follow when these are collected.
    public static let announcedDrives = 16
    /// Latest collected drives. Their headers are removed again at the start of a run.
    public static let withdrawnDrives = 32
    /// Cars in a collection: a large fleet.
    public static let collectedCars = 2_000
    /// Drives of one car in a collection: one a day for more than a year. A node that impersonates a car still leaves
    /// room for other cars.
    public static let collectedDrivesOfCar = 500
    /// Drives in a collection, in total.
    public static let collectedDrives = 50_000
    /// Size of a collection's database, in bytes: some 10,000 hours of driving.
    public static let collectedBytes = 8 << 30
    /// Interval at which the collector prints the progress of a drive.
    public static let collectTold: Duration = .seconds(60)
    /// Slowest reconnects that a report on a fleet names.
    public static let slowestShown = 12
    /// Drives in a fleet report's table. Its other forms have all drives.
    public static let fleetDrivesShown = 200
    /// Cars, and versions, with their own row in a fleet report.
    public static let fleetRows = 200
}
