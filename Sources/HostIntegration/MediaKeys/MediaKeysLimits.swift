// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// All limits of the media keys, each with its reason. Tests use smaller values.
struct MediaKeysLimits: Sendable {
    /// Pause before the next search for a missing session bus. The pause doubles each time. A restarting bus is back
    /// within the first pause.
    var firstPause: MeshInstant = .seconds(1)
    /// The longest pause between two searches for the bus. A session may begin long after the node, and an attempt
    /// costs one `connect`. After a failed key press a person tries again within a minute.
    var longestPause: MeshInstant = .seconds(60)
    /// Commands that wait for the host. A person does not press faster than the host acts; further commands come from a
    /// stuck key.
    var waitingCommands = 16
    /// A jump in a song's position by more than this is reported on the bus. A reported position may be off by half of
    /// this.
    var jump: MeshInstant = .seconds(1)
    /// Longest title, artist or URL that is shown, in bytes: more than any screen shows, and little on the bus.
    var textBytes = 1_024

    /// The limits of a running head unit.
    static let standard = MediaKeysLimits()
}
