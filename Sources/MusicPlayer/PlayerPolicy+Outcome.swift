// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// Whether a song is over, or only its folder is away.

extension PlayerPolicy {
    /// The wanted song seems to be over. If its file may be at fault, the player first checks whether the folder of all
    /// songs is away. If the folder is away, the song has not failed.
    mutating func finish(_ outcome: PlayerReport, now: MeshInstant) -> [Action] {
        guard let song = outcome.suspiciousSong(isEarly: isEarly(now)) else { return conclude(outcome, now: now) }
        keepPlace(now)
        suspect = (outcome, now)
        return [.check(song)]
    }

    /// Whether the song ended long before its end. mpv handles a read error like the end of the file.
    private func isEarly(_ now: MeshInstant) -> Bool {
        guard let song = wanted?.song else { return false }
        let elapsed = current?.place.map { $0.elapsed + (isPaused ? .zero : now - $0.at) } ?? believed(now)
        return elapsed < .seconds(song.duration) - limits.earlyEnd
    }

    private mutating func conclude(_ outcome: PlayerReport, now: MeshInstant) -> [Action] {
        over = (outcome, now)
        resumeAt = nil
        deathsOfSong = 0
        guard case .failed = outcome else { return [.report(outcome)] }
        failures += 1
        guard failures >= limits.failuresAtOnce else { return [.report(outcome)] }
        loadAt = max(
            loadAt,
            now
                + .backoff(
                    first: limits.firstFailurePause, longest: limits.longestFailurePause,
                    turn: failures - limits.failuresAtOnce + 1))
        return [.report(outcome)] + tell(.songsFail)
    }

    mutating func checked(_ song: Song.ID, isAway: Bool, now: MeshInstant) -> [Action] {
        if let suspect, suspect.report.song == song {
            self.suspect = nil
            return isAway ? wait(now) : conclude(suspect.report, now: now)
        }
        return isAway ? wait(now) : goOn(now)
    }

    /// The folder is away. mpv closes its files, and the song waits at its position.
    mutating func wait(_ now: MeshInstant) -> [Action] {
        keepPlace(now)
        suspect = nil
        awaySince = awaySince ?? now
        return stop(now)
    }

    /// The folder is back, and the song continues. Its file may have another path now.
    mutating func goOn(_ now: MeshInstant) -> [Action] {
        guard awaySince != nil else { return [] }
        awaySince = nil
        files = [:]
        failures = 0
        loadAt = now
        return renew()
    }

    /// Replaces mpv, which may only open files below mounts that existed at its start. The folder may be on a new mount
    /// with the same path.
    private mutating func renew() -> [Action] {
        switch process {
        case .off, .ending, .renewing: return []
        case .starting, .running: break
        }
        process = .renewing
        requests = [:]
        (current, following) = (nil, nil)
        return [.renew]
    }
}

extension PlayerReport {
    /// The song of the report.
    var song: Song.ID {
        switch self {
        case .elapsed(let song, _), .waits(let song, _), .ended(let song), .failed(let song): song
        }
    }

    /// The song with the file that may have caused this report.
    fileprivate func suspiciousSong(isEarly: Bool) -> Song.ID? {
        switch self {
        case .failed(let song): song
        case .ended(let song): isEarly ? song : nil
        case .elapsed, .waits: nil
        }
    }
}
