// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeStore

/// The reliable messages of all nodes, as their disks have them: what was sent, and what has arrived. It sees what somebody
/// would who knows everything, and says when an invariant is violated.
struct Ledger {
    typealias Finding = (Invariant, String)

    /// The messages of one numbering of a sender's for a receiver.
    private struct Stream: Hashable {
        var sender: Peer.ID
        var receiver: Peer.ID
        var epoch: UInt32
    }

    private struct Pair: Hashable {
        var sender: Peer.ID
        var receiver: Peer.ID
    }

    /// What was on a sender's disk, by number.
    private var sent: [Stream: [UInt64: [UInt8]]] = [:]
    /// Up to here a receiver may have acknowledged what went with its disk.
    private var lost: [Stream: UInt64] = [:]
    /// Numberings that have gone with their sender's disk.
    private var gone: Set<Stream> = []
    /// One of the two has lost its disk: gaps are no wonder.
    private var losers: Set<Peer.ID> = []
    /// In this numbering an intruder sends nothing that may be heard.
    var mute: (sender: Peer.ID, epoch: UInt32)?

    /// The body of a message that is, or was, on its sender's disk.
    func body(_ number: UInt64, from sender: Peer.ID, to receiver: Peer.ID, epoch: UInt32) -> [UInt8]? {
        sent[Stream(sender: sender, receiver: receiver, epoch: epoch)]?[number]
    }

    /// What guests have said before their disks were lost, of what is in a batch's receipts: they do not know of it.
    func forgottenIntents(in batch: StoreBatch, of receiver: Peer.ID) -> [(guest: Peer.ID, intent: GuestIntent)] {
        batch.receipts.compactMap { receipt in
            guard gone.contains(Stream(sender: receipt.conversation.peer, receiver: receiver, epoch: receipt.epoch)),
                let body = body(receipt.number, from: receipt.conversation.peer, to: receiver, epoch: receipt.epoch),
                case .intent(let intent)? = MeshMessage(encoded: body)
            else { return nil }
            return (receipt.conversation.peer, intent)
        }
    }

    /// What a guest wants with the messages of a batch's receipts, in order, but for what came too fast: of one step's messages
    /// that is the last of each.
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

    /// A node's write is on its disk. `before` is what the disk had, `disk` what others' disks have; nil for a stranger.
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
            // A peer that is no node of this world may count as it likes.
            guard let sender = disk(peer) else { continue }
            let known = batch.forgotten.contains(key) ? nil : before.remembered[key]?.conversation
            let last = heard[stream] ?? (known?.theirEpoch == receipt.epoch ? known?.accepted : nil)
            heard[stream] = receipt.number
            // What one of the two has forgotten, the other may still be telling.
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

    /// A sender takes everything up to a number of a conversation of its for arrived. `disk` is the receiver's.
    func acknowledged(
        upTo number: UInt64, in key: ConversationKey, from sender: Peer.ID, epoch: UInt32, disk: StoredNode
    ) -> Finding? {
        let theirs = disk.remembered[key.mirrored(for: sender)]?.conversation
        let safe = theirs?.theirEpoch == epoch ? theirs?.accepted ?? 0 : 0
        let excused = lost[Stream(sender: sender, receiver: key.peer, epoch: epoch)] ?? 0
        return number <= max(safe, excused) ? nil : (.acknowledgedButLost, "message \(number), and \(safe) are safe")
    }

    /// A node's disk is gone, and with it what it had told others that it has.
    mutating func lostStore(_ node: Peer.ID, _ disk: StoredNode) {
        losers.insert(node)
        for key in disk.remembered.keys { forgets(node, key, disk) }
    }

    /// A node knows nothing of a conversation any more: its disk is gone, or its person has had the peer's key forgotten.
    private mutating func forgets(_ node: Peer.ID, _ key: ConversationKey, _ disk: StoredNode) {
        guard let known = disk.remembered[key]?.conversation else { return }
        let stream = Stream(sender: key.peer, receiver: node, epoch: known.theirEpoch)
        lost[stream] = max(lost[stream] ?? 0, known.accepted)
        gone.insert(Stream(sender: node, receiver: key.peer, epoch: known.epoch))
    }
}
