// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Every limit of the media keys in one place, each with its reason. Tests make them smaller.
struct MediaKeysLimits: Sendable {
    /// Pause before a session bus that is not there is looked for again; it doubles. One that restarts is back by then.
    var firstPause: MeshInstant = .seconds(1)
    /// The longest such pause. A session may begin long after the node, a try costs one `connect`, and a person whose
    /// button press failed presses it again within a minute.
    var longestPause: MeshInstant = .seconds(60)
    /// Commands that wait for the host. A person does not press faster than it acts; more is a key that is stuck.
    var waitingCommands = 16
    /// A song's position is reported on the bus when it jumps by more than this: a report may be off by half of it.
    var jump: MeshInstant = .seconds(1)
    /// Bytes of a title, artist or address that are shown: more than any screen shows, and little on the bus.
    var textBytes = 1_024

    /// Those of a running head unit.
    static let standard = MediaKeysLimits()
}
