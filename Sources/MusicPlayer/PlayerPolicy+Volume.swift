// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Glibc
import MeshProtocol

// mpv's volume.

extension PlayerPolicy {
    /// A gradual change of mpv's volume.
    struct Fade: Hashable, Sendable {
        var from: Double
        var to: Double
        var since: MeshInstant
        /// When the next step is due.
        var nextAt: MeshInstant

        /// The volume at a time. It changes by the same ratio in each step, which is the same number of decibels: with
        /// equal differences the last steps of a duck would be the loudest.
        func level(_ now: MeshInstant, of length: MeshInstant) -> Double {
            let part = min(max((now - since) / length, 0), 1)
            return from > 0 && to > 0 ? from * pow(to / from, part) : from + (to - from) * part
        }
    }

    /// Sets the volume. While a song is audible, a duck and its end change the volume in small steps. A volume that the
    /// driver sets takes effect at once.
    mutating func setVolume(_ wanted: Playback, now: MeshInstant) -> [Action] {
        guard let percent = wanted.volume, percent != volume || wanted.ducked != ducked else { return [] }
        let isHeard = current?.isSounding == true && !isPaused
        let from = percent == volume && isHeard ? level(now) : nil
        (volume, ducked) = (percent, wanted.ducked)
        fade = from.map { Fade(from: $0, to: target, since: now, nextAt: now + limits.fadeStep) }
        return fade == nil ? [sendVolume(now)] : []
    }

    /// The next step of a fade, if it is due.
    mutating func fadeOn(_ now: MeshInstant) -> [Action] {
        guard let fade, now >= fade.nextAt else { return [] }
        guard process == .running, now - fade.since < limits.fadeTime else {
            self.fade = nil
            return process == .running ? [sendVolume(now)] : []
        }
        self.fade?.nextAt = now + limits.fadeStep
        return [send(.level(fade.level(now, of: limits.fadeTime)), now: now)]
    }

    /// mpv's present volume.
    private func level(_ now: MeshInstant) -> Double { fade?.level(now, of: limits.fadeTime) ?? target }

    private var target: Double { PlayerLimits.playersVolume(volume ?? DJLimits.loudest, ducked: ducked) }

    private mutating func sendVolume(_ now: MeshInstant) -> Action {
        send(ducked == 0 ? .volume(volume ?? DJLimits.loudest) : .level(target), now: now)
    }
}
