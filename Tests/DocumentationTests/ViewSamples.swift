// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

@testable import Dashboard
@testable import NodeCore

/// Views with all of their fields, and with as few as possible.
enum ViewSamples {
    private static let ana = NodeView.Person(id: "a1", name: "Ana")
    private static let text = Notice(.connectionLost(host: Peer(id: "b2", name: "Car"))).texts?.message

    private static let wishes: [NodeView.WishMark] = Wish.Kind.allCases.flatMap { kind in
        NodeSamples.wishStates.map { state in
            var reason: RejectionReason?
            if case .rejected(let why) = state { reason = why }
            return NodeView.WishMark(
                kind: kind, state: state.name, reason: reason, sentence: reason == nil ? nil : "No.",
                sentenceText: reason == nil ? nil : text)
        }
    }

    private static let items: [NodeView.Item] = {
        var item = NodeView.Item(
            id: "s1", title: "T", artist: "A", duration: 2, addedBy: "a1", votes: 1,
            voters: [ana, NodeView.Person(id: "b2", name: nil)], mine: true, pinned: true)
        let bare = item
        (item.art, item.addedByName) = ("/art/s1", "Ana")
        return wishes.map { wish in
            item.wish = wish
            return item
        } + [bare]
    }()

    private static let others: [NodeView.OtherWish] = wishes.map { wish in
        NodeView.OtherWish(
            songID: "s1", title: wish.reason == nil ? nil : "T", kind: wish.kind, state: wish.state,
            reason: wish.reason, sentence: wish.sentence, sentenceText: wish.sentenceText)
    }

    private static let guests: [NodeView.Guest] = {
        var guest = NodeView.Guest(id: "a1", name: "Ana", isWeb: false, isMe: true, isDriver: false)
        let bare = guest
        (guest.rssi, guest.roundTrip, guest.hops, guest.via, guest.carries) = (-40, 12, 0, ana, 2)
        return BearerKind.allCases.map { bearer in
            guest.bearer = bearer
            return guest
        } + [bare]
    }()

    private static let notices: [NodeView.ShownNotice] = NodeView.ShownNotice.Kind.allCases.map { kind in
        let isBanner = kind == .banner
        var notice = NodeView.ShownNotice(id: 1, code: "hostFull", message: "No.", critical: isBanner, kind: kind)
        guard isBanner else {
            notice.dismissAfter = 5
            return notice
        }
        (notice.suggestion, notice.button) = ("Wait.", "Retry")
        (notice.messageText, notice.suggestionText) = (text, text)
        return notice
    }

    private static let invitation: NodeView.Invitation = {
        var invitation = NodeView.Invitation(name: "Car", pin: "314159", url: "http://a/", qr: "/invitation.svg")
        invitation.open = ["http://a/", nil].map { .init(text: "t", url: $0, until: 5, once: true, qr: "/b.svg") }
        invitation.wifi = .init(name: "Car", qr: "/wifi.svg")
        return invitation
    }()

    private static let hosts: [NodeView.HeardHost] = [-40, nil].map { rssi in
        NodeView.HeardHost(
            id: "a1", name: "Car", rssi: rssi,
            relays: [NodeView.HeardRelay(id: "b2", hops: 1, room: true, rssi: rssi)])
    }

    private static let library: LibraryCount = {
        var library = LibraryCount(songs: 1, scanned: 2, toScan: 3)
        (library.playlists, library.playlist) = (["A.m3u"], "A.m3u")
        return library
    }()

    private static let full = NodeView(
        version: 1, role: .host, me: ana, host: ana, radio: "virtual", connection: .hosting, attempt: 0, isStale: false,
        nowPlaying: items[0], isPlaying: true, sound: true, elapsed: 1, queue: items, wishes: others, guests: guests,
        moreGuests: 0, hosts: hosts, wanted: "Car", knownHosts: [ana],
        skip: .init(allowed: true, votes: 1, needed: 2, mine: false),
        undo: .init(.clear), steers: true, canGoBack: true,
        volume: 40, shuffle: true, notices: notices, invitation: invitation,
        bans: [.init(id: "a1", name: "Eve", until: 5, session: false), .init(id: "a1", name: "", session: true)],
        library: library, ended: "It has ended.")

    static let all: [NodeView] = {
        var bare = full
        (bare.host, bare.nowPlaying, bare.sound, bare.undo) = (nil, nil, nil, nil)
        (bare.wanted, bare.shuffle) = (nil, nil)
        (bare.canGoBack, bare.volume, bare.ended, bare.library) = (nil, nil, nil, LibraryCount(songs: 1))
        bare.invitation = .init(name: "Car", pin: nil, url: nil, qr: nil)
        var barest = bare
        (barest.library, barest.invitation) = (nil, nil)
        var views = [full, bare, barest]
        func add(_ change: (inout NodeView) -> Void) {
            var view = full
            change(&view)
            views.append(view)
        }
        for undo in NodeSamples.undos { add { $0.undo = .init(undo, step: 1) } }
        for role in NodeView.Role.allCases { add { $0.role = role } }
        for connection in NodeView.Connection.allCases { add { $0.connection = connection } }
        return views
    }()

    /// The event of a program that has requested its view.
    static func events() throws -> [JSON] { [try JSON(TimedView(full, at: 1.5))] }

    /// The answers to a search.
    static let found: [Dashboard.FoundView] = [
        Dashboard.FoundView(),
        Dashboard.FoundView(
            songs: ["/art/s1", nil].map { .init(id: "s1", title: "T", artist: "A", duration: 2, art: $0) },
            groups: ["/art/s1", nil].map { .init(id: "s1", name: "A", artist: "", songs: 1, art: $0) },
            artists: [.init(id: "s1", name: "A", artist: "", songs: 1, art: nil)],
            albums: [.init(id: "s1", name: "A", artist: "A", songs: 1, art: nil)], total: 2,
            lookedFor: "tea"),
    ]
}
