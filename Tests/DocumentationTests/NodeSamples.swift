// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import TestSupport

@testable import NodeCore

/// Events of a node: each with all of its fields, and with as few as possible.
enum NodeSamples {
    /// The cases of `NodeEvent`.
    enum Kind: CaseIterable {
        case ready, peerDiscovered, peerLost, peerConnected, peerDisconnected, connection, snapshot, wish, searchResults
        case artwork, intent, pinGuessed, invitation, invitations, bans, drivers, hosts, playback, steering, library
        case page, notice, noticeCleared, link, linkEnded, contact, radio, broker, mark, bye
    }

    static let ana = Peer(id: "a1", name: "Ana")
    private static let song = Song(
        id: "s1", title: "T", artist: "A", duration: 2, albumArtURL: "https://example.org/cover.png")
    private static let plainSong = Song(id: "s2", title: "T", artist: "A", duration: 2)

    static let all: [NodeEvent] =
        nodes + hosts + guests + links + [.mark("tunnel in")] + ByeReason.allCases.map { .bye($0) }

    /// A new event does not compile here. Add a case above, and samples below: one with all of its fields, and one with
    /// as few as possible.
    static func kind(_ event: NodeEvent) -> Kind {
        switch event {
        case .ready: .ready
        case .peerDiscovered: .peerDiscovered
        case .peerLost: .peerLost
        case .peerConnected: .peerConnected
        case .peerDisconnected: .peerDisconnected
        case .connection: .connection
        case .snapshot: .snapshot
        case .wish: .wish
        case .searchResults: .searchResults
        case .artwork: .artwork
        case .intent: .intent
        case .pinGuessed: .pinGuessed
        case .invitation: .invitation
        case .invitations: .invitations
        case .bans: .bans
        case .drivers: .drivers
        case .hosts: .hosts
        case .playback: .playback
        case .steering: .steering
        case .library: .library
        case .page: .page
        case .notice: .notice
        case .noticeCleared: .noticeCleared
        case .link: .link
        case .linkEnded: .linkEnded
        case .contact: .contact
        case .radio: .radio
        case .broker: .broker
        case .mark: .mark
        case .bye: .bye
        }
    }

    private static func node(_ role: NodeDescription.Role, _ change: (inout NodeDescription) -> Void) -> NodeDescription
    {
        var node = NodeDescription(role: role, peer: ana, radio: "virtual a", service: .democracyDJ)
        change(&node)
        return node
    }

    private static let nodes: [NodeEvent] =
        NodeDescription.Role.allCases.map { .ready(node($0) { _ in }) }
        + [
            .ready(
                node(.host) { node in
                    (node.http, node.pin) = ("http://127.0.0.1:1/", "314159")
                    node.passengers = "http://192.168.4.1:1/join?token=b4a1"
                }),
            .notice(Notice(.connectionLost(host: ana))), .notice(Notice(.nothingBefore)),
            .notice(Notice(NetworkError.every.first { $0.isOutage } ?? .hostFull)), .noticeCleared(code: "hostFull"),
            .broker(BrokerReport(.connected)), .broker(BrokerReport(.unreachable("the line is dead"))),
            .broker(BrokerReport(.refused("no"))), .broker(BrokerReport(.untrusted("no"))),
            .broker(BrokerReport(.carried(sent: 1, received: 2, isHour: true))),
        ]

    static let undos: [Steering.Undo] = [
        .remove(title: "T"), .clear, .move(title: "T"), .kick(name: "Ana"), .ban(name: "Ana"),
    ]

    static let intents: [GuestIntent] = [
        .vote(songID: "s1"), .takeBackVote(songID: "s1"), .suggestSong(songID: "s1"), .skip(songID: "s1"),
        .steer(.skip(songID: "s1")), .steer(.remove(songID: "s1")), .steer(.move(songID: "s1", to: 2)),
        .steer(.kick("b2")),
    ]

    private static let invitations: [OpenInvitation] = {
        let given = GivenInvitation(
            name: [UInt8](repeating: 1, count: Limits.invitationBytes),
            secret: [UInt8](repeating: 2, count: Limits.invitationSecretBytes), until: 5, isOnce: true)
        let host = NodeDescription(
            role: .host, peer: Peer(id: String(repeating: "a", count: 32), name: "Car"), radio: "virtual a",
            service: .democracyDJ)
        var open = host
        open.browserDoor = "http://192.168.4.1:8080/"
        return [OpenInvitation(given, of: host), OpenInvitation(given, of: open)]
    }()

