// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which covers a guest requests from its host, and when: an event goes in, actions come out.
///
/// It requests one piece at a time, and only while nothing else is under way, so a cover never delays a vote. The part
/// of a picture that has arrived is kept through a tunnel.
public struct CoverClient: Sendable {
    /// An input.
    public enum Event: Hashable, Sendable {
        /// The shown songs with the present one first, their host, and whether the guest has nothing else to send to it
        /// now.
        case shows([Song.ID], of: Peer.ID?, isIdle: Bool)
        /// A piece has arrived.
        case arrived(CoverPiece)
        /// The link of the request has ended.
        case linkLost
        /// Time has passed: see `deadline`.
        case tick
    }

    /// An output that the owner performs.
    public enum Action: Hashable, Sendable {
        /// Ask the host for this piece.
        case ask(CoverRequest)
        /// A song's cover is complete.
        case keep(Song.ID, [UInt8])
    }

    private struct Part {
        let songID: Song.ID
        let version: UInt32
        let total: Int
        var bytes: [UInt8]
        /// How often the host has started again with another picture.
        var restarts = 0
    }

    private struct Pause {
        var until: MeshInstant
        var length: MeshInstant
    }

    private var host: Peer.ID?
    private var songs: [Song.ID] = []
    private var isIdle = false
    /// Songs with a stored cover, newest last.
    private var kept: [Song.ID] = []
    private var part: Part?
    /// The open request, and the time until which the client waits for its answer.
    private var open: (request: CoverRequest, until: MeshInstant)?
    /// Songs without a cover, or with a cover that does not arrive.
    private var pauses: [Song.ID: Pause] = [:]

    /// Creates a client that has no covers.
    public init() {}

    /// When `tick` is due.
    public var deadline: MeshInstant? {
        if let open { return open.until }
        guard isIdle else { return nil }
        return songs.compactMap { pauses[$0]?.until }.min()
    }

    /// Handles an event.
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
        // The host is nil in a tunnel, while the same songs are shown.
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

    /// Pauses the requests for a song. A song without a cover may get one later, and a cover that does not arrive is
    /// not requested again and again.
    private mutating func rest(_ songID: Song.ID, atLeast shortest: MeshInstant = DJLimits.coverPause, now: MeshInstant)
    {
        open = nil
        if part?.songID == songID, (part?.restarts ?? 0) >= DJLimits.coverRestarts { part = nil }
        let length = min(max(shortest, (pauses[songID]?.length ?? .zero) * 2), DJLimits.longestCoverPause)
        if songs.contains(songID) { pauses[songID] = Pause(until: now + length, length: length) }
    }
}
