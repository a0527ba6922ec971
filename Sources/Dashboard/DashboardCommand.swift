// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// A command of the page, as it comes.
struct DashboardCommand: Decodable, Hashable, Sendable {
    var command: String
    var songID: Song.ID?
    var peer: Peer.ID?

    /// What a web guest's command leads to.
    enum Wanted: Hashable, Sendable {
        case wish(GuestFeature.Event)
        case leave
        /// It is right, and there is nothing to do: a web guest is linked as long as it is heard.
        case nothing
    }

    /// What it means to a host's node; nil where it is no command of a host's page.
    var forHost: NodeInput? {
        switch command {
        case "play": .host(.play)
        case "pause": .host(.pause)
        case "skip": .host(.skip)
        case "add": song.map { .host(.add($0)) }
        case "remove": song.map { .host(.remove($0)) }
        case "kick": guest.map { .host(.kick($0)) }
        case "end": .end
        case "retry": .retry
        default: nil
        }
    }

    /// What it means to a guest's node; nil where it is no command of a guest's page.
    var forGuest: NodeInput? {
        switch command {
        case "retry": .retry
        case "leave": .leave
        default: wish.map { .guest($0) }
        }
    }

    /// What it means for a web guest; nil where it is no command of its page.
    var forWebGuest: Wanted? {
        switch command {
        case "retry": .nothing
        case "leave": .leave
        default: wish.map { .wish($0) }
        }
    }

    private var wish: GuestFeature.Event? {
        switch command {
        case "vote": song.map { .vote($0) }
        case "takeBack": song.map { .takeBackVote($0) }
        case "suggest": song.map { .suggest($0) }
        case "skip": .skip
        default: nil
        }
    }

    private var song: Song.ID? { songID.flatMap { (1...DJLimits.songIDBytes).contains($0.utf8.count) ? $0 : nil } }

    private var guest: Peer.ID? { peer.flatMap { (1...Limits.peerIDBytes).contains($0.utf8.count) ? $0 : nil } }
}
