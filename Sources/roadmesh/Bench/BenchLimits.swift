// SPDX-License-Identifier: Apache-2.0

/// Limits of `roadmesh fieldtest bench`, each with its reason.
enum BenchLimits {
    /// Bytes of one message of bulk data: some packets of every bearer, and less than a second on the coded PHY.
    static let chunk = 4_096
    /// Bytes of any other message: a machine's description takes some hundred.
    static let messageBytes = 4_096
    /// Characters of a text in the other machine's description.
    static let textCharacters = 80
    /// Pings for the round trip: enough for a 95th percentile.
    static let pings = 50
    /// Time in which both sides send nothing: ten keepalives of each.
    static let idleTime: Duration = .seconds(10)
    /// Disconnects, unless `--gaps` gives another number: enough for a 95th percentile, in two minutes with BlueZ.
    static let gaps = 50
    /// Maximum number of disconnects that `--gaps` accepts: with BlueZ they take an hour.
    static let mostGaps = 1_000
    /// Seconds of each direction of the data rate, unless `--seconds` gives another number.
    static let seconds = 10
    /// Maximum number of seconds that `--seconds` accepts.
    static let mostSeconds = 60
    /// Time for an answer after a link was lost. A kernel gives up a dial after 20 s, and another follows.
    static let answer: Duration = .seconds(60)
    /// Time for a link to end before the request is repeated: bluetoothd needs two seconds.
    static let linkEnd: Duration = .seconds(5)
    /// Time for which the adapter stays switched off, so that the other side notices it.
    static let offTime: Duration = .seconds(2)
    /// Seconds to look for the listener, unless `--wait` gives another number.
    static let wait = 30.0
    /// Maximum distance that `--distance` accepts, in metres. No Bluetooth link is longer.
    static let farthest = 10_000.0
}
