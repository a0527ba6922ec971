// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A link that is lost, or a step of the way to one, with when it happened: for a recording of how soon a node is back.
public struct Contact: Hashable, Sendable {
    /// How far the way has come.
    public enum Phase: String, Hashable, Sendable, Codable, CaseIterable {
        /// The link is gone, for whatever reason.
        case lost
        /// The other side is in range: an advertisement of it came in, or a link to it is there.
        case heard
        /// A channel to it is open.
        case dialled
        /// Both sides have introduced themselves, and know what is to be sent again.
        case resumed
        /// Its present state has arrived. Told by what looks at states; a client does not.
        case current
    }

    /// What has told that the other side is in range.
    public enum Evidence: String, Hashable, Sendable, Codable, CaseIterable {
        /// An advertisement, during a scan.
        case sighting
        /// A link, by a dial that was pending.
        case link
    }

    /// How far it has come.
    public var phase: Phase
    /// With whom. A host that was only heard is known by the head of its identifier.
    public var peer: Peer
    /// When.
    public var at: ContinuousClock.Instant
    /// Of `heard`: what tells so.
    public var evidence: Evidence?
    /// Of a sighting: signal strength in dBm, where the radio knows it.
    public var rssi: Int?
    /// Of `lost`: for how long nothing had been heard then. Nil where the other side said goodbye or this one did.
    public var silence: Duration?

    /// A step that is done now.
    public init(
        _ phase: Phase, _ peer: Peer, at: ContinuousClock.Instant, by evidence: Evidence? = nil,
        rssi: Int? = nil
    ) {
        self.phase = phase
        self.peer = peer
        self.at = at
        self.evidence = evidence
        self.rssi = rssi
    }

    /// A link that is lost now. `supervision` is the silence after which its link layer gives it up.
    public init(
        lost peer: Peer, _ end: LinkEnd, supervision: Duration = Limits.supervisionTimeout,
        at: ContinuousClock.Instant
    ) {
        self.init(.lost, peer, at: at)
        silence =
            switch end {
            case .linkLost: supervision
            // The ping that was not answered left up to a ping's interval after the last frame that was received.
            case .silent: Limits.pongTimeout + Limits.pingInterval / 2
            default: nil
            }
    }
}

/// What the radio is at, as far as the node has asked it.
public struct RadioActivity: Hashable, Sendable {
    /// It listens for hosts.
    public var isScanning = false
    /// A dial is pending.
    public var isDialling = false
    /// It lets guests find it.
    public var isAdvertising = false
    /// Links that are up.
    public var links = 0
    /// What its adapter uses where nothing else is named; nil where there is none, or nobody knows.
    public var adapter: AdapterTiming?

    /// A radio that does nothing.
    public init() {}
}
