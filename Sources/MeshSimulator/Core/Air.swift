// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore

/// What carries the data of a simulation's nodes, and what its people do.
///
/// A simulation has one of two kinds: the `Links` of a world with faults, and the `Ground` of a field with distances. An
/// air performs the actions of nodes that concern radios and screens, and feeds nodes the events of their radios.
protocol Air {
    /// An event that only this air has.
    associatedtype Event
    /// The parameters of a run.
    associatedtype Scenario
    /// What the people of all nodes do, and what is checked and counted.
    associatedtype People

    /// Number of violations that are kept. A simulation with one ends at the first.
    static var keptViolations: Int { get }

    /// Performs an event.
    static func handle(_ event: Event, in simulator: inout Simulator<Self>)
    /// Performs an action of a node. `link` is the link of the event that has caused it.
    static func perform(
        _ action: NodeCore.Action, of node: Int, on link: MeshCore.LinkID?, in simulator: inout Simulator<Self>)
    /// A node has finished an event: it reads what it has left unread, and is checked.
    static func goOn(_ node: Int, on link: MeshCore.LinkID?, in simulator: inout Simulator<Self>)
    /// A node's write begins. Returns the microseconds that it takes.
    static func beginWrite(_ node: Int, in simulator: inout Simulator<Self>) -> Int
    /// A write reaches the disk. Its node may have ended.
    static func commit(_ batch: StoreBatch, of node: Int, in simulator: inout Simulator<Self>)
    /// A node knows the result of its write.
    static func wrote(_ node: Int, isRefused: Bool, in simulator: inout Simulator<Self>)
}
