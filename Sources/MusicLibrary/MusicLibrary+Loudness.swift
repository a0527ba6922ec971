// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

// Loudness. Songs without a gain in their tags are played once without sound. This also corrects wrong lengths.

extension MusicLibrary {
    /// The name of the player's filter that measures how loud songs are.
    public static let measuringFilter = PlayerTalk.filter

    /// The gain with which to play a song, in decibels. A song that is not measured yet becomes the next one to be
    /// measured.
    public func gain(of id: Song.ID) async -> Double {
        guard loudness != .off, measurePlayer != nil, let gain = try? await index.gain(of: id) else { return 0 }
        if !gain.isMeasured, gain.tags.trackGain == nil, let number = try? await index.number(of: id) {
            if !wantedMeasures.contains(number) { wantedMeasures.append(number) }
            beginMeasuring()
        }
        return gain.decibels(loudness)
    }

    /// Measures the length of a song again, because its playback has another length. Stores the result.
    public func doubtLength(of id: Song.ID) async {
        guard measurePlayer != nil, let number = try? await index.doubt(id) else { return }
        if !wantedMeasures.contains(number) { wantedMeasures.append(number) }
        beginMeasuring()
    }

    /// Measures the remaining songs, unless a run is in progress.
    func beginMeasuring() {
        guard measuring == nil, let measurePlayer, problem?.isAbsence != true else { return }
        measuring = Task {
            await measure(measurePlayer)
            await measurer.run { measurePlayer.close() }
            measuring = nil
            // Next is a song that was requested since the last one was measured.
            if !wantedMeasures.isEmpty, !Task.isCancelled { beginMeasuring() }
        }
    }

    private func measure(_ player: PlayerProbe) async {
        guard let numbers = try? await index.unmeasured(loudness: loudness != .off) else {
            // Without the index nothing can be measured.
            wantedMeasures = []
            return
        }
        var waiting = numbers[...]
        var hasChanged = false
        var toldAt = now
        while !Task.isCancelled, problem?.isAbsence != true,
            let number = wantedMeasures.popLast() ?? waiting.popFirst()
        {
            guard let song = try? await index.unmeasured(number) else { continue }
            let path = folder + "/" + song.path
            guard let outcome = await measurer.run({ try? player.play(path) }), !Task.isCancelled else { return }
            if case .fails = outcome {
                // If the folder is away, a failure says nothing about the file.
                guard await check(song.path, []) == nil else { return }
            }
            guard let isOther = try? await index.write(outcome, of: song) else { return }
            hasChanged = hasChanged || isOther
            if hasChanged, now - toldAt >= limits.toldLengths || waiting.isEmpty {
                if let songs = try? await index.songs() { mailbox.tell(.songs(songs)) }
                (hasChanged, toldAt) = (false, now)
            }
            try? await Task.sleep(for: limits.measurePause)
        }
        if hasChanged, let songs = try? await index.songs() { mailbox.tell(.songs(songs)) }
    }
}
