// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A passenger with a browser. It decides for the browser what a guest's node decides for its person, with the same
/// feature, over a link of the host's node.
package struct WebGuest: Sendable {
    /// A message to send on its link, with a number that the node acknowledges.
    package struct Said: Hashable, Sendable {
        package var message: MeshMessage
        package var number: UInt64

        package init(message: MeshMessage, number: UInt64) {
            self.message = message
            self.number = number
        }
    }

    /// The result of a tap.
    package enum Tapped: Hashable, Sendable {
        /// The node has stored the tap when it has acknowledged this number; nil without a message.
        case said([Said], until: UInt64?)
        /// The tap has no effect, for this reason.
        case refused(Notice)
    }

    package private(set) var viewpoint: Viewpoint
    /// The guest's link; nil while the guest does not count as present.
    package private(set) var link: MeshCore.LinkID?
    /// Messages sent on the link that the node has not acknowledged, oldest first.
    package private(set) var unacknowledged: [Said] = []
    /// The guest's wishes, and the state it sees.
    package private(set) var feature: GuestFeature
    private var lastNumber: UInt64 = 0
    private let host: Peer

    /// Creates a guest. `stillComing` is what this person's previous guest left behind (`GuestFeature.stillComing`).
    package init(_ peer: Peer, host: Peer, behind stillComing: [Song.ID: Overtaken] = [:]) {
        feature = GuestFeature(local: peer, of: host.id, behind: stillComing)
        viewpoint = Viewpoint(.webGuest, me: peer, connection: .connecting)
        self.host = host
    }

    package mutating func rename(_ name: String) { viewpoint.me.name = name }

    /// Connects the guest over a link. The host's state on view here is its first one; newer states arrive over the
    /// link.
    package mutating func connect(_ link: MeshCore.LinkID, _ snapshot: HostSnapshot?, now: MeshInstant) -> [Said] {
        self.link = link
        viewpoint.connection = .connected
        let said = take(.multipeerEvent(.peerConnected(host)), now: now)
        return said + (snapshot.map { hear(.stateUpdate($0), now: now) } ?? [])
    }

    /// Handles the loss of the link. Unacknowledged messages must be sent again.
    package mutating func disconnect(now: MeshInstant) {
        link = nil
        viewpoint.connection = .disconnected
        for said in unacknowledged where said.message.isKept {
            _ = take(.multipeerEvent(.sendFailed(said.message, SendError(.noLink, to: host))), now: now)
        }
        unacknowledged = []
        _ = take(.multipeerEvent(.peerDisconnected(host, reason: .linkLost)), now: now)
    }

    /// Handles the end of the host's session. The guest joins the next session with its next link.
    package mutating func sessionEnded(now: MeshInstant) {
        disconnect(now: now)
        viewpoint.notices.tell(Notice(.hostEnded(host: host)), now: now)
    }

    /// Handles a tap on the button of a notice.
    package mutating func retried() { viewpoint.notices.clear(by: .retried) }

    /// Ends the guest for good.
    package mutating func end(_ sentence: String, now: MeshInstant) {
        disconnect(now: now)
        viewpoint.ended = sentence
    }

    /// Handles a wish of the person.
    package mutating func want(_ event: GuestFeature.Event, now: MeshInstant) -> Tapped {
        let (said, notices) = decide(event, now: now)
        if said.isEmpty, let notice = notices.last { return .refused(notice) }
        for notice in notices { viewpoint.notices.tell(notice, now: now) }
        // A second tap waits for the message of the first one.
        let earlier = event.songID.flatMap { songID in unacknowledged.last { $0.message.songID == songID } }
        return .said(said, until: (said.last ?? earlier)?.number)
    }

    /// Handles a message of the node.
    package mutating func hear(_ message: MeshMessage, now: MeshInstant) -> [Said] {
        take(.multipeerEvent(.messageReceived(message, from: host)), now: now)
    }

    /// Handles the acknowledgement of a number.
    package mutating func acknowledged(_ number: UInt64, now: MeshInstant) -> [Said] {
        guard let place = unacknowledged.firstIndex(where: { $0.number == number }) else { return [] }
        return take(
            .multipeerEvent(.messageDelivered(unacknowledged.remove(at: place).message, to: host.id)), now: now)
    }

    /// Handles the passing of time.
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
            // All guests see the same state, and the server controls the link.
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
    /// The song that a guest's wish is about.
    fileprivate var songID: Song.ID? { if case .intent(let intent) = self { intent.songID } else { nil } }

    /// Whether the message is a wish that is stored until the host has it.
    fileprivate var isKept: Bool { if case .intent(let intent) = self { !intent.isOfTheMoment } else { false } }
}
