// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Runs a `NodeCore`: the only driver of a node, in programs, simulators and tests.
///
/// Its surroundings have the channels, the disk, the clock and the screens. They pass each event to `take`, and then
/// perform what `next` returns until it returns nil. The loop numbers links, opens circuits, collects the links with
/// data to send, allows one write at a time, and ends.
///
/// The loop returns actions instead of calling its surroundings, because its surroundings read `core` while they
/// perform them, and because an actor cannot conform to a protocol without `await`.
public struct NodeLoop: Sendable {
    /// When a link with data to send is reported.
    public enum Waking: Sendable {
        /// Once for each link, after all other actions, so that the data leave in as few SDUs as possible.
        case last
        /// In the order of the node's actions, for surroundings that send later.
        case inOrder
    }

    /// The node.
    public package(set) var core: NodeCore
    /// The number of the latest link. No number is used twice.
    public private(set) var lastLink: MeshCore.LinkID
    /// The node has ended. The node has sent its goodbyes, and processes only events of links.
    public private(set) var hasEnded = false

    private let waking: Waking
    /// Actions to perform, and how many of them `next` has returned.
    private var actions: [NodeCore.Action] = []
    private var performed = 0
    /// Links with data to send.
    private var woken: Set<MeshCore.LinkID> = []
    private var isWriting = false

    /// Creates the loop of a node that begins, or continues where an earlier run ended. `lastLink` is the latest number
    /// that must not be used again.
    public init(_ configuration: NodeCore.Configuration, waking: Waking, lastLink: MeshCore.LinkID = 0) {
        core = NodeCore(configuration)
        (self.waking, self.lastLink) = (waking, lastLink)
    }

    // MARK: Events

    /// Passes an event to the node. Returns false if the node has ended and does not process it.
    @discardableResult
    public mutating func take(_ event: NodeCore.Event, now: MeshInstant) -> Bool {
        switch event {
        // A node still processes events of links while it says goodbye.
        case .received, .channelClosed: break
        case _ where hasEnded: return false
        case .end: hasEnded = true
        case .written, .writeFailed: isWriting = false
        default: break
        }
        append(core.handle(event, now: now))
        return true
    }

    /// Links a channel that has opened. Returns the number of the link.
    public mutating func open(_ opening: NodeCore.Opening, now: MeshInstant) -> MeshCore.LinkID {
        lastLink += 1
        let id = lastLink
        take(.opened(id, opening), now: now)
        return id
    }

    /// Links a peer that its bearer vouches for, or one that claims to know the host's secret. Returns the number of
    /// the link, and the reason if the node refuses the peer.
    public mutating func join(
        _ peer: Peer, claiming claim: JoiningSecret? = nil, now: MeshInstant
    ) -> (link: MeshCore.LinkID, refusal: RefusalReason?) {
        lastLink += 1
        let id = lastLink
        take(claim.map { .claimed(id, peer, $0) } ?? .joined(id, peer), now: now)
        for case .end(id, .refused(let reason)) in actions[performed...] { return (id, reason) }
        return (id, nil)
    }

    /// The node does not start, and processes no events.
    public mutating func abandon() { hasEnded = true }

    // MARK: Actions

    /// The next action to perform; nil if there is none. The loop has opened the circuit of an `openCircuit` already,
    /// as the latest link, with these random bytes.
    public mutating func next(now: MeshInstant, entropy: @autoclosure () -> MeshCore.Entropy) -> NodeCore.Action? {
        while performed < actions.count {
            let action = actions[performed]
            performed += 1
            switch action {
            case .wake(let id) where waking == .last: woken.insert(id)
            case .openCircuit(let place, let dial, let expected):
                _ = open(NodeCore.Opening(in: place, dial: dial, expected: expected, entropy: entropy()), now: now)
                return action
            case .write:
                assert(!isWriting || hasEnded, "one write at a time")
                isWriting = true
                return action
            default: return action
            }
        }
        (actions, performed) = ([], 0)
        return woken.popFirst().map { .wake($0) }
    }

    /// The next SDU to send on a link, of at most `limit` bytes; nil if nothing is queued. Actions may follow.
    public mutating func nextSDU(for id: MeshCore.LinkID, limit: Int, now: MeshInstant) -> [UInt8]? {
        guard let (sdu, more) = core.nextSDU(for: id, limit: limit, now: now) else { return nil }
        append(more)
        return sdu
    }

    private mutating func append(_ more: [NodeCore.Action]) {
        if actions.isEmpty { actions = more } else { actions += more }
    }
}
