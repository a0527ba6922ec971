// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import MeshNode
import TerminalUI

/// `roadmesh scan`
struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "scan", abstract: "List the hosts in reach.")

    @Option(parsing: .unconditional, help: ArgumentHelp("How long to listen.", valueName: "n"))
    var seconds = 5.0

    @OptionGroup var options: NodeOptions

    func run() async throws {
        guard seconds > 0, seconds <= 3_600 else {
            throw SetupProblem(
                .usage, "Cannot listen for \(seconds) seconds; give more than 0 and at most 3600 with --seconds.")
        }
        let node = try options.scanNode()
        let scan = ScanNode(description: node.description, manager: node.manager)
        let reporting = Task {
            await report(scan.output, of: node.description, isJSON: options.json, remark: node.remark)
        }
        do {
            let heard = try await scan.run(for: .seconds(seconds))
            await reporting.value
            if heard.isEmpty {
                throw SetupProblem(
                    .unavailable,
                    "No host was heard in \(seconds.formatted()) s; start one with: roadmesh host \"Dad's Car\"")
            }
        } catch {
            throw SetupProblem.from(error)
        }
    }
}

extension Double {
    /// Without a fraction where it has none.
    fileprivate func formatted() -> String {
        self == rounded() ? String(Int(self)) : String(self)
    }
}
