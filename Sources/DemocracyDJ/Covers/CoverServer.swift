// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which pieces of covers a host sends its guests, and when: an event goes in, actions come out.
///
/// It keeps nothing of what a guest has: each piece is asked for. Covers are the least that a host has to send, so that all
/// guests together get few of them a second, in turn.
public struct CoverServer: Sendable {
    /// What happens.
    public enum Event: Hashable, Sendable {
        /// A guest asks for a piece. Only songs that are on view have covers here: who asks for others makes no work.
        case asked(CoverRequest, by: Peer.ID, isOnView: Bool)
        /// A song's cover is ready, or it has none.
        case made(Song.ID, SmallCover?)
        /// A song may have another cover than it had, or one at last.
        case changed(Song.ID)
        /// The state has changed, which everybody is told.
        case stateChanged
        /// A guest's link is gone.
        case guestGone(Peer.ID)
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// Make a song's cover small: `made`. One at a time is asked for.
        case make(Song.ID)
        /// Send a guest a piece when nothing else is to be sent to it.
        case send(CoverPiece, to: Peer.ID)
    }

    private struct Ready {
        let songID: Song.ID
        let cover: SmallCover?
    }

    private struct Asked {
        let guest: Peer.ID
        let request: CoverRequest
    }

    /// The last used last.
    private var ready: [Ready] = []
    private var making: Song.ID?
    /// What was asked for while it was being made is not what it is now.
    private var isOutdated = false
    /// One for each guest at most, the oldest first.
    private var waiting: [Asked] = []
    private var pace: RateLimit
    /// When the last change is over.
    private var restUntil: MeshInstant = .zero

    /// One that has sent nothing yet.
    public init(now: MeshInstant = .zero) {
        pace = RateLimit(perSecond: DJLimits.coverPiecesPerSecond, burst: DJLimits.coverPieceBurst, now: now)
    }

    /// When `tick` is due.
    public func deadline(now: MeshInstant) -> MeshInstant? {
        waiting.contains { place(of: $0.request.songID) != nil } ? max(pace.opens(now: now), restUntil) : nil
    }

    /// Takes an event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .asked(let request, let guest, let isOnView):
            waiting.removeAll { $0.guest == guest }
            if isOnView { waiting.append(Asked(guest: guest, request: request)) }
            guard isOnView else { return [.send(.none(request.songID), to: guest)] }
        case .made(let songID, let cover):
            guard making == songID else { return [] }
            making = nil
            if !isOutdated { keep(Ready(songID: songID, cover: cover)) }
            isOutdated = false
        case .changed(let songID):
            ready.removeAll { $0.songID == songID }
            if making == songID { isOutdated = true }
        case .stateChanged: restUntil = now + DJLimits.coverRest
        case .guestGone(let guest): waiting.removeAll { $0.guest == guest }
        case .tick: break
        }
        return makeNext() + sendNext(now: now)
    }

    private func place(of songID: Song.ID) -> Int? { ready.firstIndex { $0.songID == songID } }

    private mutating func keep(_ one: Ready) {
        ready.append(one)
        if ready.count > DJLimits.readyCovers { ready.removeFirst() }
    }

    private mutating func makeNext() -> [Action] {
        guard making == nil, let next = waiting.first(where: { place(of: $0.request.songID) == nil }) else { return [] }
        making = next.request.songID
        return [.make(next.request.songID)]
    }

    private mutating func sendNext(now: MeshInstant) -> [Action] {
        var actions: [Action] = []
        guard now >= restUntil else { return [] }
        while let index = waiting.firstIndex(where: { place(of: $0.request.songID) != nil }), pace.allows(now: now) {
            let asked = waiting.remove(at: index)
            guard let place = place(of: asked.request.songID) else { break }
            let used = ready.remove(at: place)
            ready.append(used)
            let piece = used.cover.map { CoverPiece(of: $0, for: asked.request) } ?? .none(used.songID)
            actions.append(.send(piece, to: asked.guest))
        }
        return actions
    }
}
