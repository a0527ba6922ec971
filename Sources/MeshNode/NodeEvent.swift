// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession

/// What a running node tells a display: the events of the command line's contract.
public enum NodeEvent: Sendable {
    /// The node runs.
    case ready(NodeDescription)
    /// A host is heard, itself or through a relay: signal strength in dBm where the radio knows it, and hops to the host, 0
    /// where it is heard itself.
    case peerDiscovered(Peer, rssi: Int?, hops: Int, via: HeardRelay? = nil, bearer: Bearer? = nil)
    /// A host is not heard any more, itself or through this relay.
    case peerLost(Peer, via: Peer.ID? = nil)
    /// A link is up.
    case peerConnected(Peer)
    /// A link is gone.
    case peerDisconnected(Peer, DisconnectReason)
    /// The guest's connection has changed.
    case connection(ConnectionState)
    /// The host's state has changed; or, stale, it is what was known of it before this run.
    case snapshot(HostSnapshot, isStale: Bool)
    /// A wish of this guest has got somewhere.
    case wish(Song.ID, Wish.Kind, WishState)
    /// The host has found these songs for these words.
    case searchResults(FoundSongs, query: SongQuery)
    /// A song's cover art is in this file, for as long as the song is on view.
    case artwork(Song.ID, path: String)
    /// A guest wanted something of this host.
    case intent(GuestIntent, from: Peer, rejected: RejectionReason?)
    /// Somebody has claimed to know this host's PIN, and does not.
    case pinGuessed(Peer)
    /// The person at this host has an invitation to give.
    case invitation(OpenInvitation)
    /// The host's invitations are others: those that are good now, the oldest first.
    case invitations([OpenInvitation])
    /// Who is kept out of this host: it is somebody else, or its person has asked.
    case bans([ShownBan], isAnswer: Bool)
    /// Whose devices steer a host beside the head unit, linked or not.
    case drivers([Peer])
    /// The hosts that this guest has joined, and those in range: the former are others, or its person has asked.
    case hosts([ShownHost], isAnswer: Bool)
    /// What is to be heard is something else.
    case playback(Playback)
    /// What the driver of this host can do is something else.
    case steering(Steering)
    /// The host's library is another one.
    case library(SongLibrary)
    /// The node's page is at this address from now on. `passengers` is the link for browsers of a host's passengers.
    case page(String, passengers: String?)
    /// A person should know something.
    case notice(Notice)
    /// A notice is cleared: its cause is over.
    case noticeCleared(code: String)
    /// What a link is like.
    case link(Peer, LinkReport)
    /// A link to a relay, or to a node behind this one, is over. That of a session is told by `peerDisconnected`.
    case linkEnded(Peer)
    /// A link is lost, or a step of the way to one is done.
    case contact(Contact)
    /// The radio is at something else.
    case radio(RadioActivity)
    /// The broker beside the radio has another state, or this is what it has cost.
    case broker(BrokerReport)
    /// Somebody has marked this moment of a recording.
    case mark(String)
    /// The node has stopped; nothing follows.
    case bye(ByeReason)
}

/// A relay that leads to a host, as it was heard.
public struct HeardRelay: Hashable, Sendable {
    /// The head of its identifier.
    public var id: Peer.ID
    /// Whether it takes further guests.
    public var hasRoom: Bool

    /// A relay.
    public init(id: Peer.ID, hasRoom: Bool) {
        (self.id, self.hasRoom) = (id, hasRoom)
    }
}

/// What a node is.
public struct NodeDescription: Hashable, Sendable {
    /// The part a node plays.
    public enum Role: String, Hashable, Sendable, Codable, CaseIterable {
        /// It has the music.
        case host
        /// It votes.
        case guest
        /// It only listens.
        case scan
    }

    /// The part it plays.
    public var role: Role
    /// Who it is.
    public var peer: Peer
    /// The radio's name.
    public var radio: String
    /// The service type it speaks.
    public var service: ServiceType
    /// The address of its page, where it has one.
    public var http: String?
    /// The address where browsers of a host's guests enter, without what lets them in; nil where they may not.
    public var browserDoor: String?
    /// The same address with the token that lets passengers in; nil where they may not.
    public var passengers: String?
    /// The PIN that a host asks for.
    public var pin: String?
    /// The host that a guest was started for, by name or identifier (`--host`); nil where it joins others as well.
    public var wantedHost: String?
    /// Whether the drive is recorded: then marks are taken.
    public var isRecorded = false

    /// A description.
    public init(role: Role, peer: Peer, radio: String, service: ServiceType, http: String? = nil) {
        self.role = role
        self.peer = peer
        self.radio = radio
        self.service = service
        self.http = http
    }
}

/// An invitation that a host has given, as its person passes it on.
public struct OpenInvitation: Hashable, Sendable, Encodable {
    /// For `guest --join`.
    public var text: String
    /// The same for browsers and for nodes; nil where browsers may not come in.
    public var url: String?
    /// Until when it is good, in seconds since 1970.
    public var until: UInt32
    /// Whether one guest may use it, and then nobody.
    public var once: Bool

    init(_ given: GivenInvitation, of node: NodeDescription) {
        let invitation = Invitation(
            host: node.peer.id, service: node.service, name: given.name, secret: given.secret)
        text = invitation.text
        url = node.browserDoor.map { invitation.link(at: $0) }
        (until, once) = (given.until, given.isOnce)
    }

    private enum Key: String, CodingKey { case text, url, until, once }

    /// Writes the object; what is not there is a null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(text, forKey: .text)
        try container.encode(url, forKey: .url)
        try container.encode(until, forKey: .until)
        try container.encode(once, forKey: .once)
    }

    /// What a picture of it says.
    public var picture: String { url ?? text }

    /// What a page calls the picture: the end of the text is a checksum of it, and tells nothing.
    package var pictureName: String { text.suffix(5) + ".svg" }
}

/// Why a node has stopped.
public enum ByeReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// The person said so; a host's session goes on with the next start.
    case quit
    /// The system said so (SIGTERM, Ctrl-C).
    case terminated
    /// A program's input ended, and it is a guest.
    case endOfInput
}
