// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A passenger with a browser: what a guest's node decides by itself is decided here for it, by the same feature, over a
/// link that is always there while it is.
struct WebGuest: Sendable {
    private var feature: GuestFeature
    private(set) var viewpoint: Viewpoint
    private let host: Peer

    init(_ peer: Peer, host: Peer) {
        feature = GuestFeature(local: peer)
        viewpoint = Viewpoint(.webGuest, me: peer, connection: .connecting)
        self.host = host
    }

    /// Who it is.
    var peer: Peer { viewpoint.me }

    /// Whether it counts as present.
    var isLinked: Bool { feature.state.host != nil }

    /// Whether something that it wants is not shown by the host yet.
    var hasOpenWishes: Bool { !feature.state.wishes.isEmpty }

    mutating func rename(_ name: String) { viewpoint.me.name = name }

    /// It is there. What is to be said to the host for it.
    mutating func connect(_ snapshot: HostSnapshot?, now: MeshInstant) -> [GuestIntent] {
        viewpoint.connection = .connected
        var said = take(.multipeerEvent(.peerConnected(host)), now: now)
        if let snapshot { said += show(snapshot, now: now) }
        return said
    }

    /// It is gone.
    mutating func disconnect(now: MeshInstant) {
        viewpoint.connection = .disconnected
        _ = take(.multipeerEvent(.peerDisconnected(host, reason: .linkLost)), now: now)
    }

    /// Nothing follows for it.
    mutating func end(_ sentence: String, now: MeshInstant) {
        disconnect(now: now)
        viewpoint.ended = sentence
    }

    /// The person wants something.
    mutating func want(_ event: GuestFeature.Event, now: MeshInstant) -> [GuestIntent] { take(event, now: now) }

    /// The host's state is another one.
    mutating func show(_ snapshot: HostSnapshot, now: MeshInstant) -> [GuestIntent] {
        hear(.stateUpdate(snapshot), now: now)
    }

    /// The host's state is this one still.
    mutating func showAgain(_ snapshot: HostSnapshot, now: MeshInstant) -> [GuestIntent] {
        hear(.stateHeartbeat(epoch: snapshot.epoch, revision: snapshot.revision), now: now)
    }

    /// The host has dealt with something that it wanted.
    mutating func answered(_ intent: GuestIntent, _ rejected: RejectionReason?, now: MeshInstant) -> [GuestIntent] {
        var said = take(.multipeerEvent(.messageDelivered(.intent(intent), to: host.id)), now: now)
        switch rejected {
        // It is as it is wanted; the next state shows that.
        case nil, .alreadyVoted, .notVoted: break
        case .some(let reason): said += hear(.rejection(intent, reason), now: now)
        }
        return said
    }

    /// Lets time pass; whether that has changed anything that is shown.
    mutating func tick(now: MeshInstant) -> Bool { viewpoint.tick(now: now) }

    private mutating func hear(_ message: MeshMessage, now: MeshInstant) -> [GuestIntent] {
        take(.multipeerEvent(.messageReceived(message, from: host)), now: now)
    }

    private mutating func take(_ event: GuestFeature.Event, now: MeshInstant) -> [GuestIntent] {
        var said: [GuestIntent] = []
        for effect in feature.handle(event, now: now) {
            switch effect {
            case .send(let intent, _): said.append(intent)
            case .wishChanged(let songID, let kind, let state): viewpoint.wishes.take(songID, kind, state, now: now)
            case .notice(let notice): viewpoint.notices.tell(notice, now: now)
            // The state is shown to everybody alike, it always comes whole, and the server steers the link.
            case .show, .showResults, .request, .reconnect, .returnToStart: break
            }
        }
        return said
    }
}
