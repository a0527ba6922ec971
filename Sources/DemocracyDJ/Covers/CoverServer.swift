// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which pieces of covers a host sends to its guests, and when: an event goes in, actions come out.
///
/// It does not track what a guest has, since each piece is requested. Covers are the least urgent messages of a host,
/// so all guests share a low rate, in turn.
public struct CoverServer: Sendable {
    /// An input.
    public enum Event: Hashable, Sendable {
        /// A guest asks for a piece. The host serves covers of shown songs only; requests for other songs cost no work.
        case asked(CoverRequest, by: Peer.ID, isOnView: Bool)
        /// A song's cover is ready; nil if the song has no cover.
        case made(Song.ID, SmallCover?)
        /// A song may have a new cover.
        case changed(Song.ID)
        /// The state has changed, so all guests get an update.
        case stateChanged
        /// The link to a guest has ended.
        case guestGone(Peer.ID)
        /// Time has passed: see `deadline`.
        case tick
    }

    /// An output that the owner performs.
    public enum Action: Hashable, Sendable {
        /// Scale a song's cover down, then report `made`. The owner gets one such action at a time.
        case make(Song.ID)
        /// Send a piece to a guest when nothing else is waiting for it.
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

    /// Most recently used last.
    private var ready: [Ready] = []
    private var making: Song.ID?
    /// The cover changed while it was being made.
    private var isOutdated = false
    /// The waiting requests: at most one per guest, oldest first.
    private var waiting: [Asked] = []
    private var pace: RateLimit
    /// No pieces are sent until this time, because the state has changed.
    private var restUntil: MeshInstant = .zero

    /// Creates a server that has sent nothing.
    public init(now: MeshInstant = .zero) {
        pace = RateLimit(perSecond: DJLimits.coverPiecesPerSecond, burst: DJLimits.coverPieceBurst, now: now)
    }

    /// When `tick` is due.
    public func deadline(now: MeshInstant) -> MeshInstant? {
        waiting.contains { place(of: $0.request.songID) != nil } ? max(pace.opens(now: now), restUntil) : nil
    }

    /// Handles an event.
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
