// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides whether a broker delivers what it has granted: a message that a node publishes to itself must come back. A
/// broker may grant a subscription that its access list blocks (Mosquitto 2 does), and drop messages that a node may
/// not publish.
struct BrokerEcho: Sendable {
    /// How long a message from this node to itself may take.
    private var patience = BrokerLimits.echo
    /// The time since which the node waits for a message to itself. Nil if a message has arrived, or without a
    /// connection.
    private var awaitsInbox: MeshInstant?
    /// Whether the broker has granted the subscription to the node's own advertisement.
    private var isWatched = false
    /// The time since which the node waits for its own advertisement. Nil if the advertisement has arrived, or if the
    /// node has not subscribed to it.
    private var awaitsOwn: MeshInstant?
    /// Whether the node's own advertisement has not come back in time.
    private var lacksOwn = false
    private var hasHeard = false

    /// Creates the state without a connection.
    init() {}

    /// The broker has granted the node's inbox, and the node has published a message to itself.
    init(from now: MeshInstant, patience: Duration) { (self.patience, awaitsInbox) = (patience, now) }

    /// The broker has granted the subscription to the node's own advertisement.
    mutating func granted(now: MeshInstant) { (isWatched, awaitsOwn) = (true, awaitsOwn ?? now) }

    /// The node has published its advertisement.
    mutating func published(now: MeshInstant) { if isWatched, !lacksOwn { awaitsOwn = awaitsOwn ?? now } }

    /// The node has withdrawn its advertisement.
    mutating func withdrawn() { (awaitsOwn, lacksOwn) = (nil, false) }

    /// A message has arrived. Returns whether no further message is missing now.
    mutating func heard(_ subject: BrokerTopics.Subject?, own: BrokerID) -> Bool {
        switch subject {
        case .call(own), .value(own, _):
            defer { (hasHeard, awaitsInbox) = (true, nil) }
            return awaitsInbox != nil && !lacksOwn
        case .presence(_, own):
            defer { (awaitsOwn, lacksOwn) = (nil, false) }
            return lacksOwn && hasHeard
        default: return false
        }
    }

    /// Whether no message to this node has arrived in time.
    func lacksInbox(now: MeshInstant) -> Bool { awaitsInbox.map { now - $0 >= patience } == true }

    /// Whether the node's own advertisement is overdue. Returns true only once.
    mutating func lacksAdvertisement(now: MeshInstant) -> Bool {
        guard !lacksOwn, let awaitsOwn, now - awaitsOwn >= patience else { return false }
        lacksOwn = true
        return true
    }
}
