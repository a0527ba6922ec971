// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshNode
import ServiceLifecycle

/// A node and its pages and player. These end when the node ends. If one of them fails, the node continues.
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
    /// The name in the service group's log. Without it, the start would log a reflected description of the node and
    /// everything in it.
    var description: String { "node" }
}
