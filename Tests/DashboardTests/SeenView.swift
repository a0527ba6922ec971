// SPDX-License-Identifier: Apache-2.0

/// The view of the contract, as a page parses it.
struct SeenView: Decodable, Sendable {
    struct Person: Decodable, Sendable {
        var id: String
        var name: String?
    }
    struct Wish: Decodable, Sendable {
        var kind: String
        var state: String
        var reason: String?
        var sentence: String?
    }
    struct Item: Decodable, Sendable {
        var id: String
        var art: String?
        var addedByName: String?
        var votes: Int
        var voters: [Person]
        var mine: Bool
        var pinned: Bool
        var wish: Wish?
    }
    struct Guest: Decodable, Sendable {
        var id: String
        var name: String
        var rssi: Int?
        var isWeb: Bool
        var isMe: Bool
    }
    struct Notice: Decodable, Sendable {
        var id: Int
        var code: String
        var kind: String
    }
    struct Invitation: Decodable, Sendable {
        struct Given: Decodable, Sendable {
            var text: String
            var url: String?
            var once: Bool
            var qr: String
        }
        struct Wifi: Decodable, Sendable { var name: String }
        var url: String?
        var qr: String?
        var open: [Given]
        var wifi: Wifi?
    }

    var version: Int
    var role: String
    var me: Person
    var connection: String
    var nowPlaying: Item?
    var isPlaying: Bool
    var elapsed: Double
    var queue: [Item]
    var guests: [Guest]
    var notices: [Notice]
    var invitation: Invitation?
    var ended: String?

    func item(_ id: String) -> Item? { queue.first { $0.id == id } }
}
