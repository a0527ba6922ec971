// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A message, or a peer that joins or leaves. Details of links are left out.
public enum PeerEvent: Hashable, Sendable {
    /// A peer is connected.
    case joined(Peer)
    /// A message has arrived. It counts as processed when the listener asks for the next event.
    case message(ReceivedMessage, from: Peer)
    /// A peer is not connected any more.
    case left(Peer)
}

/// The connected peers that the listener knows, and the message that it is processing.
struct ReportedPeers {
    private var joined: [Peer.ID: Peer] = [:]
    private(set) var last: ReceivedMessage?

    /// The event to report. Nil for details of a link.
    mutating func report(_ event: EndpointEvent) -> PeerEvent? {
        guard case .link(_, let event) = event else { return nil }
        switch event {
        case .connected(let peer):
            // A peer with a newer link was never away.
            return joined.updateValue(peer, forKey: peer.id) == nil ? .joined(peer) : nil
        case .received(let message):
            guard let peer = joined[message.peer] else { return nil }
            last = message
            return .message(message, from: peer)
        case .ended(let peer, let end):
            guard end != .replaced else { return nil }
            return joined.removeValue(forKey: peer.id).map { .left($0) }
        default: return nil
        }
    }

    /// The message that the listener has processed.
    mutating func processed() -> ReceivedMessage? {
        defer { last = nil }
        return last
    }
}

extension MeshEndpoint {
    /// Messages, joins and leaves in their order, for one listener. Throws `MeshCoreError.alreadyListening` if these or
    /// `events` were requested before.
    ///
    /// A message is acknowledged when the listener asks for the next event, so do not call `accept`.
    public var peerEvents: AsyncStream<PeerEvent> {
        get throws(MeshCoreError) {
            let pulled = PulledEvents(try events)
            return AsyncStream { [weak self] in
                await self?.acceptLast()
                while let event = await pulled.next() {
                    if let peerEvent = await self?.report(event) { return peerEvent }
                }
                return nil
            }
        }
    }

    private func report(_ event: EndpointEvent) -> PeerEvent? { reported.report(event) }

    /// The message that was read last is processed.
    func acceptLast() {
        if let message = reported.processed() { accept(upTo: message) }
    }
}
