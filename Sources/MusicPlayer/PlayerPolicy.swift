// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides which commands mpv gets so that it plays what the host wants, and what the player reports to the host.
///
/// After each event `settle` compares the wanted playback with mpv's state, and returns the commands for the
/// difference. mpv starts the next song without a gap. The player then reports that the song before has ended, and the
/// host usually wants the song that plays already.
struct PlayerPolicy: Sendable {
    /// An input.
    enum Event: Hashable, Sendable {
        /// The host wants this playback.
        case wanted(Playback)
        /// The search for a song's file has ended, with its path and its gain in decibels. A nil path means that the
        /// song has no file.
        case found(Song.ID, path: String?, gain: Double = 0)
        /// A song cannot be played, and the check has shown whether the folder of all songs is away.
        case checked(Song.ID, isAway: Bool)
        /// The folder of all songs is away, or back.
        case library(isAway: Bool)
        /// mpv has answered the request with this number.
        case answered(Int, MPVAnswer)
        /// mpv has reported an event.
        case said(MPVEvent)
        /// mpv has ended in this way, or could not be started for this reason.
        case died(String, couldStart: Bool = true)
        /// Time has passed: see `deadline`.
        case tick
    }

    /// An output that the owner performs.
    enum Action: Hashable, Sendable {
        /// Start mpv.
        case launch
        /// End mpv; `died` follows.
        case kill
        /// End a working mpv, so that a new one replaces it; `died` follows.
        case renew
        /// Look for a song's file; `found` follows.
        case find(Song.ID)
        /// Check whether a song or the folder of all songs is at fault; `checked` follows.
        case check(Song.ID)
        /// Send mpv a request with this number.
        case send(MPVCommand, Int)
        /// Report to the host.
        case report(PlayerReport)
        /// Report that the length of this song is wrong.
        case doubt(Song.ID)
        /// Show people this problem. Nil means that the last problem is over.
        case tell(PlayerProblem?)
    }

    enum Process: Hashable, Sendable {
        case off
        /// mpv was started at this time and has not answered yet.
        case starting(MeshInstant)
        case running
        case ending
        /// mpv ends because a new one replaces it, not because of a fault.
        case renewing
    }

    enum File: Hashable, Sendable {
        case asked(MeshInstant)
        case here(String, gain: Double = 0)
        case nowhere
    }

    /// The purpose of a request.
    enum Request: Hashable, Sendable {
        case load(serial: Int)
        case position(serial: Int)
        case driver(serial: Int)
        case other
    }

    /// A position in a song, and the time at which the song was there.
    struct Place: Hashable, Sendable {
        var elapsed: MeshInstant
        var at: MeshInstant
    }

    /// A file that was given to mpv.
    struct Entry: Hashable, Sendable {
        /// The number of the request that loaded or appended the file.
        let serial: Int
        let song: Song.ID
        /// Whether the file was appended after another file, and has not replaced that file.
        let wasAppended: Bool
        /// The position in the song from which mpv plays it.
        var startsAt = MeshInstant.zero
        /// When the file was given to mpv, or became the current file.
        var loadedAt: MeshInstant
        /// mpv's number for it. Nil until mpv has accepted it.
        var id: Int?
        var isSounding = false
        /// The position in mpv's last answer.
        var place: Place?
        /// When the position in the file last changed, or last had a reason not to change.
        var movedAt: MeshInstant = .zero
        /// When to ask mpv for the position again. Nil if the position is known and does not change.
        var askAt: MeshInstant?
        /// When the position in the file was last reported to the host.
        var reportedAt: MeshInstant?
        /// How it ended, if it ended before the host wanted it.
        var outcome: PlayerReport?
        /// Whether the length of the file was reported as wrong.
        var isDoubted = false
    }

    let limits: PlayerLimits

    // What the host wants.
    var wanted: Playback?
    /// The position that the host assumes, and the time of that position.
    var belief = Place(elapsed: .zero, at: .zero)
    /// How the wanted song ended, and when that was last reported. The host has not wanted another song since.
    var over: (report: PlayerReport, at: MeshInstant)?
    /// An end of the wanted song that is not reported yet, and when its check began: the folder may be away instead.
    var suspect: (report: PlayerReport, at: MeshInstant)?
    /// When the folder of all songs went away, or was last checked.
    var awaySince: MeshInstant?
    var files: [Song.ID: File] = [:]

