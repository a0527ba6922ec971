// SPDX-License-Identifier: Apache-2.0

/// What carries messages between nodes. Above it there are peers, messages and events; what a radio calls an address, a
/// PSM or a file descriptor stays below.
public protocol MeshTransport: Sendable {
    /// Everything that happens, for one listener. Whoever does not read it holds up the peers, not the memory: the
    /// transport stops reading from its links meanwhile.
    var events: AsyncStream<TransportEvent> { get }

    /// Lets guests find this node and takes them in.
    func startHosting() async throws

    /// Looks for hosts.
    func startBrowsing() async throws

    /// Stops looking for hosts. Links stay.
    func stopBrowsing() async

    /// Links to a host that was discovered. It stays pending through a gap; `connected` or `inviteFailed` tells how it
    /// ended.
    func invite(_ peer: Peer.ID) async

    /// Gives a message to the outbox of one peer, or of every connected one where `peer` is nil.
    func send(_ body: [UInt8], as messageClass: MessageClass, to peer: Peer.ID?) async

    /// Ends the link with a peer, with a goodbye, or a refusal when a guest is sent away for good.
    func disconnect(_ peer: Peer.ID, refusing: RefusalReason?) async

    /// Says goodbye to everybody, gives up radio and links, and ends `events`. The transport is not used again.
    func stop() async
}

/// What a transport reports.
public enum TransportEvent: Hashable, Sendable {
    /// A host is in earshot, or is heard again: signal strength in dBm where the radio knows it, hops to it.
    case discovered(Peer, rssi: Int?, hops: Int)
    /// A host that was discovered is not heard any more.
    case lost(Peer)
    /// A link is up and introduced.
    case connected(Peer)
    /// A link that was up has ended.
    case disconnected(Peer, LinkEnd)
    /// A dial has ended without a link. `peer` is the identifier that was invited.
    case inviteFailed(peer: Peer.ID, InviteFailure)
    /// A message has arrived.
    case received([UInt8], from: Peer.ID)
    /// A message was not taken because the peer's outbox is full, or because there is no link to the peer.
    case sendFailed([UInt8], to: Peer.ID)
    /// What a link is like, about once a second.
    case link(Peer, LinkReport)
    /// The radio has failed or recovered.
    case radio(RadioCondition)
}

/// Why an invitation led to nothing.
public enum InviteFailure: Hashable, Sendable {
    /// Nobody of this identifier was ever heard.
    case unknownPeer
    /// The dial ended without a connection, after this many words of the radio.
    case dialFailed(String)
    /// The host has answered, and said no.
    case refused(RefusalReason)
    /// The link ended before both sides had introduced themselves.
    case linkEnded(LinkEnd)
}

/// A link's health and what has passed through it.
public struct LinkReport: Hashable, Sendable {
    /// Signal strength in dBm, nil where the radio cannot tell.
    public var rssi: Int?
    /// The last answered ping's round trip.
    public var roundTrip: Duration?
    /// Bytes in SDUs sent on this link.
    public var sentBytes: Int
    /// Bytes in SDUs received on this link.
    public var receivedBytes: Int
    /// Frames that wait to leave.
    public var outbox: Int

    /// A report.
    public init(rssi: Int?, roundTrip: Duration?, sentBytes: Int, receivedBytes: Int, outbox: Int) {
        self.rssi = rssi
        self.roundTrip = roundTrip
        self.sentBytes = sentBytes
        self.receivedBytes = receivedBytes
        self.outbox = outbox
    }
}

/// Whether the radio works.
public enum RadioCondition: Hashable, Sendable {
    /// It works (again).
    case working
    /// It does not, and this is why, as a sentence's end.
    case unavailable(String)
}
