// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides when to look for a session bus, which name this player uses on it, and what it shows there.
struct MediaKeysPolicy: Sendable {
    /// An event of the media keys.
    enum Event: Hashable, Sendable {
        /// The policy starts, or time has passed (see `deadline`).
        case tick
        /// The bus is missing or does not answer, for this reason.
        case unreachable(String)
        /// The bus has sent an event.
        case said(MediaBusEvent)
        /// This playback must be shown, with the known details of its song.
        case show(Playback, SongDetails? = nil)
    }

    /// An action for the media keys.
    enum Action: Hashable, Sendable {
        /// Connect to the session bus.
        case open
        /// Close the connection to the session bus.
        case close
        /// Request this name.
        case requestName(String)
        /// Show this state. `hasJumped` means that the position has changed by a jump.
        case show(MediaState, isNewStatus: Bool, isNewTrack: Bool, hasJumped: Bool)
        /// Pass a person's command to the host.
        case command(MediaCommand)
        /// Log why media keys do not work. It is logged once, until they work again.
        case note(String)
    }

    private enum Connection: Hashable, Sendable {
        case none(retryAt: MeshInstant)
        case open
    }

    /// The common name of players of this program.
    static let name = "org.mpris.MediaPlayer2.roadmesh"

    /// The shown state.
    private(set) var state = MediaState()
    private let instance: String
    private let limits: MediaKeysLimits
    private var connection = Connection.none(retryAt: .zero)
    private var turn = 0
    private var hasOwnName = false
    private var hasNoted = false
    /// The position that was requested last, until the host shows a state. Further seeks start from it.
    private var sought: MeshInstant?

    /// Creates a policy without a connection. `instance` is the process identifier, which distinguishes this process
    /// from other RoadMesh processes.
    init(instance: Int32, limits: MediaKeysLimits = .standard) {
        self.instance = "\(Self.name).instance\(instance)"
        self.limits = limits
    }

    /// When `tick` is due.
    var deadline: MeshInstant? { if case .none(let at) = connection { at } else { nil } }

    /// Decides the actions for an event.
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
            // Both names of this process are taken, and it has only two.
            guard !hasOwnName else { return [.close] + lose("the names are taken", now: now) }
            hasOwnName = true
            return [.requestName(instance)]
        case .said(.command(let command)): return [.command(command)]
        case .said(.seekBy(let offset)): return seek(by: offset, now: now)
        case .said(.seekTo(let place)): return seek(to: place)
        case .show(let playback, let details): return show(playback, details, now: now)
        }
    }

    /// MPRIS 2.2, "Seek": before the start of the song means the start, and beyond its end means the next song.
    private mutating func seek(by offset: MeshInstant, now: MeshInstant) -> [Action] {
        guard let track = state.track else { return [] }
        let place = max(.zero, (sought ?? state.place(now)) + offset)
        if track.length > .zero, place > track.length { return [.command(.next)] }
        sought = place
        return [.command(.seek(place))]
    }

    /// MPRIS 2.2, "SetPosition": a position outside the song has no effect.
    private mutating func seek(to place: MeshInstant) -> [Action] {
        guard let track = state.track, place >= .zero, track.length == .zero || place <= track.length else { return [] }
        sought = place
        return [.command(.seek(place))]
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
        sought = nil
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
