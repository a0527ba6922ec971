// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// What lets a host's songs be heard.
public protocol MusicPlayer: Sendable {
    /// What is to be heard from now on. It costs nothing to say it again.
    func want(_ playback: Playback) async
    /// The folder of the songs' files is away, or back. While it is away, the player opens no file.
    func take(libraryAway isAway: Bool) async
    /// What the player says of the songs it was given, for one listener.
    var reports: AsyncStream<PlayerReport> { get }
    /// What keeps songs from being heard, and nil when that is over, for one listener. Only the latest is kept.
    var problems: AsyncStream<PlayerProblem?> { get }
    /// Plays until the task is cancelled or the service is shut down.
    func run() async throws
}

/// Why nothing is to be heard, though it should.
public typealias PlayerProblem = HeadUnitProblem
