// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Pauses after failures of relays, and of hosts that did not answer a dial. Others are preferred during a pause.
struct RelayPauses: Sendable {
    private struct Pause: Sendable {
        var count = 0
        var last = MeshInstant.zero
        var until = MeshInstant.zero
    }

    /// The pauses of relays, by the heads of the relays' identifiers.
    private var pauses: [Peer.ID: Pause] = [:]

    /// The end of a node's pause. Nil if it has not failed. The only relay to a host has a short pause.
    func end(of head: Peer.ID, isOnlyRelay: Bool) -> MeshInstant? {
        pauses[head].map { pause in
            isOnlyRelay ? min(pause.until, pause.last + NodeLimits.onlyRelayPause) : pause.until
        }
    }

    /// A relay has no route at present.
    mutating func leadsNowhere(_ head: Peer.ID, now: MeshInstant) {
        var pause = pauses[head] ?? Pause()
        pause.until = max(pause.until, now + NodeLimits.failedRelayPause / 2)
        store(pause, of: head, now: now)
    }

    /// A dial or a circuit has failed. The pause is longer each time. Failures of long ago do not count.
    mutating func failed(_ head: Peer.ID, now: MeshInstant) {
        var pause = pauses[head] ?? Pause()
        if now > pause.until + NodeLimits.relayFailureMemory { pause.count = 0 }
        pause.until = now + min(NodeLimits.failedRelayPause * (1 << min(pause.count, 6)), NodeLimits.longestRelayPause)
        pause.count += 1
        store(pause, of: head, now: now)
    }

    private mutating func store(_ pause: Pause, of head: Peer.ID, now: MeshInstant) {
        if pauses.count >= NodeLimits.failedRelays, pauses[head] == nil,
            let first = pauses.min(by: { ($0.value.until, $0.key) < ($1.value.until, $1.key) })?.key
        {
            pauses[first] = nil
        }
        pauses[head] = Pause(count: pause.count, last: now, until: pause.until)
        assert(pauses.count <= NodeLimits.failedRelays)
    }
}
