// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// The reliable messages of all nodes, as stored on their disks: what was sent, and what has arrived. It knows the
/// state of all nodes, and reports violations of invariants.
struct Ledger {
    /// The messages of one sender's numbering for one receiver.
    private struct Stream: Hashable {
        var sender: Peer.ID
        var receiver: Peer.ID
        var epoch: UInt32
    }

    private struct Pair: Hashable {
        var sender: Peer.ID
        var receiver: Peer.ID
    }

    /// The messages that were on a sender's disk, by number.
    private var sent: [Stream: [UInt64: [UInt8]]] = [:]
    /// The highest number that a receiver may have acknowledged before its disk was lost.
    private var lost: [Stream: UInt64] = [:]
    /// Numberings that were lost with their sender's disk.
    private var gone: Set<Stream> = []
    /// Peers that have lost their disk. Gaps in their conversations are expected.
    private var losers: Set<Peer.ID> = []
    /// The numbering in which an intruder sends messages that must not be accepted.
    var mute: (sender: Peer.ID, epoch: UInt32)?

    /// The body of a message that is, or was, on its sender's disk.
    func body(_ number: UInt64, from sender: Peer.ID, to receiver: Peer.ID, epoch: UInt32) -> [UInt8]? {
        sent[Stream(sender: sender, receiver: receiver, epoch: epoch)]?[number]
    }

    /// The intents in a batch's receipts whose guests have lost their disks since, and with them the messages.
    func forgottenIntents(in batch: StoreBatch, of receiver: Peer.ID) -> [(guest: Peer.ID, intent: GuestIntent)] {
        batch.receipts.compactMap { receipt in
            guard gone.contains(Stream(sender: receipt.conversation.peer, receiver: receiver, epoch: receipt.epoch)),
                let body = body(receipt.number, from: receipt.conversation.peer, to: receiver, epoch: receipt.epoch),
                case .intent(let intent)? = MeshMessage(encoded: body)
            else { return nil }
            return (receipt.conversation.peer, intent)
        }
    }

    /// The intents in a batch's receipts, in order, without those that came too fast. Of the messages of one step,
    /// these are the last of each guest.
    func intents(in batch: StoreBatch, of receiver: Peer.ID) -> [(guest: Peer.ID, intent: GuestIntent)] {
        var refused: [Peer.ID: [GuestIntent]] = [:]
        for message in batch.outgoing {
            guard case .rejection(let intent, .tooFast)? = MeshMessage(encoded: message.body) else { continue }
            refused[message.conversation.peer, default: []].append(intent)
        }
        let said = batch.receipts.compactMap { receipt -> (guest: Peer.ID, intent: GuestIntent)? in
            let body = body(receipt.number, from: receipt.conversation.peer, to: receiver, epoch: receipt.epoch)
            guard let body, case .intent(let intent)? = MeshMessage(encoded: body) else { return nil }
            return (receipt.conversation.peer, intent)
        }
        var followed: [(guest: Peer.ID, intent: GuestIntent)] = []
        for wish in said.reversed() {
            if let place = refused[wish.guest]?.lastIndex(of: wish.intent) {
                refused[wish.guest]?.remove(at: place)
            } else {
                followed.append(wish)
            }
        }
        return followed.reversed()
    }

    /// A node's write has reached its disk. `before` is the former content of the disk. `disk` returns other nodes'
    /// disks, nil for a stranger.
    mutating func commit(
        _ batch: StoreBatch, of node: Peer.ID, before: StoredNode, disk: (Peer.ID) -> StoredNode?
    ) -> [Finding] {
        var findings: [Finding] = []
        for key in batch.forgotten { forgets(node, key, before) }
        for message in batch.outgoing {
            let stream = Stream(
                sender: node, receiver: message.conversation.peer, epoch: message.remembered.conversation.epoch)
            if gone.contains(stream) { findings.append((.epochReused, "\(stream.epoch) has gone with its disk")) }
            sent[stream, default: [:]][message.number] = message.body
        }
        var heard: [Stream: UInt64] = [:]
        for receipt in batch.receipts {
            let (key, peer) = (receipt.conversation, receipt.conversation.peer)
            let stream = Stream(sender: peer, receiver: node, epoch: receipt.epoch)
            if let mute, mute == (peer, receipt.epoch) {
                findings.append((.outOfOrder, "message \(receipt.number) behind the end of its link"))
            }
            // A peer outside this world may use any numbers.
            guard let sender = disk(peer) else { continue }
            let known = batch.forgotten.contains(key) ? nil : before.remembered[key]?.conversation
            let last = heard[stream] ?? (known?.theirEpoch == receipt.epoch ? known?.accepted : nil)
            heard[stream] = receipt.number
            // A sender may repeat messages that the receiver has forgotten, and a receiver may have messages that the
            // sender has forgotten.
            let isForgotten = gone.contains(stream) || lost[stream] != nil
            let isExcused = isForgotten || losers.contains(peer) || losers.contains(node)
            if let last, receipt.number <= last {
                findings.append((.deliveredTwice, "message \(receipt.number) after \(last)"))
            } else if receipt.number != (last ?? 0) + 1, !isExcused {
                findings.append((.leftOut, "message \(receipt.number) after \(last ?? 0)"))
            }
            let theirs = sender.remembered[key.mirrored(for: node)]?.conversation
            if !isExcused, theirs?.epoch != receipt.epoch || theirs.map({ $0.lastNumber < receipt.number }) != false {
                findings.append((.toldTooEarly, "message \(receipt.number) is not on its sender's disk"))
            }
        }
        return findings
    }

    /// A sender counts everything up to a number of its conversation as arrived. `disk` is the receiver's.
    func acknowledged(
        upTo number: UInt64, in key: ConversationKey, from sender: Peer.ID, epoch: UInt32, disk: StoredNode
    ) -> Finding? {
        let theirs = disk.remembered[key.mirrored(for: sender)]?.conversation
        let safe = theirs?.theirEpoch == epoch ? theirs?.accepted ?? 0 : 0
        let excused = lost[Stream(sender: sender, receiver: key.peer, epoch: epoch)] ?? 0
        return number <= max(safe, excused) ? nil : (.acknowledgedButLost, "message \(number), and \(safe) are safe")
    }

    /// A node has lost its disk, and with it the messages that it has acknowledged.
    mutating func lostStore(_ node: Peer.ID, _ disk: StoredNode) {
        losers.insert(node)
        for key in disk.remembered.keys { forgets(node, key, disk) }
    }

    /// A node has forgotten a conversation: its disk is lost, or its person has removed the peer's key.
    private mutating func forgets(_ node: Peer.ID, _ key: ConversationKey, _ disk: StoredNode) {
        guard let known = disk.remembered[key]?.conversation else { return }
        let stream = Stream(sender: key.peer, receiver: node, epoch: known.theirEpoch)
        lost[stream] = max(lost[stream] ?? 0, known.accepted)
        gone.insert(Stream(sender: node, receiver: key.peer, epoch: known.epoch))
    }
}
