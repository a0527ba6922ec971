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
        guard let remembered = nodes[node].core?.remembered[message.peer] else { return }
        var receipt = Write.Receipt(
            peer: message.peer, remembered: remembered, numbered: nodes[node].numbered[message.peer] ?? [],
            last: message, messages: number.map { [$0] } ?? [])
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

    /// A write is on disk, and the node goes on from there.
    mutating func written(_ node: Int, _ life: Int) {
        guard nodes[node].life == life, !nodes[node].writes.isEmpty else { return }
        let write = nodes[node].writes.removeFirst()
        if !nodes[node].writes.isEmpty { beginWrite(node) }
        carryOut(commit(write, node), node)
        switch write {
        case .cast(let cast):
            for (message, _) in cast.messages { ledger.taken(message) }
        case .trim: break
        case .receipt(let receipt):
            act(node) { core, _ in core.accept(upTo: receipt.last) }
            if node == 0, random.chance(50) { broadcast() }
        }
    }

    /// A write is on disk, whether its node lives or not.
    mutating func commit(_ write: Write, _ node: Int) -> [MeshCore.Action] {
        switch write {
        case .cast(let cast):
            // Whoever stores too late has given them to its core already.
            let actions = bug == .leavesUnstored ? [] : give(cast, node)
            keepOutbox(node, for: cast.peer)
            return actions
        case .trim(let peer): keepOutbox(node, for: peer)
        case .receipt(let receipt):
            nodes[node].store.keepReceipt(receipt)
            for message in receipt.messages { broken(ledger.safe(message), nodes[node].name, "message \(message)") }
        }
        return []
    }

    /// The core gets what an application wants to say, and numbers it.
    mutating func give(_ cast: Write.Cast, _ node: Int) -> [MeshCore.Action] {
        var actions: [MeshCore.Action] = []
        for (message, body) in cast.messages {
            guard let (sending, more) = nodes[node].core?.send(body, as: .reliable, to: cast.peer) else { continue }
            actions += more
            guard case .queued(let number) = sending else {
                trace(node, "message \(message) is not taken: \(sending)")
                ledger.refused(message)
                continue
            }
            trace(node, "message \(message) is number \(number)")
            hash.add([101, node, message, Int(number)])
            nodes[node].numbered[cast.peer, default: []].append(NumberedMessage(number: number, message: message))
        }
        return actions
    }

    private mutating func keepOutbox(_ node: Int, for peer: Peer.ID) {
        guard let remembered = nodes[node].core?.remembered[peer] else { return }
        nodes[node].store.keepOutbox(remembered, nodes[node].numbered[peer] ?? [], for: peer)
    }
}
