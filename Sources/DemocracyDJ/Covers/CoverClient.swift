// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which covers a guest asks its host for, and when: an event goes in, actions come out.
///
/// One piece is asked for at a time, and only while nothing else is on its way, so that a cover never stands before a vote. What has
/// come of a picture outlasts a tunnel.
public struct CoverClient: Sendable {
    /// What happens.
    public enum Event: Hashable, Sendable {
        /// What is on view, the song that plays first, the host that it is of, and whether there is nothing better to say to it now.
        case shows([Song.ID], of: Peer.ID?, isIdle: Bool)
        /// A piece has come.
        case arrived(CoverPiece)
        /// The link that was asked over is gone.
        case linkLost
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// Ask the host for this piece.
        case ask(CoverRequest)
        /// A song's cover is whole.
        case keep(Song.ID, [UInt8])
    }

    private struct Part {
        let songID: Song.ID
        let version: UInt32
        let total: Int
        var bytes: [UInt8]
        /// How often the host has begun again with another picture.
        var restarts = 0
    }

    private struct Pause {
        var until: MeshInstant
        var length: MeshInstant
    }

    private var host: Peer.ID?
    private var songs: [Song.ID] = []
    private var isIdle = false
    /// Whose covers are there, the newest last.
    private var kept: [Song.ID] = []
    private var part: Part?
    /// What was asked for, and until when it is waited for.
    private var open: (request: CoverRequest, until: MeshInstant)?
    /// Songs that have no cover, or whose cover does not come.
    private var pauses: [Song.ID: Pause] = [:]

    /// One that has seen nothing yet.
    public init() {}

    /// When `tick` is due.
    public var deadline: MeshInstant? {
        if let open { return open.until }
        guard isIdle else { return nil }
        return songs.compactMap { pauses[$0]?.until }.min()
    }

    /// Takes an event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        var whole: [Action] = []
        switch event {
        case .shows(let songs, let host, let isIdle): show(songs, of: host, isIdle)
        case .arrived(let piece): whole = take(piece, now: now)
        case .linkLost: (open, isIdle) = (nil, false)
        case .tick: if let open, open.until <= now { rest(open.request.songID, now: now) }
        }
        return whole + askNext(now: now)
    }

    private mutating func show(_ songs: [Song.ID], of host: Peer.ID?, _ isIdle: Bool) {
        self.isIdle = isIdle
        // Through a tunnel there is no host, and what was on view is still.
        if let host, host != self.host {
            self = CoverClient()
            (self.host, self.isIdle) = (host, isIdle)
        }
        guard songs != self.songs else { return }
        self.songs = songs
        pauses = pauses.filter { songs.contains($0.key) }
        if let part, !songs.contains(part.songID) { self.part = nil }
    }

    private mutating func askNext(now: MeshInstant) -> [Action] {
        guard isIdle, open == nil, host != nil else { return [] }
        let next = songs.first { !kept.contains($0) && (pauses[$0].map { $0.until <= now } ?? true) }
        guard let next else { return [] }
        var request = CoverRequest(songID: next)
        if let part, part.songID == next {
            (request.version, request.from) = (part.version, part.bytes.count)
        } else {
            part = nil
        }
        open = (request, now + DJLimits.coverPause)
        return [.ask(request)]
    }

    private mutating func take(_ piece: CoverPiece, now: MeshInstant) -> [Action] {
        guard let asked = open?.request, asked.songID == piece.songID else { return [] }
        open = nil
        guard piece.total > 0 else {
            rest(piece.songID, atLeast: DJLimits.noCoverPause, now: now)
            return []
        }
        if piece.from == 0 {
            let restarts = part.map { $0.songID == piece.songID ? $0.restarts + 1 : 0 } ?? 0
            guard restarts <= DJLimits.coverRestarts else {
                rest(piece.songID, now: now)
                return []
            }
            part = Part(
                songID: piece.songID, version: piece.version, total: piece.total, bytes: piece.bytes, restarts: restarts
            )
        } else {
            guard let part, part.version == piece.version, part.total == piece.total, part.bytes.count == piece.from
            else {
                rest(piece.songID, now: now)
                return []
            }
            self.part?.bytes += piece.bytes
        }
        guard let part, part.bytes.count == part.total else { return [] }
        self.part = nil
        pauses[part.songID] = nil
        kept.append(part.songID)
        if kept.count > DJLimits.keptCovers { kept.removeFirst() }
        return [.keep(part.songID, part.bytes)]
    }

    /// A song that has no cover may get one; what does not come is not asked for again and again.
    private mutating func rest(_ songID: Song.ID, atLeast shortest: MeshInstant = DJLimits.coverPause, now: MeshInstant)
    {
        open = nil
        if part?.songID == songID, (part?.restarts ?? 0) >= DJLimits.coverRestarts { part = nil }
        let length = min(max(shortest, (pauses[songID]?.length ?? .zero) * 2), DJLimits.longestCoverPause)
        if songs.contains(songID) { pauses[songID] = Pause(until: now + length, length: length) }
    }
}
