// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides whether a broker delivers what it has granted: what a node publishes for itself has to come back. A broker may grant a
/// subscription that its access list lets nothing through (Mosquitto 2 does), and drop what a node may not publish.
struct BrokerEcho: Sendable {
    /// How long an own message may be under way.
    private var patience = BrokerLimits.echo
    /// Since when a message to this node is awaited; nil if one has come, or without a connection.
    private var awaitsInbox: MeshInstant?
    /// The broker has granted the subscription to its advertisement.
    private var isWatched = false
    /// Since when its advertisement is awaited; nil if it has come, or is not subscribed to.
    private var awaitsOwn: MeshInstant?
    /// The advertisement has not come back in time.
    private var lacksOwn = false
    private var hasHeard = false

    /// Without a connection.
    init() {}

    /// The broker has granted what is for this node, which has published a message to itself.
    init(from now: MeshInstant, patience: Duration) { (self.patience, awaitsInbox) = (patience, now) }

    /// The broker has granted the subscription to this node's own advertisement.
    mutating func granted(now: MeshInstant) { (isWatched, awaitsOwn) = (true, awaitsOwn ?? now) }

    /// The advertisement was published.
    mutating func published(now: MeshInstant) { if isWatched, !lacksOwn { awaitsOwn = awaitsOwn ?? now } }

    /// There is no advertisement any more.
    mutating func withdrawn() { (awaitsOwn, lacksOwn) = (nil, false) }

    /// A message has arrived. Whether everything that was awaited has come with it.
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

    /// Whether nothing for this node has arrived in time.
    func lacksInbox(now: MeshInstant) -> Bool { awaitsInbox.map { now - $0 >= patience } == true }

    /// Whether this node's advertisement has not come back in time. Once.
    mutating func lacksAdvertisement(now: MeshInstant) -> Bool {
        guard !lacksOwn, let awaitsOwn, now - awaitsOwn >= patience else { return false }
        lacksOwn = true
        return true
    }
}
