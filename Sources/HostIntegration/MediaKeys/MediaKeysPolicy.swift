// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// Decides when a session bus is looked for, under which name this player is on it, and what is told there.
struct MediaKeysPolicy: Sendable {
    /// What happens.
    enum Event: Hashable, Sendable {
        /// It begins, or time has passed: see `deadline`.
        case tick
        /// There is no bus, or it does not answer, and why.
        case unreachable(String)
        /// The bus says something.
        case said(MediaBusEvent)
        /// This is to be heard, and so much is known of its song.
        case show(Playback, SongDetails? = nil)
    }

    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// Connect to the session bus.
        case open
        /// Let go of it.
        case close
        /// Ask it for a name.
        case requestName(String)
        /// Show this. `hasJumped` says that the song goes on at another place.
        case show(MediaState, isNewStatus: Bool, isNewTrack: Bool, hasJumped: Bool)
        /// Tell the host what a person wants.
        case command(MediaCommand)
        /// Write why there are no media keys to the log: once until there were some.
        case note(String)
    }

    private enum Connection: Hashable, Sendable {
        case none(retryAt: MeshInstant)
        case open
    }

    /// The name that players of this kind have.
    static let name = "org.mpris.MediaPlayer2.roadmesh"

    /// What is to be seen.
    private(set) var state = MediaState()
    private let instance: String
    private let limits: MediaKeysLimits
    private var connection = Connection.none(retryAt: .zero)
    private var turn = 0
    private var hasOwnName = false
    private var hasNoted = false

    /// One that is not connected. `instance` tells this program from others of its kind: its process identifier.
    init(instance: Int32, limits: MediaKeysLimits = .standard) {
        self.instance = "\(Self.name).instance\(instance)"
        self.limits = limits
    }

    /// When `tick` is due.
    var deadline: MeshInstant? { if case .none(let at) = connection { at } else { nil } }

    /// Takes an event.
    mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .tick:
            guard let deadline, now >= deadline else { return [] }
            (connection, hasOwnName) = (.open, false)
            return [
                .open, .requestName(Self.name), .show(state, isNewStatus: true, isNewTrack: true, hasJumped: false),
            ]
        case .unreachable(let why): return lose(why, now: now)
        case .said(.closed(let why)): return [.close] + lose(why, now: now)
        case .said(.nameRefused): return [.close] + lose("the bus gives no name", now: now)
        case .said(.named):
            (turn, hasNoted) = (0, false)
            return []
        case .said(.nameTaken):
            // Two of one process: there is no third name.
            guard !hasOwnName else { return [.close] + lose("the names are taken", now: now) }
            hasOwnName = true
            return [.requestName(instance)]
        case .said(.command(let command)): return [.command(command)]
        case .show(let playback, let details): return show(playback, details, now: now)
        }
    }

    private mutating func lose(_ why: String, now: MeshInstant) -> [Action] {
        turn += 1
        connection = .none(
            retryAt: now + .backoff(first: limits.firstPause, longest: limits.longestPause, turn: turn))
        guard !hasNoted else { return [] }
        hasNoted = true
        return [.note(why)]
    }

    private mutating func show(_ playback: Playback, _ details: SongDetails?, now: MeshInstant) -> [Action] {
        let before = state
        state = MediaState(playback, details, now: now, limits: limits)
        guard connection == .open else { return [] }
        let isNewTrack = state.track != before.track
        let shift = state.place(now) - before.place(now)
        let hasJumped = !isNewTrack && max(shift, .zero - shift) > limits.jump
        return [
            .show(state, isNewStatus: !state.isSameStatus(as: before), isNewTrack: isNewTrack, hasJumped: hasJumped)
        ]
    }
}
