// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The metrics of a drive. Times are seconds since its start, or durations in seconds.
public struct DriveMetrics: Hashable, Sendable {
    /// A measurement of a link.
    public struct Sample: Hashable, Sendable {
        /// The time of the sample.
        public var at: Double
        /// The peer of the link.
        public var peer: Peer.ID
        /// Signal strength in dBm.
        public var rssi: Int?
        /// Round trip in milliseconds.
        public var rtt: Double?
    }

    /// A mark that the user has set.
    public struct Mark: Codable, Hashable, Sendable {
        /// The time of the mark.
        public var at: Double
        /// The text of the mark.
        public var text: String
    }

    /// The durations of the radio's activities.
    public struct RadioTime: Codable, Hashable, Sendable {
        /// Time in which the radio scanned for hosts.
        public var scanning = 0.0
        /// Time in which a dial was pending.
        public var dialling = 0.0
        /// Time in which at least one link was up.
        public var linked = 0.0
        /// Time in which the radio advertised.
        public var advertising = 0.0
    }

    /// The duration of the drive.
    public private(set) var seconds = 0.0
    /// The gaps, in the order of their starts.
    public private(set) var gaps: [Gap] = []
    /// Measurements of links.
    public private(set) var samples: [Sample] = []
    /// Measurements of links to relays and to nodes behind this one. They have no round trips, because these belong to
    /// no session.
    public private(set) var carriers: [Sample] = []
    /// The results of the votes.
    public private(set) var deliveries = Deliveries()
    /// Marks.
    public private(set) var marks: [Mark] = []
    /// The radio's activities.
    public private(set) var radio = RadioTime()
    /// The average load of the program; nil for a recording of an older version.
    public private(set) var load: LoadRate?
    /// Messages that were sent again on a later link.
    public private(set) var resent = 0
    /// Messages that arrived again and were dropped.
    public private(set) var duplicates = 0
    /// Missing rows.
    public private(set) var missing = 0
    /// A link was up at some time.
    public private(set) var hadLink = false
    /// A link was up at the end.
    public private(set) var endsLinked = false
    /// The number of relays on the routes, and which ones.
    public private(set) var hops = HopTimes()
    /// Where the device was.
    public private(set) var track = Track()
    /// Names of peers.
    public private(set) var names: [Peer.ID: String] = [:]

    /// Computes the metrics of a drive.
    public init(_ drive: Drive) {
        var finder = GapFinder()
        var activity: (since: Double, sample: RadioSample)?
        var resent: [Peer.ID: Int] = [:], duplicates: [Peer.ID: Int] = [:]
        seconds = drive.seconds
        for row in drive.rows {
            switch row.what {
            case .link(let peer, let sample):
                samples.append(Sample(at: row.at, peer: peer, rssi: sample.rssi, rtt: sample.rtt))
                resent[peer] = max(0, sample.resent)
                duplicates[peer] = max(0, sample.duplicates)
                hops.told(peer, sample, at: row.at)
            case .carrier(let peer, let sample):
                carriers.append(Sample(at: row.at, peer: peer, rssi: sample.rssi))
                if let name = sample.name { names[peer] = name }
            case .contact(let contact):
                finder.take(contact, at: row.at)
                take(contact, at: row.at)
                if let name = contact.name { names[contact.peer] = name }
            case .radio(let sample):
                if let activity { radio.add(activity.sample, row.at - activity.since) }
                activity = (row.at, sample)
            case .wish(let wish): deliveries.take(wish, at: row.at)
            case .intent(let intent): deliveries.take(intent, at: row.at)
            case .mark(let text): marks.append(Mark(at: row.at, text: text))
            case .missing(let rows): missing += max(0, min(rows, DriveRow.largestCount))
            case .position(let position): track.append(position, at: row.at)
            case .load(let total): load = row.at > 0 ? total.rate(over: row.at) : nil
            case .notice, .tick, .end: break
            }
        }
        if let activity { radio.add(activity.sample, seconds - activity.since) }
        gaps = finder.gaps.sorted { $0.start < $1.start }
        hops.finish(at: seconds)
        hadLink = finder.hadLink || !samples.isEmpty
        endsLinked = !finder.isLinked.isEmpty
        self.resent = resent.values.reduce(0, +)
        self.duplicates = duplicates.values.reduce(0, +)
        deliveries.finish()
    }

    private mutating func take(_ contact: ContactRow, at: Double) {
        switch contact.phase {
        case .resumed: hops.resumed(contact.peer, at: at)
        // As for a gap, from the last received data on.
        case .lost: hops.lost(contact.peer, at: max(0, at - (contact.silence ?? 0)))
        case .heard, .dialled, .current: break
        }
    }

    /// The number of relays on a link's route when its gap started; nil if unknown.
    public func hops(before gap: Gap) -> Int? {
        hops.stretches.last { $0.end <= gap.lost && Identity.head(of: $0.peer) == Identity.head(of: gap.peer) }?.hops
    }

    /// A relay's name, or its head if the name is unknown.
    public func name(ofRelay head: Peer.ID) -> String {
        names.first { Identity.head(of: $0.key) == head }?.value ?? head
    }

    /// Signal strengths in dBm, the weakest first.
    public var signal: [Int] { (samples + carriers).compactMap(\.rssi).sorted() }

    /// Round trips in milliseconds, the shortest first.
    public var roundTrips: [Double] { samples.compactMap(\.rtt).sorted() }

    /// Reconnects: seconds from the end of a gap until the state was current, the shortest first.
    public var reconnects: [Double] { gaps.compactMap(\.reconnect).sorted() }

    /// The sum of all gaps, in seconds. An unfinished gap counts up to the end of the drive.
    public var away: Double { gaps.reduce(0) { $0 + (($1.end ?? seconds) - $1.start) } }

    /// The share of the drive without a link to a peer that had one, 0 to 1. Times of several peers that overlap count
    /// once.
    public var awayShare: Double {
        guard seconds > 0 else { return 0 }
        return min(gaps.spans(seconds).reduce(0) { $0 + $1.end - $1.start } / seconds, 1)
    }

    /// The longest gap, in seconds.
    public var longestGap: Double? { gaps.map { ($0.end ?? seconds) - $0.start }.max() }
}

extension DriveMetrics.RadioTime {
    fileprivate mutating func add(_ sample: RadioSample, _ seconds: Double) {
        // A dial interrupts a scan.
        if sample.dialling { dialling += seconds } else if sample.scanning { scanning += seconds }
        if sample.links > 0 { linked += seconds }
        if sample.advertising { advertising += seconds }
    }
}

extension Array where Element: Comparable {
    /// The smallest value that at least this share (0 to 1) of a sorted list does not exceed. Nil for an empty list.
    func quantile(_ share: Double) -> Element? {
        isEmpty ? nil : self[Swift.min(count - 1, Int((Double(count - 1) * share).rounded()))]
    }

    /// The value in the middle of a sorted list.
    var median: Element? { quantile(0.5) }
}
