// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// What lets a host's songs be heard.
public protocol MusicPlayer: Sendable {
    /// What is to be heard from now on. It costs nothing to say it again.
    func want(_ playback: Playback) async
    /// What the player says of the songs it was given, for one listener.
    var reports: AsyncStream<PlayerReport> { get }
    /// What keeps songs from being heard, and nil when it is cured, for one listener. Only the latest is kept.
    var problems: AsyncStream<PlayerProblem?> { get }
    /// Plays until the task is cancelled or the service is shut down.
    func run() async throws
}

/// Why nothing is to be heard, though it should.
public enum PlayerProblem: Hashable, Sendable {
    /// The player cannot be started, and why.
    case cannotStart(String)
    /// The player ends again and again, and how.
    case keepsEnding(String)
    /// There is nothing that takes the sound.
    case noSound
    /// One song after the other cannot be played.
    case songsFail
}

extension PlayerProblem {
    /// The code of every player's notice: one takes the place of another, and one cure is enough.
    public static let noticeCode = "playerFailed"

    /// The problem, told to a person.
    public var notice: Notice { .staying(Self.noticeCode, message, suggestion) }

    private var message: String {
        switch self {
        case .cannotStart(let cause): "The player mpv cannot be started (\(cause)). There is no music."
        case .keepsEnding(let cause): "The player mpv ends again and again (\(cause)). The music stops and starts."
        case .noSound: "No loudspeaker takes the sound. The song waits where it is."
        case .songsFail: "One song after the other cannot be played. The next ones are tried more slowly."
        }
    }

    private var suggestion: String {
        switch self {
        case .cannotStart: "Install it with: sudo apt install mpv. Or do without sound: --player none."
        case .keepsEnding: "It is started again by itself. If that does not help, update mpv."
        case .noSound: "Plug a loudspeaker or sound card in, or switch it on. It goes on by itself."
        case .songsFail: "Make sure the disk or stick with the music is plugged in and its files are whole."
        }
    }
}
