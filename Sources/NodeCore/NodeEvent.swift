// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The events that a running node reports to a display, as the command-line contract lists them.
public enum NodeEvent: Sendable {
    /// The node runs.
    case ready(NodeDescription)
    /// A host is heard, itself or through a relay.
    case peerDiscovered(HeardNode)
    /// A host is not heard any more, itself or through this relay.
    case peerLost(Peer, via: Peer.ID? = nil)
    /// A link is up.
    case peerConnected(Peer)
    /// A link is gone.
    case peerDisconnected(Peer, DisconnectReason)
    /// The guest's connection has changed.
    case connection(ConnectionState)
    /// The host's state has changed. If `isStale`, it is the last state known from before this run.
    case snapshot(HostSnapshot, isStale: Bool)
    /// A wish of this guest has another state.
    case wish(Song.ID, Wish.Kind, WishState)
    /// The host has found these songs for this query.
    case searchResults(FoundSongs, query: SongQuery)
    /// A song's cover art is in this file for as long as the song is on view.
    case artwork(Song.ID, path: String)
    /// A guest has sent a wish to this host.
    case intent(GuestIntent, from: Peer, rejected: RejectionReason?)
    /// A peer has claimed to know this host's PIN but does not know it.
    case pinGuessed(Peer)
    /// The person at this host has created an invitation.
    case invitation(OpenInvitation)
    /// The host's invitations have changed. These are the valid ones, oldest first.
    case invitations([OpenInvitation])
    /// The peers that are banned from this host. Sent when the list has changed, or when the host's person has asked
    /// for it.
    case bans([ShownBan], isAnswer: Bool)
    /// The co-hosts, linked or not.
    case drivers([Peer])
    /// The hosts that this guest has joined, and those in range. Sent when the joined hosts have changed, or when the
    /// guest's person has asked for them.
    case hosts([ShownHost], isAnswer: Bool)
    /// The playback has changed.
    case playback(Playback)
    /// The steps that the host's driver can take have changed.
    case steering(Steering)
    /// The host has another library.
    case library(SongLibrary)
    /// The node's page has this new address. `passengers` is the link for browsers of a host's passengers.
    case page(String, passengers: String?)
    /// A notice to show to a person.
    case notice(Notice)
    /// A notice is cleared because its cause is over.
    case noticeCleared(code: String)
    /// A report about a link.
    case link(Peer, LinkReport)
    /// A link to a relay, or to a node behind this one, has ended. The end of a session's link is a `peerDisconnected`.
    case linkEnded(Peer)
    /// A link is lost, or a step towards a new one is done.
    case contact(Encounter)
    /// The radio's activity has changed.
    case radio(RadioActivity)
    /// The state of the broker next to the radio has changed, or these are the bytes it has cost.
    case broker(BrokerReport)
    /// A person has marked this moment in a recording.
    case mark(String)
    /// The node has stopped. This is the last event.
    case bye(ByeReason)
}

/// What a node is.
public struct NodeDescription: Hashable, Sendable {
    /// The roles of a node.
    public enum Role: String, Hashable, Sendable, Codable, CaseIterable {
        /// The node plays the music.
        case host
        /// The node votes.
        case guest
        /// The node only scans.
        case scan
    }

    /// The node's role.
    public var role: Role
    /// The node's identity.
    public var peer: Peer
    /// The radio's name.
    public var radio: String
    /// The node's service type.
    public var service: ServiceType
    /// The address of the node's page; nil without a page.
    public var http: String?
    /// The address for browsers of a host's guests, without the token; nil if browsers may not join.
    public var browserDoor: String?
    /// The address `browserDoor` with the token that admits passengers. Nil if browsers may not join.
    public var passengers: String?
    /// The PIN that a host asks for.
    public var pin: String?
    /// The host that a guest was started for, by name or identifier (`--host`); nil if the guest also joins others.
    public var wantedHost: String?
    /// Whether the drive is recorded. Only then does the node accept marks.
    public var isRecorded = false

    /// Creates a description.
    public init(role: Role, peer: Peer, radio: String, service: ServiceType, http: String? = nil) {
        self.role = role
        self.peer = peer
        self.radio = radio
        self.service = service
        self.http = http
    }
}

/// An invitation that a host has created, as its person passes it on.
public struct OpenInvitation: Hashable, Sendable, Encodable {
    /// The text for `guest --join`.
    public var text: String
    /// The link for browsers and nodes; nil if browsers may not join.
    public var url: String?
    /// The time at which it expires, in seconds since 1970.
    public var until: UInt32
    /// Whether only one guest can use it.
    public var once: Bool

    init(_ given: GivenInvitation, of node: NodeDescription) {
        let invitation = Invitation(
            host: node.peer.id, service: node.service, name: given.name, secret: given.secret)
        text = invitation.text
        url = node.browserDoor.map { invitation.link(at: $0) }
        (until, once) = (given.until, given.isOnce)
    }

    private enum Key: String, CodingKey { case text, url, until, once }

    /// Writes the object. A missing value is a null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(text, forKey: .text)
        try container.encode(url, forKey: .url)
        try container.encode(until, forKey: .until)
        try container.encode(once, forKey: .once)
    }

    /// The content of the invitation's QR code.
    public var picture: String { url ?? text }

    /// The file name of the QR code on a page. The end of the text is its checksum and reveals nothing.
    package var pictureName: String { text.suffix(5) + ".svg" }
}

/// Why a node has stopped.
public enum ByeReason: String, Hashable, Sendable, Codable, CaseIterable {
    /// A person stopped it. The next start of a host continues its session.
    case quit
    /// The system stopped it (SIGTERM, Ctrl-C).
    case terminated
    /// The input of a program ended, and the node is a guest.
    case endOfInput
}
