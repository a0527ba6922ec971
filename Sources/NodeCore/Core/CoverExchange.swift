// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// The covers that a host sends over the air, and those that a guest gets. They are not stored, so they do not wait for
/// steps. All other messages go first.
struct CoverExchange: Sendable {
    /// An output.
    enum Action: Sendable {
        /// Make a song's cover small.
        case make(Song.ID)
        /// Send a guest a piece of a cover.
        case send(CoverPiece, to: Peer.ID)
        /// Ask the host for a piece.
        case ask(CoverRequest)
        /// Keep a cover that has arrived.
        case keep(Song.ID, [UInt8])
    }

    /// The guest's link to its host.
    struct HostLink: Sendable {
        var host: Peer.ID
        /// Every link on the way carries the cover again. Behind a relay a guest only gets the cover of the song that
        /// plays.
        var isBehindRelay: Bool
        /// A broker may be a metered connection, so no covers are requested over it.
        var isMetered: Bool
    }

    /// Used only at a host.
    private var server = CoverServer()
    /// Used only at a guest.
    private var client = CoverClient()

    // MARK: The host

    /// A guest asks for a piece.
    mutating func asked(_ request: CoverRequest, by guest: Peer.ID, _ host: HostFeature, now: MeshInstant) -> [Action] {
        handle(.asked(request, by: guest, isOnView: host.covers(request.songID)), now: now)
    }

    mutating func handle(_ event: CoverServer.Event, now: MeshInstant) -> [Action] {
        server.handle(event, now: now).map { action in
            switch action {
            case .make(let songID): .make(songID)
            case .send(let piece, let guest): .send(piece, to: guest)
            }
        }
    }

    // MARK: The guest

    /// The guest's songs or its link to the host may have changed. `link` is nil without one.
    mutating func look(_ guest: GuestFeature, _ link: HostLink?, now: MeshInstant) -> [Action] {
        guard let link else { return handle(.linkLost, now: now) }
        let count = link.isBehindRelay ? 1 : DJLimits.coveredSongs
        let songs = guest.state.hostSnapshot?.items(first: count).map(\.id) ?? []
        return handle(.shows(songs, of: link.host, isIdle: guest.isSettled && !link.isMetered), now: now)
    }

    /// A piece has arrived from the host.
    mutating func arrived(_ piece: CoverPiece, now: MeshInstant) -> [Action] { handle(.arrived(piece), now: now) }

    private mutating func handle(_ event: CoverClient.Event, now: MeshInstant) -> [Action] {
        client.handle(event, now: now).map { action in
            switch action {
            case .ask(let request): .ask(request)
            case .keep(let songID, let bytes): .keep(songID, bytes)
            }
        }
    }

    // MARK: Time

    func deadline(now: MeshInstant) -> MeshInstant? { earliest(server.deadline(now: now), client.deadline) }

    mutating func tick(now: MeshInstant) -> [Action] {
        guard let due = deadline(now: now), due <= now else { return [] }
        return handle(CoverServer.Event.tick, now: now) + handle(CoverClient.Event.tick, now: now)
    }
}

extension HostFeature {
    /// Whether guests get the cover of a song. Only the first visible songs have covers.
    fileprivate func covers(_ songID: Song.ID) -> Bool {
        let next = state.queue.prefix(DJLimits.coveredSongs - (state.nowPlaying == nil ? 0 : 1))
        return state.nowPlaying?.id == songID || next.contains { $0.item.id == songID }
    }
}

extension GuestFeature {
    /// Whether the guest has the host's present state and no open requests.
    fileprivate var isSettled: Bool {
        state.isCurrent && !state.isWaitingForWhole && state.wishes.isEmpty && state.search?.isOpen != true
    }
}
