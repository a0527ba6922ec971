// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession

// Covers over the air. Nothing of them is stored, so that they wait for no step; and everything else goes before them.

extension NodeCore {
    /// Takes what is said about covers. False where a message says something else.
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
        for action in coverServer.handle(event, now: context.now) {
            switch action {
            case .make(let songID): emit(.makeCover(songID))
            case .send(let piece, let guest): share(.covered(piece, for: guest))
            }
        }
    }

    private mutating func perform(_ event: CoverClient.Event) {
        guard showsCovers else { return }
        for action in coverClient.handle(event, now: context.now) {
            switch action {
            case .ask(let request):
                guard let host = context.mesh.host else { break }
                send(MeshMessage.coverRequest(request).encoded, to: host.id)
            case .keep(let songID, let bytes): emit(.keepCover(songID, bytes))
            }
        }
    }

    /// A guest asks for covers where it has a page that shows them.
    private var showsCovers: Bool { configuration.description.http != nil && decisions.app.isJoining }

    /// After each event: what is on view may be something else, and there may be nothing better to say any more.
    mutating func lookAtCovers() {
        guard showsCovers, let guest = decisions.app.guest else { return }
        guard let host = context.mesh.host, let link = context.mesh.link(to: host.id) else {
            return perform(.linkLost)
        }
        let isBehindRelay = circuits.place(of: link) != nil
        // What crosses several links costs each of them: there it is the cover of what plays, and no more.
        let songs = guest.state.hostSnapshot?.items(first: isBehindRelay ? 1 : DJLimits.coveredSongs).map(\.id) ?? []
        // Who pays by the megabyte pays for no pictures.
        let isIdle = guest.isSettled && links.bearer(of: link) != .broker
        perform(.shows(songs, of: host.id, isIdle: isIdle))
    }

    /// When covers are due.
    var coversDeadline: MeshInstant? {
        isHost ? coverServer.deadline(now: context.now) : showsCovers ? coverClient.deadline : nil
    }

    mutating func tickCovers() {
        guard let due = coversDeadline, due <= context.now else { return }
        isHost ? perform(CoverServer.Event.tick) : perform(CoverClient.Event.tick)
    }
}

extension HostFeature {
    /// Whether guests get the cover of a song: it is one of those that they see first.
    fileprivate func covers(_ songID: Song.ID) -> Bool {
        let next = state.queue.prefix(DJLimits.coveredSongs - (state.nowPlaying == nil ? 0 : 1))
        return state.nowPlaying?.id == songID || next.contains { $0.item.id == songID }
    }
}

extension GuestFeature {
    /// Whether it has the host's present state, and nothing that it has said is without an answer.
    fileprivate var isSettled: Bool {
        state.isCurrent && !state.isWaitingForWhole && state.wishes.isEmpty && state.search?.isOpen != true
    }
}
