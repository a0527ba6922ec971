// SPDX-License-Identifier: Apache-2.0

/// Changes that have come while a guest waits for the whole state. Behind a relay the whole comes another way than they do, so what
/// was made after it may be here before it: the host is not asked again for what is here.
public struct HeldChanges: Hashable, Sendable {
    private var changes: [HostChange] = []
    private var byteCount = 0

    /// None.
    public init() {}

    /// Keeps one more. Beyond `DJLimits.heldChanges` and `heldChangeBytes` those before it go: what follows them would have to be
    /// asked for in any case.
    mutating func hold(_ change: HostChange) {
        let size = MeshMessage.stateChange(change).encoded.count
        if changes.count == DJLimits.heldChanges || byteCount + size > DJLimits.heldChangeBytes { self = Self() }
        changes.append(change)
        byteCount += size
    }

    /// What came, in order. Nothing is held any more.
    mutating func take() -> [HostChange] {
        defer { self = Self() }
        return changes
    }
}