    private static let hosts: [NodeEvent] =
        intents.map { .intent($0, from: ana, rejected: nil) }
        + RejectionReason.allCases.map { .intent(.vote(songID: "s1"), from: ana, rejected: $0) }
        + invitations.map { .invitation($0) } + [.invitations(invitations)]
        + undos.map { .steering(Steering(undo: $0, canGoBack: true, volume: 40, ducked: 20)) }
        + [
            .snapshot(
                HostSnapshot(
                    epoch: 7, revision: 3, nowPlaying: QueueItem(song: song, addedBy: "c0"), isPlaying: true,
                    queue: [QueueItem(song: plainSong, addedBy: "c0", voters: ["a1"], isPinned: true)],
                    connectedPeers: [ana],
                    skipVoters: ["a1"], drivers: ["a1"]), isStale: false),
            .snapshot(
                HostSnapshot(epoch: 7, revision: 3, nowPlaying: nil, isPlaying: false, queue: [], connectedPeers: []),
                isStale: true),
            .pinGuessed(ana), .drivers([ana]), .library(SongLibrary([song])), .steering(Steering()),
            .page("http://192.168.4.1:8080/?token=7d0e", passengers: nil),
            .page(
                "http://192.168.4.1:8080/?token=7d0e", passengers: "http://192.168.4.1:8080/join?token=b4a1"),
            .bans(
                [
                    ShownBan(peer: ana, until: 5, session: false), ShownBan(peer: ana, until: nil, session: true),
                ], isAnswer: true),
            .playback(Playback(song: song, isPlaying: true, elapsed: .seconds(1), next: nil)),
            .playback(Playback(song: nil, isPlaying: false, elapsed: .zero, next: nil)),
        ]

    static let wishStates: [WishState] =
        [.queued, .sent, .confirmed] + RejectionReason.allCases.map { .rejected($0) }

    static let connections: [ConnectionState] = [
        .disconnected, .connecting, .connected, .reconnecting(attempt: 2),
        .failed(.connectionFailed(reason: "hostNotFound")),
    ]

    private static let guests: [NodeEvent] =
        Wish.Kind.allCases.flatMap { kind in wishStates.map { .wish("s1", kind, $0) } }
        + connections.map { .connection($0) }
        + SongQuery.Shelf.allCases.map { .searchResults([song, plainSong], query: SongQuery("t", on: $0)) }
        + [
            .searchResults(
                FoundSongs(groups: [SongGroup(id: "s1", name: "A", songs: 1)], lookedFor: "tea"), query: "t"),
            .searchResults(
                FoundSongs(
                    [song], artists: [SongGroup(id: "s1", name: "A", songs: 1)],
                    albums: [SongGroup(id: "s1", name: "A", artist: "A", songs: 1)]), query: "t"),
            .artwork("s1", path: "/a.png"),
            .hosts(
                [ShownHost(peer: ana, known: true, inRange: true, joined: false, other: false)], isAnswer: false),
        ]

    private static let links: [NodeEvent] =
        BearerKind.allCases.flatMap { bearer -> [NodeEvent] in
            var report = LinkReport()
            report.bearer = bearer
            return [.peerDiscovered(HeardNode(ana, rssi: -40, bearer: bearer)), .link(ana, report)]
        }
        + DisconnectReason.allCases.map { .peerDisconnected(ana, $0) }
        + Encounter.Phase.allCases.filter { $0 != .current }.map { .contact(Encounter($0, ana, at: .now)) }
        + Encounter.Evidence.allCases.map { .contact(Encounter(.heard, ana, at: .now, by: $0, rssi: -70)) }
        + [
            .contact(Encounter(lost: ana, .linkLost, at: .now)), .peerConnected(ana), .peerLost(ana),
            .peerLost(ana, via: "b2"), .linkEnded(ana),
            .peerDiscovered(HeardNode(ana, relay: "b2", hops: 2, hasRoom: false)), .link(ana, full),
            .link(ana, LinkReport(condition: LinkCondition(got: LinkParameters()))), .radio(RadioActivity()),
            radio(setByNode: true), radio(setByNode: false),
        ]

    private static let full: LinkReport = {
        let parameters = LinkParameters(phy: "1M", interval: 15, supervisionTimeout: 720, dataLength: 251)
        var report = LinkReport(
            rssi: -50, roundTrip: .milliseconds(12), condition: LinkCondition(got: parameters, asked: parameters))
        (report.via, report.circuits) = ("b2", 3)
        return report
    }()

    private static func radio(setByNode: Bool) -> NodeEvent {
        var activity = RadioActivity()
        activity.adapter = AdapterTiming(
            isSetByNode: setByNode, advertising: 20...20, connection: 7.5...7.5, supervisionTimeout: 720,
            foundWithin: setByNode ? DialTime(milliseconds: 61) : nil)
        return .radio(activity)
    }
}
