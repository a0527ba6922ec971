// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// What mpv says of the files it plays, and what the host is told of it.

extension PlayerPolicy {
    mutating func said(_ event: MPVEvent, now: MeshInstant) -> [Action] {
        switch event {
        case .began(let id): return began(id, now: now)
        case .sounding:
            guard let entry = current, entry.id == opened, entry.outcome == nil else { return [] }
            current?.isSounding = true
            current?.movedAt = now
            current?.askAt = now
            // Before it is asked for its place, which counts where something takes the sound.
            return [numbered(.driver, { _ in .driver(serial: entry.serial) }, now: now).action]
        case .devices(let names): return take(names, now: now)
        case .ended(let id, let ending):
            // One that was replaced or dropped says nothing to anybody.
            guard let entry = current, entry.id == id, entry.outcome == nil else { return [] }
            return ended(entry, ending, now: now)
        }
    }

    /// A file that was dropped when mpv had gone on to it already is heard in the place of the one that was to be. What
    /// was loaded, and not appended, needs no such care: mpv comes to it by itself.
    private mutating func began(_ id: Int, now: MeshInstant) -> [Action] {
        opened = id
        guard current.map({ $0.wasAppended && $0.id != id }) ?? true else { return [] }
        isIdle = false
        return stop(now)
    }

    private mutating func ended(_ entry: Entry, _ ending: MPVEnding, now: MeshInstant) -> [Action] {
        switch ending {
        case .atItsEnd where entry.isSounding: return doubtLength(now) + wentOn(.ended(entry.song), now: now)
        case .atItsEnd, .failed: return wentOn(.failed(entry.song), now: now)
        case .noSound: return waitForSound(entry, now: now)
        // It ends, which it will say, or it has the next file from us.
        case .stopped: return []
        }
    }

    // MARK: What takes the sound

    /// Nothing takes the sound: what nobody hears does not go on.
    mutating func waitForSound(_ entry: Entry, now: MeshInstant) -> [Action] {
        silences += 1
        loadAt = now + pause(afterSilences: silences)
        keepPlace(now)
        let place = resumeAt ?? (belief.elapsed < limits.beginning ? .zero : belief.elapsed)
        let waits = isCurrentWanted ? [Action.report(.waits(entry.song, at: place))] : []
        // Or it would try the next one, in vain.
        return stop(now) + waits + tell(.noSound)
    }

    /// What takes sound has come or gone.
    private mutating func take(_ names: [String], now: MeshInstant) -> [Action] {
        let isOther = !outputs.isEmpty && outputs != names
        outputs = names
        if let entry = current, entry.isSounding, entry.outcome == nil {
            return isUnheard ? waitForSound(entry, now: now) : []
        }
        // It is tried at once, and not when the pause is over.
        if isOther, silences > 0, !isUnheard { loadAt = now }
        return []
    }

    /// A sound server without any device has one that takes all sound and gives it to nobody.
    var isUnheard: Bool {
        guard let driver, ["pulse", "pipewire"].contains(driver) else { return false }
        let devices = outputs.filter { $0.hasPrefix("\(driver)/") }
        return !devices.isEmpty && devices.allSatisfy { $0 == "\(driver)/auto_null" }
    }

    private func pause(afterSilences turn: Int) -> MeshInstant {
        .backoff(first: limits.firstRestartPause, longest: limits.longestRestartPause, turn: turn)
    }

    /// A song is over, and mpv goes on to the next one.
    private mutating func wentOn(_ outcome: PlayerReport, now: MeshInstant) -> [Action] {
        guard isCurrentWanted else {
            // The host does not want it yet: it is told when it does.
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

    /// Asks mpv where it is, where it is time for that.
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
        // mpv tells of sound before it knows whether anything takes it; a place is there only where something does.
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

    /// The length of the wanted song, by its file.
    private var length: MeshInstant { .seconds(wanted?.song?.duration ?? 0) }

    /// Reports once that the present song plays beyond its length, or ends far from it.
    private mutating func doubtLength(_ now: MeshInstant) -> [Action] {
        guard isCurrentWanted, let entry = current, let place = entry.place, !entry.isDoubted else { return [] }
        // An older place says too little.
        guard now - place.at <= limits.askEvery * 2 else { return [] }
        let elapsed = place.elapsed + (now - place.at)
        guard max(elapsed - length, length - elapsed) > limits.wrongLength else { return [] }
        current?.isDoubted = true
        return [.doubt(entry.song)]
    }

    /// Notes where the wanted song goes on when it is loaded again.
    mutating func keepPlace(_ now: MeshInstant) {
        guard isCurrentWanted, let place = current?.place else { return }
        // An mpv that hangs was last heard from a while ago, and may have been silent since.
        let since = isPaused ? .zero : min(now - place.at, limits.askEvery)
        resumeAt = place.elapsed + since
    }
}
