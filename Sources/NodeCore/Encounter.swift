// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A lost link, or a step towards a new one, with its time. Recordings use it to measure how soon a node reconnects.
public struct Encounter: Hashable, Sendable {
    /// The steps from a lost link to a current state.
    public enum Phase: String, Hashable, Sendable, Codable, CaseIterable {
        /// The link is gone, for any reason.
        case lost
        /// The other side is in range: its advertisement arrived, or a link to it is up.
        case heard
        /// A channel to the peer is open.
        case dialled
        /// Both sides have introduced themselves and know which messages must be sent again.
        case resumed
        /// The other side's present state has arrived. The part that reads states reports this, a client does not.
        case current
    }

    /// How the node noticed that the other side is in range.
    public enum Evidence: String, Hashable, Sendable, Codable, CaseIterable {
        /// An advertisement, during a scan.
        case sighting
        /// A link that a pending dial created.
        case link
    }

    /// The step.
    public var phase: Phase
    /// The other side. A host that was only heard is known by the head of its identifier.
    public var peer: Peer
    /// The time of the step.
    public var at: ContinuousClock.Instant
    /// For `heard`: how the node noticed it.
    public var evidence: Evidence?
    /// For an advertisement: signal strength in dBm, if the radio knows it.
    public var rssi: Int?
    /// For `lost`: how long the other side had been silent. Nil if one side said goodbye.
    public var silence: Duration?

    /// Creates a step that happens at `at`.
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

    /// Creates a link loss at `at`. `supervision` is the silence after which the link layer closes the link.
    public init(
        lost peer: Peer, _ end: LinkEnd, supervision: Duration = Limits.supervisionTimeout,
        at: ContinuousClock.Instant
    ) {
        self.init(.lost, peer, at: at)
        silence =
            switch end {
            case .linkLost: supervision
            // The unanswered ping was sent up to one ping interval after the last frame that arrived.
            case .silent: Limits.pongTimeout + Limits.pingInterval / 2
            default: nil
            }
    }
}

/// The radio's activity, as the node has requested it.
public struct RadioActivity: Hashable, Sendable {
    /// The radio scans for hosts.
    public var isScanning = false
    /// A dial is pending.
    public var isDialling = false
    /// The radio advertises this node to guests.
    public var isAdvertising = false
    /// The number of links that are up.
    public var links = 0
    /// The adapter's default timing; nil without an adapter, and if it is unknown.
    public var adapter: AdapterTiming?

    /// Creates an idle radio.
    public init() {}
}
