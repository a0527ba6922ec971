// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A passenger with a browser: what a guest's node decides by itself is decided here for it, by the same feature, over a
/// link of the host's node.
package struct WebGuest: Sendable {
    /// Something to be said on its link, under a number that the node acknowledges.
    package struct Said: Hashable, Sendable {
        package var message: MeshMessage
        package var number: UInt64

        package init(message: MeshMessage, number: UInt64) {
            self.message = message
            self.number = number
        }
    }

    /// What has come of a tap.
    package enum Tapped: Hashable, Sendable {
        /// The node has it when it has acknowledged this number; nil where there is nothing to be had.
        case said([Said], until: UInt64?)
        /// It leads to nothing, and this is why.
        case refused(Notice)
    }

    package private(set) var viewpoint: Viewpoint
    /// Its link, while it counts as present.
    package private(set) var link: MeshCore.LinkID?
    /// What it has said on it that the node has not made safe, the oldest first.
    package private(set) var unacknowledged: [Said] = []
    /// What it wants, and what it sees.
    package private(set) var feature: GuestFeature
    private var lastNumber: UInt64 = 0
    private let host: Peer

    /// `stillComing` is what this person's last guest has left behind (`GuestFeature.stillComing`).
    package init(_ peer: Peer, host: Peer, behind stillComing: [Song.ID: Overtaken] = [:]) {
        feature = GuestFeature(local: peer, of: host.id, behind: stillComing)
        viewpoint = Viewpoint(.webGuest, me: peer, connection: .connecting)
        self.host = host
    }

    package mutating func rename(_ name: String) { viewpoint.me.name = name }

    /// It has a link. The state of the host that is on view here is its first; a newer one comes by the link.
    package mutating func connect(_ link: MeshCore.LinkID, _ snapshot: HostSnapshot?, now: MeshInstant) -> [Said] {
        self.link = link
        viewpoint.connection = .connected
        let said = take(.multipeerEvent(.peerConnected(host)), now: now)
        return said + (snapshot.map { hear(.stateUpdate($0), now: now) } ?? [])
    }

    /// Its link is gone; what is not safe has to be said again.
    package mutating func disconnect(now: MeshInstant) {
        link = nil
        viewpoint.connection = .disconnected
        for said in unacknowledged where said.message.isKept {
            _ = take(.multipeerEvent(.sendFailed(said.message, SendError(.noLink, to: host))), now: now)
        }
        unacknowledged = []
        _ = take(.multipeerEvent(.peerDisconnected(host, reason: .linkLost)), now: now)
    }

    /// The host has ended its session. The guest joins the next one with its next link.
    package mutating func sessionEnded(now: MeshInstant) {
        disconnect(now: now)
        viewpoint.notices.tell(Notice(.hostEnded(host: host)), now: now)
    }

    /// The person has tapped the button of a notice.
    package mutating func retried() { viewpoint.notices.clear(by: .retried) }

    /// Nothing follows for it.
    package mutating func end(_ sentence: String, now: MeshInstant) {
        disconnect(now: now)
        viewpoint.ended = sentence
    }

    /// The person wants something.
    package mutating func want(_ event: GuestFeature.Event, now: MeshInstant) -> Tapped {
        let (said, notices) = decide(event, now: now)
        if said.isEmpty, let notice = notices.last { return .refused(notice) }
        for notice in notices { viewpoint.notices.tell(notice, now: now) }
        // A second tap waits for what the first one has said.
        let earlier = event.songID.flatMap { songID in unacknowledged.last { $0.message.songID == songID } }
        return .said(said, until: (said.last ?? earlier)?.number)
    }

    /// The node says something.
    package mutating func hear(_ message: MeshMessage, now: MeshInstant) -> [Said] {
        take(.multipeerEvent(.messageReceived(message, from: host)), now: now)
    }

    /// What it has said with this number is safe.
    package mutating func acknowledged(_ number: UInt64, now: MeshInstant) -> [Said] {
        guard let place = unacknowledged.firstIndex(where: { $0.number == number }) else { return [] }
        return take(
            .multipeerEvent(.messageDelivered(unacknowledged.remove(at: place).message, to: host.id)), now: now)
    }

    /// Time has passed.
    package mutating func tick(now: MeshInstant) { _ = viewpoint.tick(now: now) }

    private mutating func take(_ event: GuestFeature.Event, now: MeshInstant) -> [Said] {
        let (said, notices) = decide(event, now: now)
        for notice in notices { viewpoint.notices.tell(notice, now: now) }
        return said
    }

    private mutating func decide(_ event: GuestFeature.Event, now: MeshInstant) -> (said: [Said], notices: [Notice]) {
        var said: [Said] = [], notices: [Notice] = []
        for effect in feature.handle(event, now: now) {
            switch effect {
            case .send(let intent, _): said.append(say(.intent(intent)))
            case .request(let message, _): said.append(say(message))
            case .wishChanged(let songID, let kind, let state): viewpoint.wishes.take(songID, kind, state, now: now)
            case .notice(let notice): notices.append(notice)
            // The state is shown to everybody alike, and the server steers the link.
            case .show, .showResults, .reconnect, .returnToStart: break
            }
        }
        return (said, notices)
    }

    private mutating func say(_ message: MeshMessage) -> Said {
        lastNumber += 1
        let said = Said(message: message, number: lastNumber)
        unacknowledged.append(said)
        return said
    }
}

extension MeshMessage {
    /// The song that a guest wants something of.
    fileprivate var songID: Song.ID? { if case .intent(let intent) = self { intent.songID } else { nil } }

    /// Whether it is a wish that is kept until the host has it.
    fileprivate var isKept: Bool { if case .intent(let intent) = self { !intent.isOfTheMoment } else { false } }
}
