// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshNode
import ServiceLifecycle

/// A node and what is around it: pages, a player. They end when the node has; where one of them fails, the node goes on.
struct NodeService: Service {
    let node: Node
    let surroundings: [any Service]
    let logger: Logger

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in surroundings {
                group.addTask {
                    do {
                        try await service.run()
                    } catch {
                        logger.error("\(type(of: service)) has failed: \(error)")
                    }
                }
            }
            try await node.run()
            try await group.waitForAll()
        }
    }
}

extension NodeService: CustomStringConvertible {
    /// What the service group's log calls it. Without a text of its own it is described by reflection as it starts: the node, its
    /// surroundings and the logger, with all that is in them.
    var description: String { "node" }
}
