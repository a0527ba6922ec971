// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// Covers over the air. They are not stored, so they do not wait for steps. All other messages go first.

/// The covers that a host sends and that a guest gets.
struct CoverExchange: Sendable {
    /// Used only at a host.
    var server = CoverServer()
    /// Used only at a guest.
    var client = CoverClient()
}

extension NodeCore {
    /// Handles messages about covers. Returns false for any other message.
    mutating func takeCovers(_ message: MeshMessage, from peer: Peer.ID) -> Bool {
        switch message {
        case .coverRequest(let request):
            guard let host = decisions.app.host else { return true }
            perform(.asked(request, by: peer, isOnView: host.covers(request.songID)))
        case .coverPiece(let piece): if peer == context.mesh.host?.id { perform(.arrived(piece)) }
        default: return false
        }
        return true
    }

    mutating func perform(_ event: CoverServer.Event) {
        for action in covers.server.handle(event, now: context.now) {
            switch action {
            case .make(let songID): emit(.makeCover(songID))
            case .send(let piece, let guest): share(.covered(piece, for: guest))
            }
        }
    }

    private mutating func perform(_ event: CoverClient.Event) {
        guard showsCovers else { return }
        for action in covers.client.handle(event, now: context.now) {
            switch action {
            case .ask(let request):
                guard let host = context.mesh.host else { break }
                send(MeshMessage.coverRequest(request).encoded, to: host.id)
            case .keep(let songID, let bytes): emit(.keepCover(songID, bytes))
            }
        }
    }

    /// A guest requests covers only if it has a page that shows them.
    private var showsCovers: Bool { configuration.description.http != nil && decisions.app.isJoining }

    /// Runs after each event, because the visible songs may have changed or the link may have become idle.
    mutating func lookAtCovers() {
        guard showsCovers, let guest = decisions.app.guest else { return }
        guard let host = context.mesh.host, let link = context.mesh.link(to: host.id) else {
            return perform(.linkLost)
        }
        let isBehindRelay = links.place(of: link) != nil
        // Every link on the way carries the cover again. Behind a relay a guest only gets the cover of the song that
        // plays.
        let songs = guest.state.hostSnapshot?.items(first: isBehindRelay ? 1 : DJLimits.coveredSongs).map(\.id) ?? []
        // A broker may be a metered connection, so no covers are requested over it.
        let isIdle = guest.isSettled && links.bearer(of: link) != .broker
        perform(.shows(songs, of: host.id, isIdle: isIdle))
    }

    var coversDeadline: MeshInstant? {
        isHost ? covers.server.deadline(now: context.now) : showsCovers ? covers.client.deadline : nil
    }

    mutating func tickCovers() {
        guard let due = coversDeadline, due <= context.now else { return }
        isHost ? perform(CoverServer.Event.tick) : perform(CoverClient.Event.tick)
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
