// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// Everything that the page shows, as `docs/dashboard.md` writes it: one JSON document. What is not there is a null, not a
/// missing field.
struct PageView: Encodable, Hashable, Sendable {
    /// Who looks.
    enum Role: String, Hashable, Sendable, Encodable {
        /// The person at the host's box.
        case host
        /// The person at a guest's box.
        case guest
        /// A passenger with a browser.
        case webGuest
    }

    /// Where the node stands with its host.
    enum Connection: String, Hashable, Sendable, Encodable {
        case hosting, connected, connecting, reconnecting, disconnected, failed
    }

    struct Person: Encodable, Hashable, Sendable {
        var id: Peer.ID
        @OrNull var name: String?
    }

    struct Item: Encodable, Hashable, Sendable {
        var id: Song.ID
        var title: String
        var artist: String
        var duration: Double
        @OrNull var art: String?
        var addedBy: Peer.ID
        @OrNull var addedByName: String?
        var votes: Int
        var voters: [Person]
        var mine: Bool
        @OrNull var wish: WishMark?
    }

    struct WishMark: Encodable, Hashable, Sendable {
        var kind: Wish.Kind
        var state: String
        @OrNull var reason: RejectionReason?
        @OrNull var sentence: String?
    }

    /// A wish about a song that is not in the queue.
    struct OtherWish: Encodable, Hashable, Sendable {
        var songID: Song.ID
        @OrNull var title: String?
        var kind: Wish.Kind
        var state: String
        @OrNull var reason: RejectionReason?
        @OrNull var sentence: String?
    }

    struct Guest: Encodable, Hashable, Sendable {
        var id: Peer.ID
        var name: String
        /// In dBm.
        @OrNull var rssi: Int?
        /// In milliseconds.
        @OrNull var roundTrip: Double?
        var isWeb: Bool
        var isMe: Bool
    }

    /// A song that a search has found.
    struct FoundSong: Encodable, Hashable, Sendable {
        var id: Song.ID
        var title: String
        var artist: String
        var duration: Double
        @OrNull var art: String?
    }

    struct HeardHost: Encodable, Hashable, Sendable {
        var id: Peer.ID
        var name: String
        @OrNull var rssi: Int?
    }

    struct Skip: Encodable, Hashable, Sendable {
        var allowed: Bool
        var votes: Int
        var needed: Int
        var mine: Bool
    }

    struct ShownNotice: Encodable, Hashable, Sendable {
        enum Kind: String, Hashable, Sendable, Encodable {
            case banner, toast
        }

        var id: Int
        var code: String
        var message: String
        @OrNull var suggestion: String?
        @OrNull var button: String?
        var critical: Bool
        @OrNull var dismissAfter: Double?
        var kind: Kind
    }

    struct Invitation: Encodable, Hashable, Sendable {
        var name: String
        @OrNull var pin: String?
        @OrNull var url: String?
        @OrNull var qr: String?
    }

    var version: Int
    var role: Role
    var me: Person
    @OrNull var host: Person?
    var radio: String
    var connection: Connection
    var attempt: Int
    var isStale: Bool
    @OrNull var nowPlaying: Item?
    var isPlaying: Bool
    /// In seconds, at the moment of sending.
    var elapsed: Double
    var queue: [Item]
    var wishes: [OtherWish]
    var guests: [Guest]
    var hosts: [HeardHost]
    var skip: Skip
    var notices: [ShownNotice]
    @OrNull var invitation: Invitation?
    @OrNull var library: LibraryCount?
    @OrNull var ended: String?
}
