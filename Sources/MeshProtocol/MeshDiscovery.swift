// SPDX-License-Identifier: Apache-2.0

/// Finds hosts, and lets guests find this node, over one radio or several. `BearerManager` is a discovery over all
/// bearers of RoadMesh. An app on a phone writes its own over the phone's radio.
///
/// A discovery has one user: a guest, or an endpoint that hosts.
public protocol MeshDiscovery: Sendable {
    /// The events, for one listener. The stream ends with `close`.
    var discoveries: AsyncStream<Discovery> { get }

    /// Lets guests find this node and dial it. Throws if the radio cannot.
    func startHosting() async throws

    /// Starts to look for hosts. You can call it again. Throws if the radio cannot.
    func startBrowsing() async throws

    /// Stops looking for hosts. Links stay.
    func stopBrowsing() async

    /// A link has opened or closed, so the radio may have to advertise again.
    func linksChanged() async

    /// Releases the radio and closes its channels. A closed discovery cannot be used again.
    func close() async
}

/// An event of a discovery.
public enum Discovery: Sendable {
    /// A host is in range, or is heard again.
    case found(FoundHost)
    /// A host is not heard any more.
    case lost(Peer)
    /// A guest has dialled this node. If the radio has a reason to refuse it, the guest gets the reason.
    case accepted(any MeshTransport, refusing: RefusalReason?)
}

/// A host in range, or one behind a relay in range.
public struct FoundHost: Sendable {
    /// The host as it advertises itself: the head of its identifier, and its name. A hint, not a proof. A relay has
    /// room for a shorter head and name of its host.
    public let peer: Peer
    /// The relay that was heard instead of the host, by the head of its identifier. Nil for the host itself.
    public let relay: Peer.ID?
    /// Hops from the relay to the host, by the relay's account. 0 for the host itself.
    public let hops: Int
    private let make: @Sendable (_ expecting: Peer.ID?) -> any MeshTransport

    /// A host, or a relay with its hops to the host. `transport` makes an unused transport to the heard node, which
    /// accepts only the expected peer if there is one.
    public init(
        peer: Peer, relay: Peer.ID? = nil, hops: Int = 0,
        transport: @escaping @Sendable (_ expecting: Peer.ID?) -> any MeshTransport
    ) {
        self.peer = peer
        self.relay = relay
        self.hops = hops
        make = transport
    }

    /// An unused transport to this host. With `expecting`, only the host with this identifier is accepted.
    public func transport(expecting peer: Peer.ID? = nil) -> any MeshTransport { make(peer) }
}
