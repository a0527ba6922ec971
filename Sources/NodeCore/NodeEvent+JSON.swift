// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// A node's event with its time, as one JSON object of the command-line contract.
public struct TimedEvent: Encodable, Sendable {
    /// The event.
    public var event: NodeEvent
    /// Seconds since 1970, with fractions.
    public var at: Double

    /// Creates an event at a time.
    public init(_ event: NodeEvent, at: Double) {
        self.event = event
        self.at = at
    }

    private enum Key: String, CodingKey {
        case event, at
        case role, peer, radio, service, http, version
        case rssi, hops, relay, room, id, reason, state, attempt, error
        case songID, kind, wish, stale, query, songs, path, accepted, code
        case isPlaying, sound, elapsed, duration
        case phase, evidence, silence, text, scanning, dialling, advertising, links
        case rttMilliseconds, sentBytes, receivedBytes, resent, duplicates, outbox
        case phy, interval, supervisionTimeout, dataLength, asked, notPermitted
        case adapter, setBy, advertisingInterval, foundWithin
        case via, circuits, pin, bearer
        case undo, canGoBack, volume, duck, shuffle
        case invitations, bans, hosts, artists, albums
        case shelf, from, total, groups, lookedFor
        case guest, position, drivers
        case hour, passengers
    }

    private typealias Container = KeyedEncodingContainer<Key>

