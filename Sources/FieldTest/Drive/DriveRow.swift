// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// A recorded event: a line of a drive.
public struct DriveRow: Hashable, Sendable {
    /// Seconds since the start of the drive.
    public var at: Double
    /// The event that the row records.
    public var what: Happening

    /// Makes a row. The time is rounded to a tenth of a millisecond.
    public init(at: Duration, _ what: Happening) {
        self.at = ((at / .seconds(1)) * 10_000).rounded() / 10_000
        self.what = what
    }
}

/// An event that can be recorded.
public enum Happening: Hashable, Sendable {
    /// A link's report, about once a second.
    case link(Peer.ID, LinkSample)
    /// A report of a link to a relay, or to a node behind this one. The link to a host goes over it.
    case carrier(Peer.ID, CarrierSample)
    /// A link was lost, or a step towards a link was made.
    case contact(ContactRow)
    /// The radio's activity has changed.
    case radio(RadioSample)
    /// The state of a guest's wish has changed.
    case wish(WishRow)
    /// A host received a wish.
    case intent(IntentRow)
    /// Where the device was, about once a second.
    case position(PositionRow)
    /// The load of the program since the start of the drive, once a minute and at the end.
    case load(ProcessLoad)
    /// The user has set a mark.
    case mark(String)
    /// A notice with this code was shown.
    case notice(String)
    /// The recording continues.
    case tick
    /// Number of rows before this one that were lost because the disk refused them.
    case missing(Int)
    /// The recording has ended, with its reason.
    case end(String)
}

/// A recorded report of a link.
public struct LinkSample: Codable, Hashable, Sendable {
    /// Signal strength in dBm, nil if the radio cannot measure it.
    public var rssi: Int?
    /// The last round trip in milliseconds.
    public var rtt: Double?
    /// Bytes sent on this link so far.
    public var sent: Int
    /// Bytes received on this link so far.
    public var received: Int
    /// Messages that were sent again on a later link, since the node's start.
    public var resent: Int
    /// Messages that arrived again and were dropped, since the node's start.
    public var duplicates: Int
    /// Messages that are not acknowledged yet.
    public var outbox: Int
    /// Number of relays between the two; nil without a relay.
    public var hops: Int?
    /// The relay through which the guest has joined, by its identifier or the head of it.
    public var via: Peer.ID?
    /// At a host: the number of circuits that a relay forwards over this link.
    public var circuits: Int?

    /// Copies a link's report.
    public init(_ report: LinkReport) {
        rssi = report.rssi
        rtt = report.roundTrip.map(Self.milliseconds)
        sent = report.sentBytes
        received = report.receivedBytes
        resent = report.resent
        duplicates = report.duplicates
        outbox = report.outbox
        hops = report.relays > 0 ? report.relays : nil
        via = report.via
        circuits = report.circuits
    }

    /// Rounds to a hundredth of a millisecond.
    fileprivate static func milliseconds(_ time: Duration) -> Double {
        ((time / .milliseconds(1)) * 100).rounded() / 100
    }
}

/// A recorded report of a link to a relay, or to a node behind this one.
public struct CarrierSample: Codable, Hashable, Sendable {
    /// The name of the node at the other end, if known.
    public var name: String?
    /// Signal strength in dBm, nil if the radio cannot measure it.
    public var rssi: Int?
    /// The last round trip in milliseconds.
    public var rtt: Double?
    /// Bytes sent on this link so far.
    public var sent: Int
    /// Bytes received on this link so far.
    public var received: Int
    /// Circuits on this link.
    public var circuits: Int

    /// Copies a link's report.
    public init(_ peer: Peer, _ report: LinkReport) {
        name = peer.name.isEmpty ? nil : peer.name
        rssi = report.rssi
        rtt = report.roundTrip.map(LinkSample.milliseconds)
        sent = report.sentBytes
        received = report.receivedBytes
        circuits = report.circuits ?? 0
    }
}

/// A recorded step towards a link, or the end of a link.
public struct ContactRow: Codable, Hashable, Sendable {
    /// The step.
    public var phase: Encounter.Phase
    /// The peer.
    public var peer: Peer.ID
    /// The peer's name, if known.
    public var name: String?
    /// For `heard`: how the peer was noticed.
    public var evidence: Encounter.Evidence?
    /// For a scan result: signal strength in dBm.
    public var rssi: Int?
    /// For `lost`: seconds of silence before the loss. Nil if one side has left.
    public var silence: Double?

    /// Makes a step.
    public init(_ phase: Encounter.Phase, _ peer: Peer, silence: Double? = nil) {
        self.phase = phase
        self.peer = peer.id
        name = peer.name.isEmpty ? nil : peer.name
        self.silence = silence
    }

    init(_ contact: Encounter) {
        self.init(contact.phase, contact.peer, silence: contact.silence.map { $0 / .seconds(1) })
        evidence = contact.evidence
        rssi = contact.rssi
    }
}

/// The radio's recorded activity.
public struct RadioSample: Codable, Hashable, Sendable {
    /// Whether the radio was scanning for hosts.
    public var scanning: Bool
    /// A dial was pending.
    public var dialling: Bool
    /// Whether the radio was advertising.
    public var advertising: Bool
    /// Number of live links.
    public var links: Int

    /// Copies a node's report.
    public init(_ activity: RadioActivity) {
        scanning = activity.isScanning
        dialling = activity.isDialling
        advertising = activity.isAdvertising
        links = activity.links
    }
}

/// The recorded state of a guest's wish.
public struct WishRow: Codable, Hashable, Sendable {
    /// The song.
    public var song: Song.ID
    /// The kind of wish: `vote`, `takeBack` or `suggest`.
    public var wish: String
    /// `queued`, `sent`, `confirmed` or `rejected`.
    public var state: String
}

/// A recorded wish that a host received.
public struct IntentRow: Codable, Hashable, Sendable {
    /// The guest.
    public var peer: Peer.ID
    /// The kind of wish, as in the JSON output of the command line.
    public var intent: String
    /// The song, if there is one.
    public var song: Song.ID?
    /// Whether the host accepted it.
    public var accepted: Bool
}
