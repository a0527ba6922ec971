// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The state of a node for display: what plays, the queue, the guests, the person's wishes and the notices. A terminal
/// and the pages show it, and a program gets it on request. As JSON it is the document that `docs/dashboard.md`
/// describes. A missing value is a null, not a missing field.
package struct NodeView: Encodable, Hashable, Sendable {
    /// The viewer's role.
    package enum Role: String, Hashable, Sendable, Encodable, CaseIterable {
        /// The person at the host.
        case host
        /// The person at a guest's device.
        case guest
        /// A passenger with a browser.
        case webGuest
    }

    /// The state of the node's connection to its host.
    package enum Connection: String, Hashable, Sendable, Encodable, CaseIterable {
        case hosting, connected, connecting, reconnecting, disconnected, failed
    }

    package struct Person: Encodable, Hashable, Sendable {
        package var id: Peer.ID
        @OrNull package var name: String?
    }

    package struct Item: Encodable, Hashable, Identifiable, Sendable {
        package var id: Song.ID
        package var title: String
        package var artist: String
        package var duration: Double
        @OrNull package var art: String?
        package var addedBy: Peer.ID
        @OrNull package var addedByName: String?
        package var votes: Int
        package var voters: [Person]
        package var mine: Bool
        /// Whether the driver has set its position.
        package var pinned = false
        @OrNull package var wish: WishMark?
    }

    package struct WishMark: Encodable, Hashable, Sendable {
        package var kind: Wish.Kind
        package var state: String
        @OrNull package var reason: RejectionReason?
        @OrNull package var sentence: String?
        /// The parts from which the sentence is built.
        @OrNull package var sentenceText: LocalizedText?
    }

    /// A wish about a song that is not in the queue.
    package struct OtherWish: Encodable, Hashable, Sendable {
        package var songID: Song.ID
        @OrNull package var title: String?
        package var kind: Wish.Kind
        package var state: String
        @OrNull package var reason: RejectionReason?
        @OrNull package var sentence: String?
        /// The parts from which the sentence is built.
        @OrNull package var sentenceText: LocalizedText?
    }

    package struct Guest: Encodable, Hashable, Sendable {
        package var id: Peer.ID
        package var name: String
        /// The signal in dBm.
        @OrNull package var rssi: Int?
        /// The round trip in milliseconds.
        @OrNull package var roundTrip: Double?
        /// The bearer of the guest's link; nil behind a relay, and if this node does not know.
        @OrNull package var bearer: BearerKind?
        package var isWeb: Bool
        package var isMe: Bool
        /// Whether the guest is a co-host.
        package var isDriver: Bool
        /// Relays between it and the host; nil if this node does not know.
        @OrNull package var hops: Int?
        /// The relay that the guest has joined through, with its name if that is known.
        @OrNull package var via: Person?
        /// How many guests have joined through this guest; nil if it is not known to be a relay.
        @OrNull package var carries: Int?
    }

    /// A song that a search found.
    package struct FoundSong: Encodable, Hashable, Sendable {
        package var id: Song.ID
        package var title: String
        package var artist: String
        package var duration: Double
        @OrNull package var art: String?
    }

    package struct HeardHost: Encodable, Hashable, Sendable {
        package var id: Peer.ID
        package var name: String
        /// Signal strength of the host itself, in dBm.
        @OrNull package var rssi: Int?
        /// 0 if the host is heard directly, otherwise the hops of the best relay.
        package var hops = 0
        package var relays: [HeardRelay] = []
        /// Whether the guest has joined it before.
        package var known = false
        /// Whether the host has the name of a joined host, but another key.
        package var other = false
    }

    /// A relay to a host.
    package struct HeardRelay: Encodable, Hashable, Sendable {
        package var id: Peer.ID
        package var hops: Int
        package var room: Bool
        @OrNull package var rssi: Int?
    }

    /// The step that a driver can undo.
    package struct Undo: Encodable, Hashable, Sendable {
        /// The kind of the step.
        package enum Kind: String, Encodable, Hashable, Sendable, CaseIterable {
            case remove, clear, move, kick, ban
        }

        package var kind: Kind
        /// The title of the song that was removed or moved. Omitted for the other kinds.
        package var title: String?
        /// The name of the guest that was removed. Omitted for the other kinds.
        package var name: String?
        /// Counts the steps of this run, from 1. Omitted in events.
        package var step: Int?

        init(_ undo: Steering.Undo, step: Int? = nil) {
            self.step = step
            switch undo {
            case .remove(let title): (kind, self.title) = (.remove, UntrustedText.shown(title))
            case .clear: kind = .clear
            case .move(let title): (kind, self.title) = (.move, UntrustedText.shown(title))
            case .kick(let name): (kind, self.name) = (.kick, UntrustedText.shown(name))
            case .ban(let name): (kind, self.name) = (.ban, UntrustedText.shown(name))
            }
        }
    }

    package struct Skip: Encodable, Hashable, Sendable {
        package var allowed: Bool
        package var votes: Int
        package var needed: Int
        package var mine: Bool
    }

    package struct ShownNotice: Encodable, Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable, Encodable, CaseIterable {
            case banner, toast
        }

        package var id: Int
        package var code: String
        package var message: String
        @OrNull package var suggestion: String?
        @OrNull package var button: String?
        package var critical: Bool
        @OrNull package var dismissAfter: Double?
        package var kind: Kind
        /// The parts from which both sentences are built, if they have inserted values.
        @OrNull package var messageText: LocalizedText?
        @OrNull package var suggestionText: LocalizedText?
    }

    package struct Invitation: Encodable, Hashable, Sendable {
        package var name: String
        @OrNull package var pin: String?
        @OrNull package var url: String?
        @OrNull package var qr: String?
        /// The valid invitations that the person has created, newest first.
        package var open: [Given] = []
        @OrNull package var wifi: Wifi?

        /// One of these invitations. `qr` is its QR code.
        package struct Given: Encodable, Hashable, Sendable {
            package var text: String
            @OrNull package var url: String?
            package var until: UInt32
            package var once: Bool
            package var qr: String
        }

        /// The network that the page is on, and the QR code to join it.
        package struct Wifi: Encodable, Hashable, Sendable {
            package var name: String
            package var qr: String

            package init(name: String, qr: String) { (self.name, self.qr) = (name, qr) }
        }

        package init(name: String, pin: String?, url: String?, qr: String?) {
            self.name = name
            self.pin = pin
            self.url = url
            self.qr = qr
            wifi = nil
        }
    }

    /// A banned peer.
    package struct Outcast: Encodable, Hashable, Sendable {
        package var id: Peer.ID
        package var name: String
        /// Seconds since 1970.
        @OrNull package var until: UInt32?
        /// Whether the ban ends with the session.
        package var session: Bool
    }

    package var version: Int
    package var role: Role
    package var me: Person
    @OrNull package var host: Person?
    package var radio: String
    package var connection: Connection
    package var attempt: Int
    package var isStale: Bool
    @OrNull package var nowPlaying: Item?
    /// Whether the host should be playing. At a guest: whether it is playing.
    package var isPlaying: Bool
    /// Whether the host's sound has an output; nil if that is unknown.
    @OrNull package var sound: Bool?
    /// Seconds, at the time of sending.
    package var elapsed: Double
    package var queue: [Item]
    package var wishes: [OtherWish]
    package var guests: [Guest]
    /// How many guests are missing from `guests`. In a crowd, a host reports only some of the names.
    package var moreGuests: Int
    package var hosts: [HeardHost]
    /// The host that an unconnected guest was started for; nil for any host.
    @OrNull package var wanted: String?
    /// The hosts that an unconnected guest has joined, latest first.
    package var knownHosts: [Person]
    package var skip: Skip
    /// The step that the driver can undo; nil for nothing, and for guests.
    @OrNull package var undo: Undo?
    /// Whether the viewer can control the playback: at the head unit, and on a co-host.
    package var steers: Bool
    /// Whether a previous song exists; nil for guests.
    @OrNull package var canGoBack: Bool?
    /// The player's volume in percent; nil without a player, and for guests.
    @OrNull package var volume: Int?
    /// Whether songs without a wish play in random order; nil for guests.
    @OrNull package var shuffle: Bool?
    package var notices: [ShownNotice]
    @OrNull package var invitation: Invitation?
    /// The banned peers, for the host only.
    package var bans: [Outcast]
    @OrNull package var library: LibraryCount?
    @OrNull package var ended: String?
}

/// A view in the form of the command-line contract: the event `view`.
package struct TimedView: Encodable, Sendable {
    private var event = "view"
    private var at: Double
    private var view: NodeView

    package init(_ view: NodeView, at: Double) {
        self.at = at
        self.view = view
    }
}
