// SPDX-License-Identifier: Apache-2.0

/// Limits of `roadmesh pipe`, each with its reason.
enum PipeLimits {
    /// Bytes of one frame of data: a frame with its head fits a message, and after a gap at most this much is sent
    /// again.
    static let chunk = 32 << 10
    /// Bytes of the only stream that the receiver buffers before the sender stops reading: what Wi-Fi at 20 MB/s
    /// carries in 50 ms.
    static let window = 1 << 20
    /// Bytes of each connection of `--socket` that the receiver buffers. There may be many connections.
    static let socketWindow = 128 << 10
    /// Connections of `--socket` at a time. With two full windows each, they use 32 MiB.
    static let connections = 128
    /// Frames that wait to be sent before sources are no longer read: one is sent while the next is read.
    static let outgoing = 2
    /// Bytes of the name of a session, which one side draws.
    static let sessionBytes = 16
    /// How often the progress is shown: a person reads no faster.
    static let progressInterval: Duration = .milliseconds(500)
    /// Time for the last bytes after Ctrl-C, while the other side is in range. A person who waits longer presses it
    /// again.
    static let farewell: Duration = .seconds(5)
    /// Time to connect to the target of `--socket`. A service on this device answers at once.
    static let connect: Duration = .seconds(10)
    /// Seconds to look for the other side and to wait during a gap, unless `--wait` gives another number: long tunnels
    /// take less.
    static let wait = 300.0
    /// Maximum number of seconds that `--wait` accepts: a day.
    static let longestWait = 86_400
}
