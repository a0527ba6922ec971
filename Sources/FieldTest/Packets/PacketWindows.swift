// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore

/// Decides which times of a drive are written as files of packets: the ten seconds around each loss of a link, and the
/// ten seconds around each return. Times that overlap become one file. It reads no clock.
struct PacketWindows {
    /// A time of the drive, which becomes one file.
    struct Window: Hashable {
        var from: ContinuousClock.Instant
        var to: ContinuousClock.Instant
    }

    private var waiting: [Window] = []
    /// Heads of the peers whose link was lost.
    private var lost: Set<String> = []

    /// Handles a step of a peer.
    mutating func take(_ contact: Encounter) {
        let head = Identity.head(of: contact.peer.id)
        switch contact.phase {
        case .lost where contact.silence != nil:
            guard lost.count < FieldTestLimits.packetPeers || lost.contains(head) else { return }
            lost.insert(head)
            want(contact.at)
        // One side has left: that is not a gap.
        case .lost: lost.remove(head)
        case .resumed: if lost.remove(head) != nil { want(contact.at) }
        case .heard, .dialled, .current: break
        }
    }

    /// The windows that have ended, the oldest first.
    mutating func due(now: ContinuousClock.Instant) -> [Window] {
        let due = waiting.filter { $0.to <= now }
        waiting.removeAll { $0.to <= now }
        return due
    }

    /// Ends all windows: the drive is over.
    mutating func end(now: ContinuousClock.Instant) -> [Window] {
        let all = waiting.map { Window(from: $0.from, to: min($0.to, now)) }
        waiting = []
        return all
    }

    private mutating func want(_ moment: ContinuousClock.Instant) {
        let window = Window(from: moment - FieldTestLimits.packetsAround, to: moment + FieldTestLimits.packetsAround)
        guard let last = waiting.last, window.from <= last.to,
            window.to - last.from <= FieldTestLimits.packetWindow
        else { return waiting.append(window) }
        waiting[waiting.count - 1].to = max(last.to, window.to)
        waiting[waiting.count - 1].from = min(last.from, window.from)
    }
}
