// SPDX-License-Identifier: Apache-2.0

/// Changes that arrive while a guest waits for the full state. Behind a relay the full state takes a different route,
/// so a later change may arrive before it. Keeping such changes saves another request to the host.
public struct HeldChanges: Hashable, Sendable {
    private var changes: [HostChange] = []
    private var byteCount = 0

    /// Creates an empty buffer.
    public init() {}

    /// Adds a change. At the limits `DJLimits.heldChanges` and `heldChangeBytes` all earlier changes are dropped: the
    /// guest would have to ask again for the later changes in any case.
    mutating func hold(_ change: HostChange) {
        let size = MeshMessage.stateChange(change).encoded.count
        if changes.count == DJLimits.heldChanges || byteCount + size > DJLimits.heldChangeBytes { self = Self() }
        changes.append(change)
        byteCount += size
    }

    /// Removes and returns the changes, in order of arrival.
    mutating func take() -> [HostChange] {
        defer { self = Self() }
        return changes
    }
}
