// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import MeshNode

/// `roadmesh guest NAME`
struct GuestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guest", abstract: "Join a host and vote on its music.")

    @Argument(help: "What the host and the other guests see.")
    var name: String

    @Option(help: ArgumentHelp("Join this host only; without it, the first one heard.", valueName: "name-or-id"))
    var host: String?

    @OptionGroup var options: NodeOptions

    func run() async throws {
        let name = try checkedName(name)
        if let host { _ = try checkedName(host) }
        let session = CommandSession(options: options, parts: try options.node(.guest, name: name))
        try await session.run(.guest(wanted: host), endOfInput: .quit(.endOfInput))
    }
}
