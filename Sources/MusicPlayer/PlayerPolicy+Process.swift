// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// mpv as a process: its start, its end, and the timeouts.

extension PlayerPolicy {
    mutating func launch(_ now: MeshInstant) -> [Action] {
        process = .starting(now)
        requests = [:]
        (isPaused, isIdle, opened) = (false, true, nil)
        (outputs, driver, volume, ducked, fade) = ([], nil, nil, 0, nil)
        // The first answer shows that mpv accepts requests.
        return [.launch, send(.sayErrors, now: now), send(.sayDevices, now: now)]
    }

    mutating func answered(_ number: Int, _ answer: MPVAnswer, now: MeshInstant) -> [Action] {
        guard let request = requests.removeValue(forKey: number) else { return [] }
        if case .starting = process { process = .running }
        switch (request.what, answer) {
        case (.load(let serial), .entry(let id)):
            if current?.serial == serial { current?.id = id }
            if following?.serial == serial { following?.id = id }
            return []
        case (.load(let serial), _):
            if let song = following?.song, following?.serial == serial { (following, files[song]) = (nil, .nowhere) }
            if let song = current?.song, current?.serial == serial { (current, files[song]) = (nil, .nowhere) }
            return []
        case (.position(let serial), .place(let elapsed)):
            return current?.serial == serial ? place(elapsed, now: now) : []
        case (.driver(let serial), .text(let name)):
            driver = name
            guard current?.serial == serial, let entry = current, isUnheard else { return [] }
            return waitForSound(entry, now: now)
        case (.position, _), (.driver, _), (.other, _): return []
        }
    }

    mutating func died(_ how: String, couldStart: Bool, now: MeshInstant) -> [Action] {
        let wasWell = process == .renewing
        process = .off
        requests = [:]
        if wasWell {
            restartAt = now
            return []
        }
        deaths += 1
        restartAt =
            now
            + .backoff(
                first: limits.firstRestartPause, longest: limits.longestRestartPause,
                turn: deaths - limits.silentDeaths)
        var actions: [Action] = []
        if !couldStart {
            actions += tell(.cannotStart(how))
        } else if deaths > limits.silentDeaths {
            actions += tell(.keepsEnding(how))
        }
        let song = isCurrentWanted && current?.outcome == nil ? current?.song : nil
        keepPlace(now)
        (current, following) = (nil, nil)
        guard let song else { return actions }
        deathsOfSong += 1
        return deathsOfSong < limits.deathsOfSong ? actions : actions + finish(.failed(song), now: now)
    }

    private mutating func kill() -> [Action] {
        process = .ending
        requests = [:]
        guard awaySince == nil, suspect == nil, let song = wanted?.song else { return [.kill] }
        // If mpv hangs in a disk access, even a kill has to wait for the disk, so the folder is checked as well.
        return [.kill, .check(song.id)]
    }

    // MARK: Time

    /// Handles the timeouts that have passed.
    mutating func checkTimes(_ now: MeshInstant) -> [Action] { fadeOn(now) + checkWaits(now) }

    private mutating func checkWaits(_ now: MeshInstant) -> [Action] {
        if let over, now >= over.at + limits.repeatAfter {
            self.over?.at = now
            return [.report(over.report)] + checkProcess(now)
        }
        if let suspect, now >= suspect.at + limits.checkTime { return wait(now) + checkProcess(now) }
        if let awaySince, now >= awaySince + limits.checkAgain, let song = wanted?.song {
            self.awaySince = now
            return [.check(song.id)] + checkProcess(now)
        }
        for (song, file) in files {
            if case .asked(let at) = file, now >= at + limits.findTime { files[song] = .nowhere }
        }
        return checkProcess(now)
    }

    private mutating func checkProcess(_ now: MeshInstant) -> [Action] {
        switch process {
        case .off, .ending, .renewing: return []
        case .starting(let since): return now >= since + limits.startTime ? kill() : []
        case .running: break
        }
        let isLate = oldestRequest.map { now >= $0 + limits.answerTime } ?? false
        if isLate || requests.count > limits.waitingRequests { return kill() }
        if let at = stalledAt, now >= at { return kill() }
        guard let at = loadEndsAt, now >= at, let song = current?.song else { return [] }
        // mpv reports neither a start nor a failure, so the song counts as failed. The next one is loaded instead.
        current?.outcome = .failed(song)
        return []
    }

    private var oldestRequest: MeshInstant? { requests.values.map(\.at).min() }

    /// When a position that does not change means that playback has stalled.
    private var stalledAt: MeshInstant? {
        guard isCurrentWanted, let entry = current, entry.isSounding, !isPaused, entry.outcome == nil else {
            return nil
        }
        return entry.movedAt + limits.stallTime
    }

    /// When the present song counts as failed because it has not begun.
    private var loadEndsAt: MeshInstant? {
        guard let entry = current, !entry.isSounding, entry.outcome == nil else { return nil }
        return entry.loadedAt + limits.loadTime
    }

    /// Whether the wanted song can be loaded, or is known to have no file.
    private var isFound: Bool {
        switch wanted?.song.flatMap({ files[$0.id] }) {
        case .asked, nil: false
        case .nowhere: true
        case .here: process == .running
        }
    }

    /// When `tick` is due.
    var deadline: MeshInstant? {
        guard wanted?.song != nil else {
            return process == .running ? oldestRequest.map { $0 + limits.answerTime } : nil
        }
        var times: [MeshInstant?] = []
        if let over { times.append(over.at + limits.repeatAfter) }
        if let suspect { times.append(suspect.at + limits.checkTime) }
        if let awaySince { times.append(awaySince + limits.checkAgain) }
        let isToLoad = !isOver && awaySince == nil
        times += files.values.map { if case .asked(let at) = $0 { at + limits.findTime } else { nil } }
        if isToLoad, !isCurrentWanted, isFound { times.append(loadAt) }
        switch process {
        case .off: times.append(isToLoad ? restartAt : nil)
        case .starting(let since): times.append(since + limits.startTime)
        case .ending, .renewing: break
        case .running:
            times += [oldestRequest.map { $0 + limits.answerTime }, stalledAt, loadEndsAt, nextAskAt, fade?.nextAt]
        }
        return times.compactMap(\.self).min()
    }

    // MARK: Problems

    mutating func tell(_ problem: PlayerProblem?) -> [Action] {
        guard problem != self.problem else { return [] }
        self.problem = problem
        return [.tell(problem)]
    }
}
