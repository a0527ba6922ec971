// SPDX-License-Identifier: Apache-2.0

import Bearers
import Dashboard
import DemocracyDJ
import MeshNode
import NodeCore
import ServiceLifecycle
import TerminalUI

extension NodeOptions {
    /// Runs a host or a guest and the services around it until it ends (`NodeSession`). `endOfInput` is the input for
    /// the node when its standard input ends.
    func run(
        _ parts: Node, as part: NodeCore.Part, library: [Song] = [], endOfInput: NodeInput?,
        around: (MeshNode.Node) async throws -> (page: Dashboard, others: [any Service])
    ) async throws {
        let node = try parts.makeNode(part)
        let (page, others) = try await around(node)
        let session = NodeSession(
            parts.description, isJSON: json, remark: parts.remark, logLines: parts.logLines, logger: parts.logger,
            links: parts.kept.map { $0.path + "/" + LinksFile.name }, picture: QRCode.lines)
        do {
            try await session.run(node, with: [page] + others, library: library, endOfInput: endOfInput) {
                await page.pageState
            }
        } catch {
            throw SetupProblem.from(error)
        }
        // The folder's lock is released with its last use. The node needs it until here.
        withExtendedLifetime(parts.kept) {}
    }
}

extension SetupProblem {
    /// Translates an error of a starting node into a problem.
    static func from(_ error: any Error) -> any Error {
        (error as? BearerError).map { SetupProblem($0) } ?? error
    }
}

/// The commands that can be typed at a running node, for its help and its manual page.
func typed(_ user: NodeCommand.User, isRecorded: Bool = false) -> String {
    let help = CommandReader(user, isRecorded: isRecorded).help(isComplete: true)
    return (["While it runs, these can be typed:", ""] + help.dropLast() + [""] + help.suffix(1)).joined(
        separator: "\n")
}
