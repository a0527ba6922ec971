// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Dashboard
import DemocracyDJ
import MeshNode
import ServiceLifecycle
import TerminalUI

extension NodeOptions {
    /// Runs a host or a guest of these parts, and what is around it, to its end (`NodeSession`). `endOfInput` is what the
    /// end of its input means.
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
        // The folder's lock goes with the last use of it: the node has had it until here.
        withExtendedLifetime(parts.kept) {}
    }
}

extension SetupProblem {
    /// The problem that an error of a starting node is.
    static func from(_ error: any Error) -> any Error {
        (error as? RadioError).map { SetupProblem($0) } ?? error
    }
}

/// What can be typed at a running node, for its help and its manual page.
func typed(_ user: NodeCommand.User, isRecorded: Bool = false) -> String {
    let help = CommandReader(user, isRecorded: isRecorded).help(isComplete: true)
    return (["While it runs, these can be typed:", ""] + help.dropLast() + [""] + help.suffix(1)).joined(
        separator: "\n")
}
