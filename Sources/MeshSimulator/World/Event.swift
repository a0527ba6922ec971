// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What can happen in a world. A node that was killed lives another life afterwards: what was meant for the last one is
/// not for it.
enum Event: Hashable, Sendable {
    // Air
    /// One end of a channel is told that it is open, or that it is closed.
    case opens(channel: Int, end: Int)
    case closes(channel: Int, end: Int)
    /// An SDU that this end has sent arrives at the other.
    case arrives(channel: Int, from: Int)
    // Links
    /// A node has time to send.
    case pulls(channel: Int, end: Int)
    case timer(node: Int, life: Int, link: Int, due: Duration)
    /// A node closes its end of a channel.
    case shuts(channel: Int, end: Int)
    // Guests
    case hears(node: Int)
    case dials(node: Int, life: Int, dial: Int)
    case dialFails(node: Int, life: Int, dial: Int)
    case policyTimer(node: Int, life: Int, due: Duration)
    case retries(node: Int)
    // Nodes
    case written(node: Int, life: Int)
    case casts
    case starts(node: Int)
    // Faults
    case fault
    case rangeReturns(guest: Int)
    /// A road leads a guest out of reach.
    case rangeEnds(guest: Int)
    case directionReturns(channel: Int, from: Int)
    case adapterReturns(node: Int)
    case hostileLeaves(channel: Int, end: Int)
    case quiet
    case looks
}

extension Event {
    /// Adds this event to a hash.
    func fold(into hash: inout TraceHash) {
        switch self {
        case .opens(let channel, let end): hash.add([1, channel, end])
        case .closes(let channel, let end): hash.add([2, channel, end])
        case .arrives(let channel, let from): hash.add([3, channel, from])
        case .pulls(let channel, let end): hash.add([4, channel, end])
        case .timer(let node, _, let link, _): hash.add([5, node, link])
        case .shuts(let channel, let end): hash.add([6, channel, end])
        case .hears(let node): hash.add([7, node])
        case .dials(let node, _, let dial): hash.add([8, node, dial])
        case .dialFails(let node, _, let dial): hash.add([9, node, dial])
        case .policyTimer(let node, _, _): hash.add([10, node])
        case .retries(let node): hash.add([11, node])
        case .written(let node, _): hash.add([12, node])
        case .casts: hash.add([13])
        case .starts(let node): hash.add([14, node])
        case .fault: hash.add([15])
        case .rangeReturns(let guest): hash.add([16, guest])
        case .directionReturns(let channel, let from): hash.add([17, channel, from])
        case .adapterReturns(let node): hash.add([18, node])
        case .hostileLeaves(let channel, let end): hash.add([19, channel, end])
        case .quiet: hash.add([20])
        case .looks: hash.add([21])
        case .rangeEnds(let guest): hash.add([22, guest])
        }
    }
}

extension LinkEnd {
    /// The end in words, without the names of modules and types: they are for people, and for the hash.
    var words: String {
        switch self {
        case .misbehaved(let how): "misbehaved, \(how)"
        case .refused(let reason): "refused, \(reason)"
        case .left, .goodbye, .replaced, .busy, .linkLost, .silent, .handshakeTimeout: "\(self)"
        }
    }
}

extension LinkEvent {
    /// The event in a few words, without a message's bytes.
    var words: String {
        switch self {
        case .admitted(let peer): "admitted \(peer)"
        case .connected(let peer): "connected to \(peer)"
        case .received(let message): "\(message.messageClass) message \(message.number)"
        case .acknowledged(let number, _): "acknowledged up to \(number)"
        case .latestHasLeft: "state update has left"
        case .roundTrip: "round trip"
        case .ended(_, let end), .failed(_, _, let end): end.words
        }
    }

    /// Adds what a core has told to a hash.
    func fold(into hash: inout TraceHash) {
        switch self {
        case .admitted(let peer): hash.add("admitted \(peer.id)")
        case .connected(let peer): hash.add("connected \(peer.id)")
        case .received(let message):
            hash.add([1, Int(message.number), Int(message.epoch), message.body.count])
        case .acknowledged(let number, let peer): hash.add("acknowledged \(number) \(peer)")
        case .latestHasLeft: hash.add([2])
        case .roundTrip(let time): hash.add(time)
        case .ended(_, let end), .failed(_, _, let end): hash.add(end.words)
        }
    }
}
