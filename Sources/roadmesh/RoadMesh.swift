// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import MeshNode
import MusicLibrary
import NodeCore
import TerminalUI

/// The command line.
@main
struct RoadMesh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roadmesh",
        abstract: "Vote on the music in the car, over Bluetooth: no Wi-Fi, no phone network.",
        discussion: """
            One device hosts, the others join as guests and vote. Try it on this machine first:

              roadmesh demo
            """,
        version: RoadMeshVersion.text,
        subcommands: [
            HostCommand.self, GuestCommand.self, ScanCommand.self, DemoCommand.self, DoctorCommand.self,
            ControlCommand.self, PairCommand.self, PingCommand.self, TraceCommand.self, PipeCommand.self,
            FieldTestCommand.self,
        ])

    /// The commands that run a node.
    private static let nodes: Set = ["host", "guest"]

    /// Parses a command line. Throws a `SetupProblem` if the line is wrong. Help and the version are errors of the
    /// parser.
    static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
        if arguments.first == "help", let problem = unknownTopic(Array(arguments.dropFirst())) { throw problem }
        do {
            return try parseAsRoot(arguments)
        } catch {
            guard !exitCode(for: error).isSuccess, arguments.first != "help" else { throw error }
            let (command, path) = command(in: arguments)
            let words = Array(arguments.dropFirst(path.count).prefix { !$0.hasPrefix("-") })
            throw SetupProblem(
                .usage,
                noCommand(words, command, path) ?? noQuotes(words, path)
                    ?? "\(ParserMessage(error).sentence) Try: \((["roadmesh"] + path).joined(separator: " ")) --help")
        }
    }

    /// The problem if help is requested for an unknown command. The parser would print the help of the parent command.
    private static func unknownTopic(_ words: [String]) -> SetupProblem? {
        let words = words.filter { !$0.hasPrefix("-") }
        let (above, path) = command(in: words)
        return noCommand(Array(words.dropFirst(path.count)), above, path).map { SetupProblem(.usage, $0) }
    }

    /// A sentence for an unknown command, with the command that the person most likely meant.
    private static func noCommand(
        _ words: [String], _ command: any ParsableCommand.Type, _ path: [String]
    ) -> String? {
        let configuration = command.configuration
        let commands = configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let word = words.first, !commands.isEmpty, configuration.defaultSubcommand == nil else { return nil }
        let meant = CommandReader.nearest(to: word, among: commands).map { "Did you mean \($0)?" }
        return "There is no command \"\((path + [word]).joined(separator: " "))\". "
            + (meant ?? "There are \(commands.joined(separator: ", ")).")
    }

    /// A sentence for a name without quotation marks.
    private static func noQuotes(_ words: [String], _ path: [String]) -> String? {
        guard let command = path.last, nodes.contains(command), words.count > 1 else { return nil }
        return "Put a name of more than one word in quotation marks: "
            + "roadmesh \(path.joined(separator: " ")) \"\(words.joined(separator: " "))\""
    }

    /// The deepest command that a line names, and the words that name it.
    private static func command(in arguments: [String]) -> (any ParsableCommand.Type, path: [String]) {
        var named: any ParsableCommand.Type = self
        var path: [String] = []
        for word in arguments {
            let next = named.configuration.subcommands.first { $0.configuration.commandName == word }
            guard let next else { break }
            named = next
            path.append(word)
        }
        return (named, path)
    }

    /// Remarks on a valid line. If an option is repeated, the last value counts, so that a person can override the
    /// options of a unit or alias.
    static func remarks(_ arguments: [String]) -> [String] {
        let options = arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map { $0.prefix { $0 != "=" } }
        let counts = Dictionary(options.map { ($0, 1) }, uniquingKeysWith: +)
        return counts.filter { $0.value > 1 && $0.key != "--mark" }.keys.sorted().map {
            "\($0) is given more than once; the last one counts."
        }
    }

    /// Runs the command, and exits with the contract's exit codes.
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == Confinement.argument { Confinement.run(Array(arguments.dropFirst())) }
        if arguments.first == FileReaderProgram.argument { FileReaderProgram.run() }
        Confinement.keepCapabilitiesHere()
        // A reader that closes its pipe must not end the music.
        signal(SIGPIPE, SIG_IGN)
        OpenFiles.demandLeast()
        // These calls come before anything that takes time. `fieldtest record host` is a node as well.
        if !nodes.isDisjoint(with: arguments.prefix(3)) {
            EndingSignals.endAtOnce()
            Terminal.speakUTF8()
        }
        do {
            var command = try parsed(arguments)
            for remark in remarks(arguments) { StandardError.write("roadmesh: \(remark)") }
            if var asyncCommand = command as? any AsyncParsableCommand {
                try await asyncCommand.run()
            } else {
                try command.run()
            }
        } catch let problem as SetupProblem {
            StandardError.write("roadmesh: \(problem.sentence)")
            Glibc.exit(problem.exitCode.rawValue)
        } catch is CancellationError {
            // Ctrl-C needs no message.
            Glibc.exit(SetupProblem.ExitCode.interrupted.rawValue)
        } catch {
            // Help and the version are not errors. An `ExitCode` has already been explained.
            guard !exitCode(for: error).isSuccess, !(error is ExitCode) else { exit(withError: error) }
            StandardError.write("roadmesh: \(ParserMessage(error).sentence)")
            Glibc.exit(exitCode(for: error).rawValue)
        }
    }
}
