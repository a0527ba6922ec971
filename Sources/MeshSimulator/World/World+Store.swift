// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What each node writes to its disk, one transaction after another.
///
/// It keeps to the two rules of a store (`docs/protocol.md`, "Resend and resume"): a message is on disk before its sender is
/// told that it was taken, and before it leaves; what was received is on disk before it is acknowledged.
extension World {
    mutating func write(_ write: Write, _ node: Int) {
        nodes[node].writes.append(write)
        if nodes[node].writes.count == 1 { beginWrite(node) }
    }

    /// What has arrived is to be written. What waits for the disk anyway takes it along.
    mutating func writeReceipt(_ node: Int, _ message: ReceivedMessage, _ number: Int?) {
        guard let remembered = nodes[node].core?.remembered(message.peer) else { return }
        var receipt = Write.Receipt(
            peer: message.peer, remembered: remembered, last: message, messages: number.map { [$0] } ?? [])
        if nodes[node].writes.count > 1, case .receipt(let last)? = nodes[node].writes.last, last.peer == receipt.peer,
            last.last.epoch == message.epoch
        {
            receipt.messages = last.messages + receipt.messages
            nodes[node].writes[nodes[node].writes.count - 1] = .receipt(receipt)
        } else {
            write(.receipt(receipt), node)
        }
    }

    private mutating func beginWrite(_ node: Int) {
        schedule(.written(node: node, life: nodes[node].life), after: random.time(scenario.writeTime))
    }

    /// A write is on disk, and the node goes on from there; or there was no room for what was cast.
    mutating func written(_ node: Int, _ life: Int) {
        guard nodes[node].life == life, !nodes[node].writes.isEmpty else { return }
        let write = nodes[node].writes.removeFirst()
        var isFull = false
        if case .cast(let cast) = write, !isQuiet, random.chance(2) {
            isFull = true
            withdraw(node, cast.peer)
        }
        if !nodes[node].writes.isEmpty { beginWrite(node) }
        guard !isFull else { return }
        commit(write, node)
        switch write {
        case .cast(let cast):
            for (numbered, _) in cast.messages { ledger.taken(numbered.message) }
            guard let last = cast.messages.last?.numbered.number else { return }
            act(node) { core, _ in core.stored(upTo: last, for: cast.peer) }
        case .trim: break
        case .receipt(let receipt):
            act(node) { core, _ in core.accept(upTo: receipt.last) }
            if node == 0, random.chance(50) { broadcast() }
        }
    }

    /// A write is on disk, whether its node lives or not.
    mutating func commit(_ write: Write, _ node: Int) {
        switch write {
        case .cast(let cast): nodes[node].store.keepCast(cast)
        case .trim(let peer, let number): nodes[node].store.trim(peer, upTo: number)
        case .receipt(let receipt):
            nodes[node].store.keepReceipt(receipt)
            for message in receipt.messages { broken(ledger.safe(message), nodes[node].name, "message \(message)") }
        }
    }

    /// The disk is full. What is not written yet of what was said to a peer is not said, and its sender is told.
    private mutating func withdraw(_ node: Int, _ peer: Peer.ID) {
        let count = nodes[node].core?.withdrawHeld(for: peer) ?? 0
        nodes[node].writes.removeAll { write in
            if case .cast(let cast) = write { cast.peer == peer } else { false }
        }
        let withdrawn = nodes[node].numbered[peer]?.suffix(count).map(\.message) ?? []
        nodes[node].numbered[peer]?.removeLast(withdrawn.count)
        for message in withdrawn { ledger.refused(message) }
        trace(node, "has no room on its disk for \(withdrawn)")
        hash.add([102, node] + withdrawn)
    }

    /// The core gets what an application wants to say, and numbers it. It leaves when it is written.
    mutating func give(_ messages: [(message: Int, body: [UInt8])], _ node: Int, to peer: Peer.ID) {
        var taken: [(NumberedMessage, [UInt8])] = []
        for (message, body) in messages {
            guard let (sending, actions) = nodes[node].core?.send(body, as: .reliable, to: peer) else { continue }
            carryOut(actions, node)
            guard case .queued(let number) = sending else {
                trace(node, "message \(message) is not taken: \(sending)")
                ledger.refused(message)
                continue
            }
            trace(node, "message \(message) is number \(number)")
            hash.add([101, node, message, Int(number)])
            taken.append((NumberedMessage(number: number, message: message), body))
        }
        nodes[node].numbered[peer, default: []] += taken.map(\.0)
        guard !taken.isEmpty, let remembered = nodes[node].core?.remembered(peer) else { return }
        write(.cast(Write.Cast(peer: peer, remembered: remembered, messages: taken)), node)
    }
}
