// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import MeshNode
import TerminalUI

/// The command line.
@main
struct RoadMesh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roadmesh",
        abstract: "Vote on the music in the car, over Bluetooth: no Wi-Fi, no phone network.",
        discussion: """
            One box hosts, the others join as guests and vote. Try it on this machine first:

              roadmesh demo
            """,
        version: RoadMeshVersion.text,
        subcommands: [
            HostCommand.self, GuestCommand.self, ScanCommand.self, DemoCommand.self, DoctorCommand.self,
            PairCommand.self, FieldTestCommand.self,
        ])

    /// Parses a command line. What people often type is told by what they meant.
    static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
        do {
            return try parseAsRoot(arguments)
        } catch {
            let words = arguments.prefix { !$0.hasPrefix("-") }
            let commands = configuration.subcommands.compactMap { $0.configuration.commandName }
            guard let command = words.first, command != "help" else { throw error }
            guard commands.contains(command) else {
                let meant = CommandReader.nearest(to: command, among: commands).map { "Did you mean \($0)?" }
                throw SetupProblem(
                    .usage,
                    "There is no command \"\(command)\". \(meant ?? "There are \(commands.joined(separator: ", ")).")")
            }
            guard ["host", "guest"].contains(command), words.count > 2 else { throw error }
            throw SetupProblem(
                .usage,
                "A name of more than one word stands in quotation marks: "
                    + "roadmesh \(command) \"\(words.dropFirst().joined(separator: " "))\"")
        }
    }

    /// Runs the command, and ends with the contract's exit codes.
    static func main() async {
        // A reader that closes its pipe must not end the music.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try parsed(Array(CommandLine.arguments.dropFirst()))
            if var asyncCommand = command as? any AsyncParsableCommand {
                try await asyncCommand.run()
            } else {
                try command.run()
            }
        } catch let problem as SetupProblem {
            StandardError.write("roadmesh: \(problem.sentence)")
            Glibc.exit(problem.exitCode.rawValue)
        } catch is CancellationError {
            // Ctrl-C: who typed it knows.
            Glibc.exit(128 + SIGINT)
        } catch {
            exit(withError: error)
        }
    }
}
