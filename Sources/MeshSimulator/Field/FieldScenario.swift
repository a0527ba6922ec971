// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// A field before it begins: how many nodes there are, where they stand, and which of them relay.
public struct FieldScenario: Hashable, Sendable {
    /// Decides everything that chance decides.
    public var seed: UInt64 = 1
    /// How many nodes there are, the host among them.
    public var nodes: Int
    /// How they stand.
    public var layout: FieldLayout
    /// How many guests in a hundred relay.
    public var relays = 50
    /// How many in a hundred move at some time or another: cars with all who are in them, or people who walk.
    public var movers = 0
    /// How many nodes in a row share a host; all where it is nil. A party for each car is what there is without relays.
    public var party: Int?

    /// A field of so many nodes.
    public init(nodes: Int, layout: FieldLayout) {
        (self.nodes, self.layout) = (nodes, layout)
    }

    /// Links that an adapter holds: what the controllers of dongles do.
    public static let links = 7
    /// Songs that are voted for. A song has room for `DJLimits.votes`, and a thousand people have theirs in all of these.
    static let songs = 50

    /// The host of a node.
    func host(of node: Int) -> Int { party.map { node / $0 * $0 } ?? 0 }
}
