// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DemocracyDJ
import FoundationEssentials
import Glibc
import MeshNode
import NodeCore
import TerminalUI

/// `roadmesh control "pause"`
struct ControlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "control", abstract: "Send a command to the host that runs on this device.",
        discussion: """
            For scripts of the ignition, reverse gear, a phone call or a home automation:

              roadmesh control pause
              roadmesh control duck
              roadmesh control "duck off"

            The commands are those that can be typed at the host: roadmesh host --help.
            """)

    @Argument(help: "The command, such as pause, \"duck 12\" or \"volume 40\".")
    var command: [String]

    @Option(
        help: ArgumentHelp(
            "The state folder of the running host; without it, the standard one, and for root that of the service.",
            valueName: "dir"),
        completion: .directory)
    var state: String?

    @Flag(help: "One JSON object on standard output instead of sentences.")
    var json = false

    /// The state folder of the package's service.
    private static let serviceFolder = "/var/lib/roadmesh"

    func validate() throws { try refuseEmpty([("--state <dir>", state)]) }

    func run() throws {
        let host = try client()
        let language = Language(environment: ProcessInfo.processInfo.environment)
        // Programs read English.
        var answer = try host.send(
            command.joined(separator: " "), language: (json ? .english : language).rawValue)
        if json {
            answer.at = Date().timeIntervalSince1970
            StandardOutput.write(JSONLine.text(answer))
        } else if answer.exitCode == 0 {
            if !answer.message.isEmpty { StandardOutput.write(answer.message) }
        } else {
            StandardError.write("roadmesh: \(answer.message)")
        }
        guard answer.exitCode != 0 else { return }
        throw ExitCode(answer.exitCode)
    }

    private func client() throws(SetupProblem) -> ControlClient {
        let folder = try NodeOptions.statePath(state)
        let own = ControlClient(folder: folder)
        guard state == nil, geteuid() == 0, !own.isThere else { return own }
        let service = ControlClient(folder: Self.serviceFolder)
        return service.isThere ? service : own
    }
}