    /// Writes the object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(at, forKey: .at)
        try container.encode(event.name, forKey: .event)
        switch event {
        case .ready(let node): try encode(node, &container)
        case .peerDiscovered(let node):
            try container.encode(node.host, forKey: .peer)
            try container.encode(node.rssi, forKey: .rssi)
            try container.encode(node.hops, forKey: .hops)
            try encode(relay: node.relay, &container)
            if node.relay != nil { try container.encode(node.hasRoom, forKey: .room) }
            try container.encodeIfPresent(node.bearer, forKey: .bearer)
        case .peerLost(let peer, let relay):
            try container.encode(peer, forKey: .peer)
            try encode(relay: relay, &container)
        case .peerConnected(let peer): try container.encode(peer, forKey: .peer)
        case .peerDisconnected(let peer, let reason):
            try container.encode(peer, forKey: .peer)
            try container.encode(reason, forKey: .reason)
        case .connection(let state): try encode(state, &container)
        case .snapshot(let snapshot, let isStale):
            try snapshot.encode(to: encoder)
            try container.encode(isStale, forKey: .stale)
        case .wish(let songID, let kind, let state): try encode(songID, kind, state, &container)
        case .searchResults(let found, let query): try encode(found, for: query, &container)
        case .artwork(let songID, let path):
            try container.encode(songID, forKey: .songID)
            try container.encode(path, forKey: .path)
        case .intent(let intent, let peer, let rejected):
            try container.encode(peer, forKey: .peer)
            try container.encode(intent.kind, forKey: .kind)
            try container.encode(intent.songID, forKey: .songID)
            if case .steer(let wish) = intent {
                try container.encodeIfPresent(wish.peer, forKey: .guest)
                try container.encodeIfPresent(wish.place, forKey: .position)
            }
            try container.encode(rejected == nil, forKey: .accepted)
            try container.encodeIfPresent(rejected, forKey: .reason)
        case .pinGuessed(let peer): try container.encode(peer, forKey: .peer)
        case .invitation(let invitation): try invitation.encode(to: encoder)
        case .hosts(let hosts, _): try container.encode(hosts, forKey: .hosts)
        case .bans(let bans, _): try container.encode(bans, forKey: .bans)
        case .drivers(let drivers): try container.encode(drivers, forKey: .drivers)
        case .invitations(let open): try container.encode(open, forKey: .invitations)
        case .playback(let playback): try encode(playback, &container)
        case .steering(let steering): try encode(steering, &container)
        // Programs that want the songs search for them.
        case .library(let library): try container.encode(library.songs.count, forKey: .songs)
        case .page(let url, let passengers):
            try container.encode(url, forKey: .http)
            try container.encodeIfPresent(passengers, forKey: .passengers)
        case .notice(let notice): try notice.encode(to: encoder)
        case .noticeCleared(let code): try container.encode(code, forKey: .code)
        case .link(let peer, let report): try encode(peer, report, &container)
        case .linkEnded(let peer): try container.encode(peer, forKey: .peer)
        case .contact(let contact): try encode(contact, &container)
        case .radio(let activity): try encode(activity, &container)
        case .broker(let report): try encode(report, &container)
        case .mark(let text): try container.encode(text, forKey: .text)
        case .bye(let reason): try container.encode(reason, forKey: .reason)
        }
    }

    private func encode(_ node: NodeDescription, _ container: inout Container) throws {
        try container.encode(node.role, forKey: .role)
        try container.encode(node.peer, forKey: .peer)
        try container.encode(node.radio, forKey: .radio)
        try container.encode(node.service.text, forKey: .service)
        try container.encode(node.http, forKey: .http)
        try container.encode(RoadMeshVersion.text, forKey: .version)
        try container.encodeIfPresent(node.passengers, forKey: .passengers)
        try container.encodeIfPresent(node.pin, forKey: .pin)
    }

    private func encode(relay id: Peer.ID?, _ container: inout Container) throws {
        guard let id else { return }
        var relay = container.nestedContainer(keyedBy: Key.self, forKey: .relay)
        try relay.encode(id, forKey: .id)
    }

    private func encode(_ contact: Encounter, _ container: inout Container) throws {
        try container.encode(contact.phase, forKey: .phase)
        try container.encode(contact.peer, forKey: .peer)
        try container.encodeIfPresent(contact.evidence, forKey: .evidence)
        try container.encodeIfPresent(contact.rssi, forKey: .rssi)
        try container.encodeIfPresent(contact.silence.map { $0 / .seconds(1) }, forKey: .silence)
    }

    private func encode(_ activity: RadioActivity, _ container: inout Container) throws {
        try container.encode(activity.isScanning, forKey: .scanning)
        try container.encode(activity.isDialling, forKey: .dialling)
        try container.encode(activity.isAdvertising, forKey: .advertising)
        try container.encode(activity.links, forKey: .links)
        if let adapter = activity.adapter { try encode(adapter, &container) }
    }

    private func encode(_ report: BrokerReport, _ container: inout Container) throws {
        try container.encodeIfPresent(report.state, forKey: .state)
        try container.encodeIfPresent(report.cause, forKey: .error)
        try container.encodeIfPresent(report.sent, forKey: .sentBytes)
        try container.encodeIfPresent(report.received, forKey: .receivedBytes)
        if report.sent != nil { try container.encode(report.isHour, forKey: .hour) }
    }

    private func encode(_ adapter: AdapterTiming, _ container: inout Container) throws {
        var timing = container.nestedContainer(keyedBy: Key.self, forKey: .adapter)
        try timing.encode(adapter.isSetByNode ? "roadmesh" : "system", forKey: .setBy)
        try timing.encode(adapter.advertising, forKey: .advertisingInterval)
        try timing.encode(adapter.connection, forKey: .interval)
        try timing.encode(adapter.supervisionTimeout, forKey: .supervisionTimeout)
        try timing.encodeIfPresent(adapter.foundWithin?.milliseconds, forKey: .foundWithin)
    }

    private func encode(_ found: FoundSongs, for query: SongQuery, _ container: inout Container) throws {
        try container.encode(query.words, forKey: .query)
        try container.encode(query.shelf, forKey: .shelf)
        try container.encode(query.from, forKey: .from)
        try container.encode(found.songs, forKey: .songs)
        try container.encode(found.groups, forKey: .groups)
        try container.encode(found.artists, forKey: .artists)
        try container.encode(found.albums, forKey: .albums)
        try container.encode(found.total, forKey: .total)
        try container.encode(found.lookedFor, forKey: .lookedFor)
    }

    private func encode(_ steering: Steering, _ container: inout Container) throws {
        try container.encode(steering.undo.map { NodeView.Undo($0) }, forKey: .undo)
        try container.encode(steering.canGoBack, forKey: .canGoBack)
        try container.encode(steering.volume, forKey: .volume)
        try container.encode(steering.ducked, forKey: .duck)
        try container.encode(steering.shuffles, forKey: .shuffle)
    }

    private func encode(_ playback: Playback, _ container: inout Container) throws {
        try container.encode(playback.song?.id, forKey: .songID)
        try container.encode(playback.isPlaying, forKey: .isPlaying)
        try container.encode(playback.hasSound, forKey: .sound)
        try container.encode(playback.elapsed / .seconds(1), forKey: .elapsed)
        try container.encode(playback.song?.duration, forKey: .duration)
    }

    private func encode(_ state: ConnectionState, _ container: inout Container) throws {
        try container.encode(state.name, forKey: .state)
        switch state {
        case .reconnecting(let attempt): try container.encode(attempt, forKey: .attempt)
        case .failed(.connectionFailed(let reason)): try container.encode(reason, forKey: .error)
        case .disconnected, .connecting, .connected: break
        }
    }

    private func encode(
        _ songID: Song.ID, _ kind: Wish.Kind, _ state: WishState, _ container: inout Container
    ) throws {
        try container.encode(songID, forKey: .songID)
        if kind != .suggest { try container.encode(kind, forKey: .wish) }
        try container.encode(state.name, forKey: .state)
        if case .rejected(let reason) = state { try container.encode(reason, forKey: .reason) }
    }

    private func encode(_ peer: Peer, _ report: LinkReport, _ container: inout Container) throws {
        try container.encode(peer, forKey: .peer)
        try container.encode(report.rssi, forKey: .rssi)
        try container.encode(report.roundTrip.map { $0 / .milliseconds(1) }, forKey: .rttMilliseconds)
        try container.encodeIfPresent(report.bearer, forKey: .bearer)
        try container.encode(report.sentBytes, forKey: .sentBytes)
        try container.encode(report.receivedBytes, forKey: .receivedBytes)
        try container.encode(report.resent, forKey: .resent)
        try container.encode(report.duplicates, forKey: .duplicates)
        try container.encode(report.outbox, forKey: .outbox)
        try container.encode(report.relays, forKey: .hops)
        try container.encodeIfPresent(report.via, forKey: .via)
        try container.encodeIfPresent(report.circuits, forKey: .circuits)
        if let condition = report.condition { try encode(condition, &container) }
    }

    private func encode(_ condition: LinkCondition, _ container: inout Container) throws {
        try container.encodeIfPresent(condition.got.phy, forKey: .phy)
        try container.encodeIfPresent(condition.got.interval, forKey: .interval)
        try container.encodeIfPresent(condition.got.supervisionTimeout, forKey: .supervisionTimeout)
        try container.encodeIfPresent(condition.got.dataLength, forKey: .dataLength)
        try container.encode(condition.asked, forKey: .asked)
        try container.encode(condition.notPermitted, forKey: .notPermitted)
    }
}

