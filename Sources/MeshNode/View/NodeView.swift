// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// What a node is like: what plays, the queue, who is there, what this person wants, what there is to tell. A terminal
/// and the pages show it, and a program is told it when it asks. As JSON it is the document that `docs/dashboard.md`
/// describes; what is not there is a null, not a missing field.
package struct NodeView: Encodable, Hashable, Sendable {
    /// Who looks.
    package enum Role: String, Hashable, Sendable, Encodable, CaseIterable {
        /// The person at the host.
        case host
        /// The person at a guest's device.
        case guest
        /// A passenger with a browser.
        case webGuest
    }

    /// Where the node stands with its host.
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
        /// The driver has given it its place.
        package var pinned = false
        @OrNull package var wish: WishMark?
    }

    package struct WishMark: Encodable, Hashable, Sendable {
        package var kind: Wish.Kind
        package var state: String
        @OrNull package var reason: RejectionReason?
        @OrNull package var sentence: String?
        /// How the sentence is made.
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
        /// How the sentence is made.
        @OrNull package var sentenceText: LocalizedText?
    }

    package struct Guest: Encodable, Hashable, Sendable {
        package var id: Peer.ID
        package var name: String
        /// In dBm.
        @OrNull package var rssi: Int?
        /// In milliseconds.
        @OrNull package var roundTrip: Double?
        /// What its link goes over; nil behind a relay, and where this node does not know.
        @OrNull package var bearer: Bearer?
        package var isWeb: Bool
        package var isMe: Bool
        /// Whether its device steers beside the head unit.
        package var isDriver: Bool
        /// Relays between it and the host; nil where this node does not know.
        @OrNull package var hops: Int?
        /// The relay that it is joined through; with its own name where that is known.
        @OrNull package var via: Person?
        /// How many guests are joined through it; nil where it is no relay, as far as this node knows.
        @OrNull package var carries: Int?
    }

    /// A song that a search has found.
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
        /// Its own signal strength.
        @OrNull package var rssi: Int?
        /// 0 where it is heard itself, else those from the best relay.
        package var hops = 0
        package var relays: [HeardRelay] = []
        /// Whether it was joined before.
        package var known = false
        /// Whether it has the name of one that was joined, and another key.
        package var other = false
    }

    /// A relay that leads to a host.
    package struct HeardRelay: Encodable, Hashable, Sendable {
        package var id: Peer.ID
        package var hops: Int
        package var room: Bool
        @OrNull package var rssi: Int?
    }

    /// What a driver can undo.
    package struct Undo: Encodable, Hashable, Sendable {
        /// What was done.
        package enum Kind: String, Encodable, Hashable, Sendable, CaseIterable {
            case remove, clear, move, kick, ban
        }

        package var kind: Kind
        /// Of the song that was removed or moved; left out of the others.
        package var title: String?
        /// Of the guest that was sent away; left out of the others.
        package var name: String?
        /// Counts what was done in this run, from 1; left out of events.
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
        /// How both are made, where something is put into them.
        @OrNull package var messageText: LocalizedText?
        @OrNull package var suggestionText: LocalizedText?
    }

    package struct Invitation: Encodable, Hashable, Sendable {
        package var name: String
        @OrNull package var pin: String?
        @OrNull package var url: String?
        @OrNull package var qr: String?
        /// Those that the person has made and that are good, the newest first.
        package var open: [Given] = []
        @OrNull package var wifi: Wifi?

        /// One of them: `qr` is its picture.
        package struct Given: Encodable, Hashable, Sendable {
            package var text: String
            @OrNull package var url: String?
            package var until: UInt32
            package var once: Bool
            package var qr: String
        }

        /// The network that the page is on, and the picture that joins it.
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

    /// Somebody who is kept out.
    package struct Outcast: Encodable, Hashable, Sendable {
        package var id: Peer.ID
        package var name: String
        /// In seconds since 1970.
        @OrNull package var until: UInt32?
        /// Whether the end of the session ends it.
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
    /// Whether it is to play; at a guest whether it does.
    package var isPlaying: Bool
    /// Whether something takes the host's sound; nil where that is not known.
    @OrNull package var sound: Bool?
    /// In seconds, at the moment of sending.
    package var elapsed: Double
    package var queue: [Item]
    package var wishes: [OtherWish]
    package var guests: [Guest]
    /// How many guests there are that `guests` does not name: a host tells its guests some names of a crowd.
    package var moreGuests: Int
    package var hosts: [HeardHost]
    /// On a guest that is not connected, the host that it was started for; nil where it was started for none.
    @OrNull package var wanted: String?
    /// On a guest that is not connected, the hosts that it has joined, the last of them first.
    package var knownHosts: [Person]
    package var skip: Skip
    /// What the driver can undo; nil for nothing, and for guests.
    @OrNull package var undo: Undo?
    /// Whether who looks can steer: at the head unit, and on a device of the driver's.
    package var steers: Bool
    /// Whether there is a song before the present one; nil for guests.
    @OrNull package var canGoBack: Bool?
    /// How loud the player plays, in percent; nil where there is none, and for guests.
    @OrNull package var volume: Int?
    /// Whether the library's songs play in a random order where nobody asks; nil for guests.
    @OrNull package var shuffle: Bool?
    package var notices: [ShownNotice]
    @OrNull package var invitation: Invitation?
    /// Who is kept out, for the host alone.
    package var bans: [Outcast]
    @OrNull package var library: LibraryCount?
    @OrNull package var ended: String?
}

/// A view as the command line's contract writes it: the event `view`.
package struct TimedView: Encodable, Sendable {
    private var event = "view"
    private var at: Double
    private var view: NodeView

    package init(_ view: NodeView, at: Double) {
        self.at = at
        self.view = view
    }
}
