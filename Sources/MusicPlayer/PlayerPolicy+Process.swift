// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// mpv as a process: how it is started, how it dies, and how long it is waited for.

extension PlayerPolicy {
    mutating func launch(_ now: MeshInstant) -> [Action] {
        process = .starting(now)
        requests = [:]
        (isPaused, isIdle, opened) = (false, true, nil)
        (outputs, driver, volume, ducked, fade) = ([], nil, nil, 0, nil)
        // The first answer says that it listens.
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
        // It may hang with the disk; then even a kill waits for that.
        return [.kill, .check(song.id)]
    }

    // MARK: Time

    /// Looks for what has taken too long.
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
        // Nothing comes of it, and mpv says nothing: as if it had failed. The next one is loaded instead.
        current?.outcome = .failed(song)
        return []
    }

    private var oldestRequest: MeshInstant? { requests.values.map(\.at).min() }

    /// When the place will have stood still for too long.
    private var stalledAt: MeshInstant? {
        guard isCurrentWanted, let entry = current, entry.isSounding, !isPaused, entry.outcome == nil else {
            return nil
        }
        return entry.movedAt + limits.stallTime
    }

    /// When the present song will have taken too long to begin.
    private var loadEndsAt: MeshInstant? {
        guard let entry = current, !entry.isSounding, entry.outcome == nil else { return nil }
        return entry.loadedAt + limits.loadTime
    }

    /// Whether it is known where the wanted song is, or that it is nowhere.
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

    // MARK: A person

    mutating func tell(_ problem: PlayerProblem?) -> [Action] {
        guard problem != self.problem else { return [] }
        self.problem = problem
        return [.tell(problem)]
    }
}