extension NodeEvent {
    /// The event's name in the contract.
    public var name: String {
        switch self {
        case .ready: "ready"
        case .peerDiscovered: "peerDiscovered"
        case .peerLost: "peerLost"
        case .peerConnected: "peerConnected"
        case .peerDisconnected: "peerDisconnected"
        case .connection: "connection"
        case .snapshot: "snapshot"
        // `wish` reports both a vote and its withdrawal.
        case .wish(_, .suggest, _): "suggestion"
        case .wish: "vote"
        case .searchResults: "searchResults"
        case .artwork: "artwork"
        case .intent: "intent"
        case .pinGuessed: "pinGuessed"
        case .invitation: "invitation"
        case .invitations: "invitations"
        case .bans: "bans"
        case .drivers: "drivers"
        case .hosts: "hosts"
        case .playback: "playback"
        case .steering: "steering"
        case .library: "library"
        case .page: "page"
        case .notice: "notice"
        case .noticeCleared: "noticeCleared"
        case .link: "link"
        case .linkEnded: "linkEnded"
        case .contact: "contact"
        case .radio: "radio"
        case .broker: "broker"
        case .mark: "mark"
        case .bye: "bye"
        }
    }
}

extension ConnectionState {
    /// The state's name in the contract.
    public var name: String {
        switch self {
        case .disconnected: "disconnected"
        case .connecting: "connecting"
        case .connected: "connected"
        case .reconnecting: "reconnecting"
        case .failed: "failed"
        }
    }
}

extension WishState {
    /// The state's name in the contract.
    public var name: String {
        switch self {
        case .queued: "queued"
        case .sent: "sent"
        case .confirmed: "confirmed"
        case .rejected: "rejected"
        }
    }
}
