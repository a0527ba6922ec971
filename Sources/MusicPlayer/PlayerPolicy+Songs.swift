// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// mpv's events about its files, and the reports to the host.

extension PlayerPolicy {
    mutating func said(_ event: MPVEvent, now: MeshInstant) -> [Action] {
        switch event {
        case .began(let id): return began(id, now: now)
        case .sounding:
            guard let entry = current, entry.id == opened, entry.outcome == nil else { return [] }
            current?.isSounding = true
            current?.movedAt = now
            current?.askAt = now
            // Ask for the driver before the position. A position counts only if a device accepts the sound.
            return [numbered(.driver, { _ in .driver(serial: entry.serial) }, now: now).action]
        case .devices(let names): return take(names, now: now)
        case .ended(let id, let ending):
            // The end of a replaced or dropped file is not reported.
            guard let entry = current, entry.id == id, entry.outcome == nil else { return [] }
            return ended(entry, ending, now: now)
        }
    }

    /// mpv has opened a file. A file that was dropped after mpv had started it would play instead of the wanted one, so
    /// it is stopped. A file that was loaded, not appended, needs no stop, since mpv opens it next.
    private mutating func began(_ id: Int, now: MeshInstant) -> [Action] {
        opened = id
        guard current.map({ $0.wasAppended && $0.id != id }) ?? true else { return [] }
        isIdle = false
        return stop(now)
    }

    private mutating func ended(_ entry: Entry, _ ending: MPVEnding, now: MeshInstant) -> [Action] {
        switch ending {
        case .atItsEnd where entry.isSounding: return doubtLength(now) + wentOn(.ended(entry.song), now: now)
        // The driver has sought to the end, or the song's stated length is too long.
        case .nothingPlayed where entry.startsAt > .zero: return wentOn(.ended(entry.song), now: now)
        case .atItsEnd, .nothingPlayed, .failed: return wentOn(.failed(entry.song), now: now)
        case .noSound: return waitForSound(entry, now: now)
        // mpv is ending, and `died` follows, or this policy has replaced or stopped the file.
        case .stopped: return []
        }
    }

    // MARK: Audio devices

    /// No device accepts the sound, so the song waits at its position.
    mutating func waitForSound(_ entry: Entry, now: MeshInstant) -> [Action] {
        silences += 1
        loadAt = now + pause(afterSilences: silences)
        keepPlace(now)
        let place = resumeAt ?? (belief.elapsed < limits.beginning ? .zero : belief.elapsed)
        let waits = isCurrentWanted ? [Action.report(.waits(entry.song, at: place))] : []
        // Without the stop, mpv would try the next file, which would be silent too.
        return stop(now) + waits + tell(.noSound)
    }

    /// The list of audio devices has changed.
    private mutating func take(_ names: [String], now: MeshInstant) -> [Action] {
        let isOther = !outputs.isEmpty && outputs != names
        outputs = names
        if let entry = current, entry.isSounding, entry.outcome == nil {
            return isUnheard ? waitForSound(entry, now: now) : []
        }
        // Try the new devices at once, not at the end of the pause.
        if isOther, silences > 0, !isUnheard { loadAt = now }
        return []
    }

    /// Whether only the dummy output of a sound server accepts the sound. A server without a device has such an output.
    var isUnheard: Bool {
        guard let driver, ["pulse", "pipewire"].contains(driver) else { return false }
        let devices = outputs.filter { $0.hasPrefix("\(driver)/") }
        return !devices.isEmpty && devices.allSatisfy { $0 == "\(driver)/auto_null" }
    }

    private func pause(afterSilences turn: Int) -> MeshInstant {
        .backoff(first: limits.firstRestartPause, longest: limits.longestRestartPause, turn: turn)
    }

    /// A song is over, and mpv plays the next one.
    private mutating func wentOn(_ outcome: PlayerReport, now: MeshInstant) -> [Action] {
        guard isCurrentWanted else {
            // The host does not want this song yet. It gets the report when it wants the song.
            current?.outcome = outcome
            return []
        }
        let actions = finish(outcome, now: now)
        current = following
        following = nil
        current?.loadedAt = now
        current?.movedAt = now
        return actions
    }

    // MARK: Places

    /// Asks mpv for the position, if that is due.
    mutating func ask(_ now: MeshInstant) -> [Action] {
        guard let entry = current, let at = nextAskAt, now >= at else { return [] }
        current?.askAt = isPaused && entry.reportedAt != nil ? nil : now + limits.askEvery
        return [numbered(.position, { _ in .position(serial: entry.serial) }, now: now).action]
    }

    var nextAskAt: MeshInstant? {
        let isAsking = requests.values.contains { if case .position = $0.what { true } else { false } }
        return isCurrentWanted && current?.isSounding == true && !isAsking ? current?.askAt : nil
    }

    mutating func place(_ elapsed: MeshInstant, now: MeshInstant) -> [Action] {
        guard let entry = current, entry.isSounding else { return [] }
        if entry.place?.elapsed != elapsed { current?.movedAt = now }
        current?.place = Place(elapsed: elapsed, at: now)
        failures = 0
        silences = 0
        if now - entry.loadedAt >= limits.stableTime { (deaths, deathsOfSong) = (0, 0) }
        let doubts = elapsed > length + limits.wrongLength ? doubtLength(now) : []
        // mpv reports sound before it knows whether a device accepts it. It has a position only if one does.
        let recovery = deaths > limits.silentDeaths ? [] : tell(nil)
        guard isCurrentWanted else { return recovery }
        return recovery + doubts + reportPlace(elapsed, of: entry, now: now)
    }

    private mutating func reportPlace(_ elapsed: MeshInstant, of entry: Entry, now: MeshInstant) -> [Action] {
        let drift = believed(now) - elapsed
        let isOff = max(drift, .zero - drift) > limits.drift
        let isDue = entry.reportedAt.map { now - $0 >= limits.reportEvery } ?? true
        guard isOff || isDue else { return [] }
        current?.reportedAt = now
        belief = Place(elapsed: elapsed, at: now)
        return [.report(.elapsed(entry.song, elapsed))]
    }

    /// The length of the wanted song, as its file states it.
    private var length: MeshInstant { .seconds(wanted?.song?.duration ?? 0) }

    /// Reports once that the present song plays beyond its length, or ends far from it.
    private mutating func doubtLength(_ now: MeshInstant) -> [Action] {
        guard isCurrentWanted, let entry = current, let place = entry.place, !entry.isDoubted else { return [] }
        // An older position is too inexact.
        guard now - place.at <= limits.askEvery * 2 else { return [] }
        let elapsed = place.elapsed + (now - place.at)
        guard max(elapsed - length, length - elapsed) > limits.wrongLength else { return [] }
        current?.isDoubted = true
        return [.doubt(entry.song)]
    }

    /// Stores the position at which the wanted song continues when it is loaded again.
    mutating func keepPlace(_ now: MeshInstant) {
        guard isCurrentWanted, let place = current?.place else { return }
        // The last position of a hanging mpv is old, and the song may have been silent since.
        let since = isPaused ? .zero : min(now - place.at, limits.askEvery)
        resumeAt = place.elapsed + since
    }
}
