// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Times the dial of a host that was heard just before. The time shows how often the host advertises. Its advertisement
/// is heard twice: once so that the kernel knows that it is there, and once to be answered. So a dial takes one to two
/// advertising intervals if none is missed, however long bluetoothd took to report the host.
struct DialClock: Sendable {
    private let address: String
    private let began: MeshInstant
    private var linked: MeshInstant?

    /// A dial that begins now. Nil if the host may be out of range, so that its time would be meaningless.
    init?(of address: String, lastHeard: MeshInstant?, now: MeshInstant) {
        guard let lastHeard, now - lastHeard <= RadioLimits.freshHearing else { return nil }
        (self.address, began) = (address, now)
    }

    /// A link to a device has come up.
    mutating func linked(_ address: String, now: MeshInstant) {
        if address == self.address, linked == nil { linked = now }
    }

    /// How long the dial took, once its channel is open. If no event reported the link, the time until now.
    func time(now: MeshInstant) -> DialTime {
        DialTime(milliseconds: Int(((linked ?? now) - began) / .milliseconds(1)))
    }
}

/// The dial times that guests report for this node. The lowest counts: one advertisement in ten is missed, and a guest
/// may have been almost out of range.
struct DialTimes: Sendable {
    private(set) var least: DialTime?

    /// A guest reports its dial time. Returns whether it is the lowest so far.
    mutating func told(_ time: DialTime) -> Bool {
        guard least.map({ time < $0 }) ?? true else { return false }
        least = time
        return true
    }
}
