// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Every limit of the media keys in one place, each with its reason. Tests make them smaller.
struct MediaKeysLimits: Sendable {
    /// Pause before a session bus that is not there is looked for again; it doubles. One that restarts is back by then.
    var firstPause: MeshInstant = .seconds(1)
    /// The longest such pause: a session may begin long after us, a try costs one `connect`, and a person who presses a
    /// button in vain tries it again within a minute.
    var longestPause: MeshInstant = .seconds(60)
    /// Commands that wait for the host. A person does not press faster than it acts; more is a key that is stuck.
    var waitingCommands = 16
    /// A song's place is told to everybody when it jumps by more than this: half of it is what a report may be off.
    var jump: MeshInstant = .seconds(1)
    /// Bytes of a title, artist or address that are shown: more than any screen shows, and little on the bus.
    var textBytes = 1_024

    /// Those of a running head unit.
    static let standard = MediaKeysLimits()
}
