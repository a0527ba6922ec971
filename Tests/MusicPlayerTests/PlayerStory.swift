// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

@testable import MusicPlayer

/// A policy, and an mpv that obeys at once. Actions are reported as words.
struct PlayerStory {
    private(set) var policy: PlayerPolicy
    private(set) var now: MeshInstant = .zero
    private var lastEntry = 0
    private var asked: Int?
    private var isDeaf = false
    private var missing: Set<Song.ID> = []
    /// Whether the folder of all songs is missing.
    var isAway = false
    private let driver: String

    init(limits: PlayerLimits = .standard, missing: Set<Song.ID> = [], driver: String = "alsa") {
        policy = PlayerPolicy(limits: limits)
        self.missing = missing
        self.driver = driver
    }

    /// mpv answers nothing any more.
    mutating func hang() { isDeaf = true }

    mutating func at(_ seconds: Double) { now = .seconds(seconds) }

    mutating func want(
        _ song: Song.ID?, next: Song.ID? = nil, plays: Bool = true, at elapsed: Double = 0, seeks: Int = 0,
        volume: Int? = nil, ducked: Int = 0
    ) -> [String] {
        var wanted = playback(song, next: next, plays: plays, at: .seconds(elapsed), seeks: seeks)
        (wanted.volume, wanted.ducked) = (volume, ducked)
        return handle(.wanted(wanted))
    }

    /// mpv plays the file with this number.
    mutating func begin(_ entry: Int) -> [String] { handle(.said(.began(entry))) + handle(.said(.sounding)) }

    mutating func end(_ entry: Int, _ ending: MPVEnding = .atItsEnd) -> [String] {
        handle(.said(.ended(entry, ending)))
    }

    /// mpv answers the question for its position.
    mutating func place(_ seconds: Double) -> [String] {
        guard let number = asked else { return ["was not asked"] }
        asked = nil
        return handle(.answered(number, .place(.seconds(seconds))))
    }

    mutating func die(couldStart: Bool = true) -> [String] {
        isDeaf = isDeaf && !couldStart
        asked = nil
        return handle(.died("signal 9", couldStart: couldStart))
    }

    /// mpv answers that it has no position.
    mutating func noPlace() -> [String] {
        guard let number = asked else { return ["was not asked"] }
        asked = nil
        return handle(.answered(number, .refused("property unavailable")))
    }

    /// mpv reports the audio devices.
    mutating func devices(_ names: String...) -> [String] { handle(.said(.devices(names))) }

    mutating func tick(_ seconds: Double) -> [String] {
        at(seconds)
        return handle(.tick)
    }

    mutating func handle(_ event: PlayerPolicy.Event) -> [String] {
        var words: [String] = []
        // The results of an action come after all actions.
        var events = [event]
        while !events.isEmpty {
            for action in policy.handle(events.removeFirst(), now: now) {
                let (word, answer) = carryOut(action)
                words += [word].compactMap(\.self)
                events += [answer].compactMap(\.self)
            }
        }
        return words
    }

    private mutating func carryOut(_ action: PlayerPolicy.Action) -> (word: String?, answer: PlayerPolicy.Event?) {
        switch action {
        case .launch: return ("launch", nil)
        case .kill: return ("kill", nil)
        case .renew: return ("renew", .died("as it was asked"))
        case .check(let song): return (nil, .checked(song, isAway: isAway))
        case .find(let song): return (nil, .found(song, path: missing.contains(song) ? nil : "/\(song)"))
        case .doubt(let song): return ("\(song) has another length", nil)
        case .report(.elapsed(let song, let place)): return ("\(song) is at \(place / .seconds(1))", nil)
        case .report(.waits(let song, let place)): return ("\(song) waits at \(place / .seconds(1))", nil)
        case .report(.ended(let song)): return ("\(song) has ended", nil)
        case .report(.failed(let song)): return ("\(song) has failed", nil)
        case .tell(let problem): return (problem.map { "tell \($0)" } ?? "cured", nil)
        case .send(let command, let number): return (command.word, isDeaf ? nil : answer(command, number))
        }
    }

    private mutating func answer(_ command: MPVCommand, _ number: Int) -> PlayerPolicy.Event? {
        switch command {
        case .load, .append:
            lastEntry += 1
            return .answered(number, .entry(lastEntry))
        case .position:
            asked = number
            return nil
        case .driver: return .answered(number, .text(driver))
        case .dropAppended, .pause, .volume, .level, .stop, .sayErrors, .sayDevices: return .answered(number, .done)
        }
    }
}

extension MPVCommand {
    /// Nil for an action that the story leaves out.
    fileprivate var word: String? {
        switch self {
        case .load(let path, let place, _): "load \(path) at \(place / .seconds(1))"
        case .append(let path, _): "append \(path)"
        case .dropAppended: "drop"
        case .pause(let pauses): pauses ? "pause" : "go on"
        case .stop: "stop"
        case .volume(let percent): "volume \(percent)"
        case .level(let level): "level \((level * 10).rounded() / 10)"
        case .position, .sayErrors, .sayDevices, .driver: nil
        }
    }
}
