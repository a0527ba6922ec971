// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// Plays the songs of a host.
public protocol MusicPlayer: Sendable {
    /// Sets what to play from now on. Another call with the same value changes nothing.
    func want(_ playback: Playback) async
    /// The folder of the songs' files is away, or back. While it is away, the player opens no file.
    func take(libraryAway isAway: Bool) async
    /// Reports about the wanted songs, for one listener.
    var reports: AsyncStream<PlayerReport> { get }
    /// The problem because of which no song can be heard, and nil when it is over. For one listener, and only the
    /// latest is kept.
    var problems: AsyncStream<PlayerProblem?> { get }
    /// Plays until the task is cancelled or the service is shut down.
    func run() async throws
}

/// Why a song that should play cannot be heard.
public typealias PlayerProblem = HeadUnitProblem
