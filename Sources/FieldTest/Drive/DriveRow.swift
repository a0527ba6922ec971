// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// Something that was recorded: a line of a drive.
public struct DriveRow: Hashable, Sendable {
    /// Seconds since the drive began.
    public var at: Double
    /// What it was.
    public var what: Happening

    /// A row. The time is kept to a tenth of a millisecond.
    public init(at: Duration, _ what: Happening) {
        self.at = ((at / .seconds(1)) * 10_000).rounded() / 10_000
        self.what = what
    }
}

/// What can be recorded.
public enum Happening: Hashable, Sendable {
    /// A link's report, about once a second.
    case link(Peer.ID, LinkSample)
    /// The same of a link with a relay, or with a node behind this one: what leads to a host goes over it.
    case carrier(Peer.ID, CarrierSample)
    /// A link is lost, or a step of the way to one.
    case contact(ContactRow)
    /// The radio is at something else.
    case radio(RadioSample)
    /// A guest's wish has got somewhere.
    case wish(WishRow)
    /// A host was told a wish.
    case intent(IntentRow)
    /// Somebody has marked the moment.
    case mark(String)
    /// A notice of this code was shown.
    case notice(String)
    /// The recording goes on.
    case tick
    /// How many rows before this one were lost, since the disk took nothing.
    case missing(Int)
    /// The recording was ended, and this is why.
    case end(String)
}

/// A link's report, as it is recorded.
public struct LinkSample: Codable, Hashable, Sendable {
    /// Signal strength in dBm, nil where the radio cannot tell.
    public var rssi: Int?
    /// The last round trip in milliseconds.
    public var rtt: Double?
    /// Bytes on this link so far.
    public var sent: Int
    /// Bytes on this link so far.
    public var received: Int
    /// Messages that were sent again on a later link, since the node runs.
    public var resent: Int
    /// Messages that came again and were dropped, since the node runs.
    public var duplicates: Int
    /// Messages that wait for their acknowledgement.
    public var outbox: Int
    /// Relays between the two; nil where there is none.
    public var hops: Int?
    /// The relay that the guest of the two is joined through, by its identifier or the head of it.
    public var via: Peer.ID?
    /// At a host: how many circuits a relay passes on over this link.
    public var circuits: Int?

    /// What a link has told.
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

    /// To a hundredth of a millisecond.
    fileprivate static func milliseconds(_ time: Duration) -> Double {
        ((time / .milliseconds(1)) * 100).rounded() / 100
    }
}

/// A report of a link with a relay, or with a node behind this one, as it is recorded.
public struct CarrierSample: Codable, Hashable, Sendable {
    /// What the node at the other end is called, where it is known.
    public var name: String?
    /// Signal strength in dBm, nil where the radio cannot tell.
    public var rssi: Int?
    /// The last round trip in milliseconds.
    public var rtt: Double?
    /// Bytes on this link so far.
    public var sent: Int
    /// Bytes on this link so far.
    public var received: Int
    /// Circuits over it.
    public var circuits: Int

    /// What a link has told.
    public init(_ peer: Peer, _ report: LinkReport) {
        name = peer.name.isEmpty ? nil : peer.name
        rssi = report.rssi
        rtt = report.roundTrip.map(LinkSample.milliseconds)
        sent = report.sentBytes
        received = report.receivedBytes
        circuits = report.circuits ?? 0
    }
}

/// A step of the way to a link, or the end of one, as it is recorded.
public struct ContactRow: Codable, Hashable, Sendable {
    /// Which step.
    public var phase: Contact.Phase
    /// With whom.
    public var peer: Peer.ID
    /// What that peer is called, where it is known.
    public var name: String?
    /// Of `heard`: what tells so.
    public var evidence: Contact.Evidence?
    /// Of a sighting: signal strength in dBm.
    public var rssi: Int?
    /// Of `lost`: for how many seconds nothing had been heard. Nil where one side had left.
    public var silence: Double?

    /// A step.
    public init(_ phase: Contact.Phase, _ peer: Peer, silence: Double? = nil) {
        self.phase = phase
        self.peer = peer.id
        name = peer.name.isEmpty ? nil : peer.name
        self.silence = silence
    }

    init(_ contact: Contact) {
        self.init(contact.phase, contact.peer, silence: contact.silence.map { $0 / .seconds(1) })
        evidence = contact.evidence
        rssi = contact.rssi
    }
}

/// What the radio was at, as it is recorded.
public struct RadioSample: Codable, Hashable, Sendable {
    /// It listened for hosts.
    public var scanning: Bool
    /// A dial was pending.
    public var dialling: Bool
    /// It let guests find it.
    public var advertising: Bool
    /// Links that were up.
    public var links: Int

    /// What the node has told.
    public init(_ activity: RadioActivity) {
        scanning = activity.isScanning
        dialling = activity.isDialling
        advertising = activity.isAdvertising
        links = activity.links
    }
}

/// Where a guest's wish has got to, as it is recorded.
public struct WishRow: Codable, Hashable, Sendable {
    /// The song.
    public var song: Song.ID
    /// What is wished: `vote`, `takeBack` or `suggest`.
    public var wish: String
    /// `queued`, `sent`, `confirmed` or `rejected`.
    public var state: String
}

/// A wish that a host was told, as it is recorded.
public struct IntentRow: Codable, Hashable, Sendable {
    /// Who wished it.
    public var peer: Peer.ID
    /// What was wished, in the words of the command line's contract.
    public var intent: String
    /// The song, where there is one.
    public var song: Song.ID?
    /// Whether the host took it.
    public var accepted: Bool
}
