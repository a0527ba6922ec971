// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// An entry of a world's calendar. The seed determines the order of events at the same time. Events that need an order,
/// such as the SDUs of one channel, keep it themselves.
struct WorldEntry: Timed {
    var at: Duration
    var tie: UInt64
    var event: Event

    func isBefore(_ other: WorldEntry) -> Bool { at == other.at ? tie < other.tie : at < other.at }
}

/// An event of a world. A killed node begins another life, and does not get events of the last one.
enum Event {
    // Air
    /// One end of a channel learns that it is open, or that it is closed.
    case opens(channel: Int, end: Int)
    case closes(channel: Int, end: Int)
    /// An SDU of this end arrives at the other end.
    case arrives(channel: Int, from: Int)
    /// A node can send.
    case pulls(channel: Int, end: Int)
    /// A node closes its end of a channel.
    case shuts(channel: Int, end: Int)
    case hears(node: Int)
    case dials(node: Int, life: Int, dial: Int)
    case dialFails(node: Int, life: Int, dial: Int)
    // Nodes
    case tick(node: Int, life: Int, due: Duration)
    case written(node: Int, life: Int)
    /// A source other than the links has an answer or an event for a node.
    case tells(node: Int, life: Int, NodeCore.Event)
    case starts(node: Int)
    /// A node is killed, and its store is lost.
    case losesStore(node: Int)
    case ends(node: Int, life: Int)
    /// A node that has ended is gone.
    case gone(node: Int, life: Int)
    // People
    case acts
    /// A person gives a command.
    case says(node: Int, NodeInput)
    /// A road has a vote.
    case votes
    /// The person at a guest without a host tries again.
    case retries(node: Int)
    case browser(Int, BrowserEvent)
    // Faults
    case fault
    case rangeReturns(guest: Int)
    /// A road leads a guest out of range.
    case rangeEnds(guest: Int)
    case directionReturns(channel: Int, from: Int)
    case adapterReturns(node: Int)
    case hostileLeaves(channel: Int, end: Int)
    case quiet
    case looks

    /// Adds this event to a hash.
    func fold(into hash: inout TraceHash) {
        switch self {
        case .opens(let channel, let end): hash.add([1, channel, end])
        case .closes(let channel, let end): hash.add([2, channel, end])
        case .arrives(let channel, let from): hash.add([3, channel, from])
        case .pulls(let channel, let end): hash.add([4, channel, end])
        case .shuts(let channel, let end): hash.add([5, channel, end])
        case .hears(let node): hash.add([6, node])
        case .dials(let node, _, let dial): hash.add([7, node, dial])
        case .dialFails(let node, _, let dial): hash.add([8, node, dial])
        case .tick(let node, _, _): hash.add([9, node])
        case .written(let node, _): hash.add([10, node])
        case .tells(let node, _, _): hash.add([11, node])
        case .starts(let node): hash.add([12, node])
        case .ends(let node, _): hash.add([13, node])
        case .gone(let node, _): hash.add([14, node])
        case .acts: hash.add([15])
        case .says(let node, _): hash.add([16, node])
        case .votes: hash.add([17])
        case .retries(let node): hash.add([18, node])
        case .fault: hash.add([19])
        case .rangeReturns(let guest): hash.add([20, guest])
        case .rangeEnds(let guest): hash.add([21, guest])
        case .directionReturns(let channel, let from): hash.add([22, channel, from])
        case .adapterReturns(let node): hash.add([23, node])
        case .hostileLeaves(let channel, let end): hash.add([24, channel, end])
        case .quiet: hash.add([25])
        case .looks: hash.add([26])
        case .losesStore(let node): hash.add([27, node])
        case .browser(let browser, let event): hash.add([28, browser, event.kind])
        }
    }
}
