// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides what mpv does, so that what the host wants is what is heard, and what the host is told of it.
///
/// After each event `settle` compares what is wanted with what mpv does, and asks for the difference. mpv goes on to
/// the next song by itself, without a gap; the host hears that the one before has ended, and most often wants what plays
/// already.
struct PlayerPolicy: Sendable {
    /// What happens.
    enum Event: Hashable, Sendable {
        /// This is to be heard.
        case wanted(Playback)
        /// A song's file is here, to be played so many decibels louder, or with nil nowhere.
        case found(Song.ID, path: String?, gain: Double = 0)
        /// Whether a song cannot be played because the folder of all songs is away.
        case checked(Song.ID, isAway: Bool)
        /// The folder of all songs is away, or back.
        case library(isAway: Bool)
        /// mpv answers a request.
        case answered(Int, MPVAnswer)
        /// mpv says something.
        case said(MPVEvent)
        /// mpv has ended, and how; or it could not be started.
        case died(String, couldStart: Bool = true)
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// Start mpv.
        case launch
        /// End mpv; `died` follows.
        case kill
        /// End mpv, which works, for a new one; `died` follows.
        case renew
        /// Look for a song's file; `found` follows.
        case find(Song.ID)
        /// Find out whether a song or the folder of all songs is at fault; `checked` follows.
        case check(Song.ID)
        /// Ask mpv for this, under this number.
        case send(MPVCommand, Int)
        /// Tell the host.
        case report(PlayerReport)
        /// The length of this song is wrong.
        case doubt(Song.ID)
        /// Tell a person, or with nil that it is over.
        case tell(PlayerProblem?)
    }

    enum Process: Hashable, Sendable {
        case off
        /// Since then; it has not answered yet.
        case starting(MeshInstant)
        case running
        case ending
        /// It ends, and is not at fault.
        case renewing
    }

    enum File: Hashable, Sendable {
        case asked(MeshInstant)
        case here(String, gain: Double = 0)
        case nowhere
    }

    /// What a request was for.
    enum Request: Hashable, Sendable {
        case load(serial: Int)
        case position(serial: Int)
        case driver(serial: Int)
        case other
    }

    /// A place in a song, and when it was there.
    struct Place: Hashable, Sendable {
        var elapsed: MeshInstant
        var at: MeshInstant
    }

    /// A file that mpv was given.
    struct Entry: Hashable, Sendable {
        /// The number of the request that gave it.
        let serial: Int
        let song: Song.ID
        /// It comes after another one, and does not replace it.
        let wasAppended: Bool
        /// When it was given, or came to be played.
        var loadedAt: MeshInstant
        /// mpv's number for it, once it has taken it on.
        var id: Int?
        var isSounding = false
        /// Where it was when mpv was last asked.
        var place: Place?
        /// When its place last moved, or had reason not to.
        var movedAt: MeshInstant = .zero
        /// When mpv is asked where it is; nil where that is known and does not change.
        var askAt: MeshInstant?
        /// When the host was last told where it is.
        var reportedAt: MeshInstant?
        /// How it ended, where the host did not want it yet.
        var outcome: PlayerReport?
        /// Whether its length was doubted.
        var isDoubted = false
    }

    let limits: PlayerLimits

    // What the host wants.
    var wanted: Playback?
    /// The place in the song that the host takes for true, and when it was that.
    var belief = Place(elapsed: .zero, at: .zero)
    /// Since when the host knows that the song it wants is over, and how; it will want another one.
    var over: (report: PlayerReport, at: MeshInstant)?
    /// Since when it is being found out whether a song is over: its folder may be away instead.
    var suspect: (report: PlayerReport, at: MeshInstant)?
    /// Since when the folder of all songs is away, or when that was last asked for.
    var awaySince: MeshInstant?
    var files: [Song.ID: File] = [:]

    // What mpv does.
    var process = Process.off
    var requests: [Int: (what: Request, at: MeshInstant)] = [:]
    var lastNumber = 0
    var isPaused = false
    /// How loud it plays, in percent; nil where it was not told yet.
    var volume: Int?
    /// How many decibels below that it plays.
    var ducked = 0
    /// The running change of its volume.
    var fade: Fade?
    /// It has nothing to play.
    var isIdle = true
    /// The number of the file that it opened last.
    var opened: Int?
    var current: Entry?
    /// What mpv goes on to after it.
    var following: Entry?
    /// Where the wanted song goes on when it is loaded again.
    var resumeAt: MeshInstant?
    /// What takes sound, by mpv's names; empty where it has not said.
    var outputs: [String] = []
    /// By which of mpv's drivers the sound goes, once that is known.
    var driver: String?

    // What went wrong.
    var deaths = 0
    var deathsOfSong = 0
    var restartAt: MeshInstant = .zero
    var failures = 0
    var silences = 0
    var loadAt: MeshInstant = .zero
    var problem: PlayerProblem?

    /// A player that is silent.
    init(limits: PlayerLimits = .standard) {
        self.limits = limits
    }

    /// Takes an event.
    mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        switch event {
        case .wanted(let playback): return want(playback, now: now) + settle(now)
        case .found(let song, let path, let gain):
            // A relative path would be one of the working folder, and a NUL ends it early.
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
        // The same song from its start or from another place: the file is loaded again.
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

    /// Whether this is another playing than the one before: another song, or the same one from its start.
    private func isNew(_ playback: Playback, now: MeshInstant) -> Bool {
        guard let song = playback.song, song.id == wanted?.song?.id, playback.turn == wanted?.turn else { return true }
        return playback.elapsed < limits.beginning && believed(now) - playback.elapsed > limits.beginning
    }

    /// The place where the host believes the song to be.
    func believed(_ now: MeshInstant) -> MeshInstant {
        belief.elapsed + (wanted?.isPlaying == true ? now - belief.at : .zero)
    }

    /// Whether what plays is what the host wants and knows of.
    var isCurrentWanted: Bool { !isOver && current != nil && current?.song == wanted?.song?.id }

    /// Whether the song that is wanted is over, or seems to be.
    var isOver: Bool { over != nil || suspect != nil }

    // MARK: From what there is to what is wanted

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
        // Before anything is heard.
        actions += setVolume(wanted, now: now)
        if !isCurrentWanted { actions += load(song, now: now) }
        // Nobody wants to hear the one before until it is found.
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
        // What has just begun plays from its very first sound.
        let elapsed = belief.elapsed < limits.beginning ? .zero : belief.elapsed
        (following, isIdle) = (nil, false)
        // Paused first, so that nothing is heard of a song that is to wait.
        let pausing = pause(wanted?.isPlaying != true, now: now)
        let (action, number) = numbered(
            .load(path: path, from: resumeAt ?? elapsed, gain: gain), { .load(serial: $0) }, now: now)
        current = Entry(serial: number, song: song.id, wasAppended: false, loadedAt: now)
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

    /// Has mpv go on to the next song, or to nothing.
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
