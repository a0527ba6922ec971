// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What a drive comes to, in numbers. Times are seconds since the drive began, or durations in seconds.
public struct DriveMetrics: Hashable, Sendable {
    /// A measurement of a link.
    public struct Sample: Hashable, Sendable {
        /// When.
        public var at: Double
        /// Of which link.
        public var peer: Peer.ID
        /// Signal strength in dBm.
        public var rssi: Int?
        /// Round trip in milliseconds.
        public var rtt: Double?
    }

    /// A moment that somebody has marked.
    public struct Mark: Codable, Hashable, Sendable {
        /// When.
        public var at: Double
        /// Its words.
        public var text: String
    }

    /// For how long the radio was at what.
    public struct RadioTime: Codable, Hashable, Sendable {
        /// It listened for hosts.
        public var scanning = 0.0
        /// A dial was pending.
        public var dialling = 0.0
        /// At least one link was up.
        public var linked = 0.0
        /// It let guests find it.
        public var advertising = 0.0
    }

    /// How long the drive took.
    public private(set) var seconds = 0.0
    /// The gaps, in the order in which they began.
    public private(set) var gaps: [Gap] = []
    /// What the links were like.
    public private(set) var samples: [Sample] = []
    /// What links with relays, and with nodes behind this one, were like; without their round trips, which are no session's.
    public private(set) var carriers: [Sample] = []
    /// What became of the votes.
    public private(set) var deliveries = Deliveries()
    /// Marks.
    public private(set) var marks: [Mark] = []
    /// What the radio was at.
    public private(set) var radio = RadioTime()
    /// Messages that left again on a later link.
    public private(set) var resent = 0
    /// Messages that came again and were dropped.
    public private(set) var duplicates = 0
    /// Rows that are missing.
    public private(set) var missing = 0
    /// Some link was up at some time.
    public private(set) var hadLink = false
    /// Some link was up at the end.
    public private(set) var endsLinked = false
    /// Over how many relays links led, and over which.
    public private(set) var hops = HopTimes()
    /// Names of peers.
    public private(set) var names: [Peer.ID: String] = [:]

    /// Looks through a drive.
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
        // As a gap begins: when nothing came any more.
        case .lost: hops.lost(contact.peer, at: max(0, at - (contact.silence ?? 0)))
        case .heard, .dialled, .current: break
        }
    }

    /// Over how many relays a link led when its gap began; nil where nothing tells.
    public func hops(before gap: Gap) -> Int? {
        hops.stretches.last { $0.end <= gap.lost && Identity.head(of: $0.peer) == Identity.head(of: gap.peer) }?.hops
    }

    /// What a relay is called, by its head where nothing tells its name.
    public func name(ofRelay head: Peer.ID) -> String {
        names.first { Identity.head(of: $0.key) == head }?.value ?? head
    }

    /// Signal strengths in dBm, the weakest first.
    public var signal: [Int] { (samples + carriers).compactMap(\.rssi).sorted() }

    /// Round trips in milliseconds, the shortest first.
    public var roundTrips: [Double] { samples.compactMap(\.rtt).sorted() }

    /// From the end of a gap until everything was as before, in seconds, the shortest first.
    public var reconnects: [Double] { gaps.compactMap(\.reconnect).sorted() }

    /// All gaps together, in seconds; one that lasts counts up to the end of the drive.
    public var away: Double { gaps.reduce(0) { $0 + (($1.end ?? seconds) - $1.start) } }

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
    /// The value that a share (0 to 1) of a sorted list is not above. Nil for an empty one.
    func quantile(_ share: Double) -> Element? {
        isEmpty ? nil : self[Swift.min(count - 1, Int((Double(count - 1) * share).rounded()))]
    }

    /// The value in the middle of a sorted list.
    var median: Element? { quantile(0.5) }
}
