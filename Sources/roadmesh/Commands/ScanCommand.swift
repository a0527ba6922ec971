// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import MeshNode
import TerminalUI

/// `roadmesh scan`
struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "scan", abstract: "List the hosts in range.")

    /// The duration of the scan.
    struct Time: ExpressibleByArgument {
        let seconds: Double

        init(_ seconds: Double) { self.seconds = seconds }

        init?(argument: String) {
            guard let seconds = Double(argument), seconds > 0, seconds <= 3_600 else { return nil }
            self.seconds = seconds
        }

        /// The text of the default, without a fraction for a full number of seconds.
        var defaultValueDescription: String {
            seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)
        }
    }

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How many seconds to listen: more than 0, and at most 3600.", valueName: "n"))
    var seconds = Time(5)

    @OptionGroup var options: NodeOptions
    @OptionGroup(title: "The broker") var broker: BrokerOptions

    func run() async throws {
        let node = try options.scanNode(at: broker)
        let scan = ScanNode(description: node.description, manager: node.manager)
        let reporting = Task {
            await report(scan.output, of: node.description, isJSON: options.json, remark: node.remark)
        }
        do {
            let heard = try await scan.run(for: .seconds(seconds.seconds))
            await reporting.value
            if let folder = HeardHosts(try? options.statePath()) {
                for host in heard where host.isHeardItself { folder.add(host.peer) }
            }
            if heard.isEmpty {
                throw SetupProblem(
                    .unavailable,
                    "No host was heard in \(seconds.defaultValueDescription) s; start one with: roadmesh host \"Dad's Car\""
                )
            }
        } catch {
            throw SetupProblem.from(error)
        }
    }
}
