// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Times a dial of a host that was heard just before, which says how often the host is on the air: its advertisement is heard
/// twice, once for the kernel to know that it is there, and once to be answered. So a dial takes one to two advertising
/// intervals where none is missed, however long bluetoothd took to tell of the host.
struct DialClock: Sendable {
    private let address: String
    private let began: MeshInstant
    private var linked: MeshInstant?

    /// A dial that begins now. Nil where its time would say nothing: the host may not be there.
    init?(of address: String, lastHeard: MeshInstant?, now: MeshInstant) {
        guard let lastHeard, now - lastHeard <= RadioLimits.freshHearing else { return nil }
        (self.address, began) = (address, now)
    }

    /// A link to a device has come up.
    mutating func linked(_ address: String, now: MeshInstant) {
        if address == self.address, linked == nil { linked = now }
    }

    /// What the dial has taken, when its channel is open; where nobody has told of the link, until then.
    func time(now: MeshInstant) -> DialTime {
        DialTime(milliseconds: Int(((linked ?? now) - began) / .milliseconds(1)))
    }
}

/// What guests say of how long it took to dial this node. The least counts: one advertisement in ten is missed, and a guest may
/// have been almost out of range.
struct DialTimes: Sendable {
    private(set) var least: DialTime?

    /// A guest has told. Whether that is less than what was known.
    mutating func told(_ time: DialTime) -> Bool {
        guard least.map({ time < $0 }) ?? true else { return false }
        least = time
        return true
    }
}