    // What mpv does.
    var process = Process.off
    var requests: [Int: (what: Request, at: MeshInstant)] = [:]
    var lastNumber = 0
    var isPaused = false
    /// The volume that mpv was given, in percent. Nil if it was given none.
    var volume: Int?
    /// The decibels by which a duck lowers that volume.
    var ducked = 0
    /// The running change of mpv's volume.
    var fade: Fade?
    /// mpv has nothing to play.
    var isIdle = true
    /// mpv's number of the file that it opened last.
    var opened: Int?
    var current: Entry?
    /// The file that mpv plays after `current`.
    var following: Entry?
    /// The position at which the wanted song continues when it is loaded again.
    var resumeAt: MeshInstant?
    /// The audio devices, by mpv's names. Empty if mpv has not reported them.
    var outputs: [String] = []
    /// mpv's audio driver. Nil until mpv has named it.
    var driver: String?

    // What went wrong.
    var deaths = 0
    var deathsOfSong = 0
    var restartAt: MeshInstant = .zero
    var failures = 0
    var silences = 0
    var loadAt: MeshInstant = .zero
    var problem: PlayerProblem?

    /// Creates a policy that plays nothing.
    init(limits: PlayerLimits = .standard) {
        self.limits = limits
    }

    /// Handles an event.
    mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .wanted(let playback): return want(playback, now: now) + settle(now)
        case .found(let song, let path, let gain):
            // A relative path would depend on the working folder, and a NUL would cut the path.
            let isPath = path.map { $0.hasPrefix("/") && !$0.utf8.contains(0) } ?? false
            if files[song] != nil { files[song] = isPath ? path.map { .here($0, gain: gain) } : .nowhere }
            return settle(now)
        case .checked(let song, let isAway): return checked(song, isAway: isAway, now: now) + settle(now)
        case .library(let isAway): return (isAway ? wait(now) : goOn(now)) + settle(now)
        case .answered(let number, let answer): return answered(number, answer, now: now) + settle(now)
        case .said(let event): return said(event, now: now) + settle(now)
        case .died(let how, let couldStart): return died(how, couldStart: couldStart, now: now) + settle(now)
        case .tick: return checkTimes(now) + settle(now)
        }
    }

    // MARK: What the host wants

    private mutating func want(_ playback: Playback, now: MeshInstant) -> [Action] {
        let isNew = isNew(playback, now: now)
        // The host has moved to another position in the same song, so the file is loaded again.
        let isSought = !isNew && !isOver && wanted.map { $0.seeks != playback.seeks } == true
        if isNew || isSought, !isOver, current?.song == playback.song?.id { current = nil }
        if isSought { resumeAt = playback.elapsed }
        if isNew {
            (over, suspect) = (nil, nil)
            resumeAt = nil
            deathsOfSong = 0
            if let id = playback.song?.id, files[id] == .nowhere { files[id] = nil }
        }
        wanted = playback
        belief = Place(elapsed: playback.elapsed, at: now)
        let known = [playback.song?.id, playback.next?.id].compactMap(\.self)
        files = files.filter { known.contains($0.key) }
        current?.askAt = now
        return []
    }

    /// Whether the host wants another song, or the same song again from its start.
    private func isNew(_ playback: Playback, now: MeshInstant) -> Bool {
        guard let song = playback.song, song.id == wanted?.song?.id, playback.turn == wanted?.turn else { return true }
        return playback.elapsed < limits.beginning && believed(now) - playback.elapsed > limits.beginning
    }

    /// The position that the host assumes at this time.
    func believed(_ now: MeshInstant) -> MeshInstant {
        belief.elapsed + (wanted?.isPlaying == true ? now - belief.at : .zero)
    }

    /// Whether mpv's current file is the wanted song, and that song is not over.
    var isCurrentWanted: Bool { !isOver && current != nil && current?.song == wanted?.song?.id }

    /// Whether the wanted song is over, or seems to be.
    var isOver: Bool { over != nil || suspect != nil }

    // MARK: Commands for mpv

    private mutating func settle(_ now: MeshInstant) -> [Action] {
        guard let wanted else { return [] }
        guard let song = wanted.song else { return silence(now) }
        var actions = lookUp([song, wanted.next].compactMap(\.self), now: now)
        guard !isOver else { return actions }
        guard awaySince == nil else { return actions + stop(now) }
        if isCurrentWanted, let outcome = current?.outcome {
            keepPlace(now)
            return actions + stop(now) + finish(outcome, now: now)
        }
        if !isCurrentWanted, files[song.id] == .nowhere, now >= loadAt {
            return actions + finish(.failed(song.id), now: now)
        }
        switch process {
        case .off:
            if now >= restartAt { actions += launch(now) }
            return actions
        case .starting, .ending, .renewing: return actions
        case .running: break
        }
        // The volume must be right before the song begins.
        actions += setVolume(wanted, now: now)
        if !isCurrentWanted { actions += load(song, now: now) }
        // The song before must not play while the wanted song's file is being found.
        guard isCurrentWanted else { return actions + stop(now) }
        return actions + pause(!wanted.isPlaying, now: now) + prepare(wanted.next, now: now) + ask(now)
    }

    private mutating func silence(_ now: MeshInstant) -> [Action] {
        files = [:]
        return stop(now)
    }

    mutating func stop(_ now: MeshInstant) -> [Action] {
        (current, following) = (nil, nil)
        guard !isIdle, process == .running else { return [] }
        isIdle = true
        return [send(.stop, now: now)]
    }

    private mutating func lookUp(_ songs: [Song], now: MeshInstant) -> [Action] {
        var actions: [Action] = []
        for song in songs where files[song.id] == nil {
            files[song.id] = .asked(now)
            actions.append(.find(song.id))
        }
        return actions
    }

    private mutating func load(_ song: Song, now: MeshInstant) -> [Action] {
        guard case .here(let path, let gain)? = files[song.id], now >= loadAt else { return [] }
        // A song that has just begun starts at zero, so that its first sound is not skipped.
        let elapsed = belief.elapsed < limits.beginning ? .zero : belief.elapsed
        (following, isIdle) = (nil, false)
        // Pause before loading, so that a paused song makes no sound.
        let pausing = pause(wanted?.isPlaying != true, now: now)
        let start = resumeAt ?? elapsed
        let (action, number) = numbered(
            .load(path: path, from: start, gain: gain), { .load(serial: $0) }, now: now)
        current = Entry(serial: number, song: song.id, wasAppended: false, startsAt: start, loadedAt: now)
        return pausing + [action]
    }

    private mutating func pause(_ pauses: Bool, now: MeshInstant) -> [Action] {
        guard pauses != isPaused else { return [] }
        if let place = current?.place {
            let since = isPaused ? .zero : min(now - place.at, limits.askEvery)
            current?.place = Place(elapsed: place.elapsed + since, at: now)
        }
        current?.movedAt = now
        current?.askAt = now
        isPaused = pauses
        return [send(.pause(pauses), now: now)]
    }

    /// Appends the next song, which mpv plays after the current one, and drops an appended song that is not next.
    private mutating func prepare(_ next: Song?, now: MeshInstant) -> [Action] {
        var (path, gain): (String?, Double) = (nil, 0)
        if let next, case .here(let found, let its)? = files[next.id] { (path, gain) = (found, its) }
        guard following?.song != (path == nil ? nil : next?.id) else { return [] }
        var actions: [Action] = []
        if following != nil { actions.append(send(.dropAppended, now: now)) }
        following = nil
        if let path, let next {
            let (action, number) = numbered(.append(path: path, gain: gain), { .load(serial: $0) }, now: now)
            following = Entry(serial: number, song: next.id, wasAppended: true, loadedAt: now)
            isIdle = false
            actions.append(action)
        }
        return actions
    }

    // MARK: Requests

    mutating func send(_ command: MPVCommand, now: MeshInstant) -> Action {
        numbered(command, { _ in .other }, now: now).action
    }

    mutating func numbered(
        _ command: MPVCommand, _ what: (Int) -> Request, now: MeshInstant
    ) -> (action: Action, number: Int) {
        lastNumber += 1
        requests[lastNumber] = (what(lastNumber), now)
        return (.send(command, lastNumber), lastNumber)
    }
}
