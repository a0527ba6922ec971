// SPDX-License-Identifier: Apache-2.0

/// Limits of the socket for commands of other programs on this device, each with its reason.
enum ControlLimits {
    /// Longest request and longest key, in bytes. A command is as long as a line of a program's input, and JSON escapes
    /// make it longer.
    static let requestBytes = 8_192
    /// Longest answer that a client reads, in bytes. A queue of a hundred songs with the longest titles takes 40 KB.
    static let answerBytes = 256 << 10
    /// Clients at a time: the ignition, a phone call, reverse gear and a home automation at the same moment, and a few
    /// more.
    static let clients = 8
    /// How long a client may take to send its line. `roadmesh control` takes a few milliseconds.
    static let requestTime: Duration = .seconds(2)
    /// How long the host may take to carry out a command. A slow memory card may write for seconds.
    static let answerTime: Duration = .seconds(5)
    /// How long a client waits for the answer: longer than the host may take.
    static let clientTime: Duration = .seconds(8)
    /// Random bytes of the key that proves that a client can read the state folder: nobody guesses 128 bits.
    static let keyBytes = 16
}
