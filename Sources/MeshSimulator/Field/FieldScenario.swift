// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The parameters of a field: the number of nodes, their positions, and the share of relays.
public struct FieldScenario: Hashable, Sendable {
    /// Determines all random decisions.
    public var seed: UInt64 = 1
    /// Number of nodes, including the host.
    public var nodes: Int
    /// The positions of the nodes.
    public var layout: FieldLayout
    /// Percentage of guests that relay.
    public var relays = 50
    /// Percentage of nodes that move at some time: cars with their passengers, or people who walk.
    public var movers = 0
    /// Number of neighbouring nodes that share a host, or nil for one host. Without relays, each car would be a party
    /// of its own.
    public var party: Int?

    /// A field with this many nodes.
    public init(nodes: Int, layout: FieldLayout) {
        (self.nodes, self.layout) = (nodes, layout)
    }

    /// Maximum number of links of an adapter, as in the controllers of dongles.
    public static let links = 7
    /// Number of songs that get votes. A song has room for `DJLimits.votes`, and a thousand people fit in all of these.
    static let songs = 50

    /// The host of a node.
    func host(of node: Int) -> Int { party.map { node / $0 * $0 } ?? 0 }
}
