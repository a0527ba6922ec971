// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dashboard
import MeshNode

/// `roadmesh guest NAME`
struct GuestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guest", abstract: "Join a host and vote on its music.")

    @Argument(help: "What the host and the other guests see.")
    var name: String

    @Option(help: ArgumentHelp("Join this host only; without it, the first one heard.", valueName: "name-or-id"))
    var host: String?

    @OptionGroup(title: "The page") var page: PageOptions
    @OptionGroup(title: "The node") var options: NodeOptions

    func run() async throws { try await run(recorded: nil) }

    /// Runs the guest, and records its drive where that is wanted.
    func run(recorded recording: RecordingOptions.Checked?) async throws {
        let name = try checkedName(name)
        if let host { _ = try checkedName(host) }
        let address = try page.address()
        var parts = try options.node(.guest, name: name)
        if let recording { parts.record(recording) }
        try await options.run(parts, as: .guest(wanted: host), endOfInput: .quit(.endOfInput)) { [parts] node in
            let recorder = try recording?.begin(node, parts)
            return [try await Page(node, parts, address).dashboard] + (recorder.map { [$0] } ?? [])
        }
    }
}
