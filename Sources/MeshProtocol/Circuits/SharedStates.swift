// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The host's state for all guests: the signed updates that a relay stores, and the keys of the signatures
/// (`docs/protocol.md`, "The state, once for each link").
struct SharedStates: Sendable {
    typealias LinkID = MeshCore.LinkID

    /// The updates that this node has stored for others.
    private(set) var log = SharedLog()
    private let relays: Bool
    private let key: Curve25519.Signing.PrivateKey?
    private var signature: StateSignature
    /// The last signed update. Most relays get the same update.
    private var last: (entry: SharedLog.Entry, body: [UInt8])?

    /// `key` signs the updates of a host. A node without a key signs nothing. A relay stores updates for others.
    init(_ service: ServiceType, key: Curve25519.Signing.PrivateKey?, relays: Bool) {
        (self.key, self.relays) = (key, relays)
        signature = StateSignature(service)
    }

    /// The public key of this node's signatures.
    var publicKey: [UInt8]? { key.map { Array($0.publicKey.rawRepresentation) } }

    /// Shares the results of checks with other nodes of a simulation.
    mutating func share(_ checked: CheckedSignatures) { signature.checked = checked }

    /// A signed state update for all guests.
    mutating func signed(_ body: [UInt8], as state: SharedState) -> SharedLog.Entry? {
        if let last, last.body == body, last.entry.name == state.name, last.entry.sharing == state.sharing {
            return last.entry
        }
        guard let key, let signed = signature.signed(body, as: state, by: key) else { return nil }
        let entry = SharedLog.Entry(sharing: state.sharing, name: state.name, signed: signed)
        last = (entry, body)
        return entry
    }

    /// An update of a host has arrived. A relay stores it. Returns the content, or nil if this key has not signed it.
    mutating func received(
        _ unit: MessageUnit, as sharing: MessageUnit.Sharing, of host: Peer.ID, signedBy key: [UInt8]?
    ) -> [UInt8]? {
        guard let key, let (name, body) = signature.opened(unit.body, as: sharing, by: key) else { return nil }
        log.host = host
        if relays { log.append(SharedLog.Entry(sharing: sharing, name: name, signed: Array(unit.body))) }
        return Array(body)
    }

    // MARK: Links

    /// The states to report to a host as stored here. A relay reports the states that it stores for others, since it
    /// forwards the changes that it receives.
    func shown(_ states: [StateName], to host: Peer.ID?) -> [StateName] {
        guard relays else { return Array(states.prefix(Limits.namedStates)) }
        guard let host, let kept = log.host, Identity.mayBeSame(kept, host) else { return [] }
        return log.names
    }

    /// A link to the host is up. If the updates on the new route do not follow the log, they may omit a change that was
    /// in transit on the last route. The log may also be older than the states that the nodes behind this one have
    /// seen. The log is then no longer sent. A host that knows the log's state sends the changes after it, or a full
    /// state, which empties the log.
    mutating func hostConnected(on id: LinkID, _ links: LinkSlots) {
        guard relays, !links.continuesState(on: id), !links.hasShownState(on: id) else { return }
        log.beginAgain()
    }

    /// Starts to send the host's state to a node behind this one: the changes after the newest state that both have, or
    /// the log from its beginning.
    func serve(_ id: LinkID, _ links: inout LinkSlots) {
        guard let link = links[id], let carrier = link.carrier else { return }
        let known = carrier.known
        links[id]?.carrier?.known = []
        if carrier.isServed, link.circuits.count > 1 {
            // All later changes have already been sent on this link.
            if carrier.place != nil { _ = links[id]?.machine.tell(Array(known.prefix(1))) }
            return
        }
        let common = log.newest(of: known)
        links[id]?.carrier?.isServed = true
        links[id]?.carrier?.takesCheckpoints = link.leadsToRelay
        links[id]?.carrier?.place = common?.place
        if let common { _ = links[id]?.machine.tell([common.name]) }
    }

    /// Changes the log, for tests.
    mutating func change(_ change: (inout SharedLog) -> Void) { change(&log) }
}
