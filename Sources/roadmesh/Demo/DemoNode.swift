// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import MeshNode
import MeshProtocol
import NodeCore
import Subprocess

/// A line printed by a program of the demo, with the fields of the command-line contract that the demo needs.
struct DemoEvent: Decodable, Sendable {
    var event: String
    var at: Double
    var state: String?
    var reason: String?
    var songID: String?
    var peer: Peer?
    var connectedPeers: [Peer]?
    var queue: [QueueItem]?
    var nowPlaying: Song?
}

/// One program of the demo: this program, started as a host or guest with `--json`. The demo controls it over its
/// pipes, as a script would.
struct DemoNode: Sendable {
    let name: String
    private let arguments: [String]
    private let events: AsyncStream<DemoEvent>
    private let eventSink: AsyncStream<DemoEvent>.Continuation
    private let commands: AsyncStream<String>
    private let commandSink: AsyncStream<String>.Continuation

    init(_ role: String, _ name: String, folder: String, address: String) {
        self.name = name
        arguments = [
            role, name, "--json", "--radio", "virtual", "--air", folder + "/air", "--adapter", address, "--state",
            folder + "/" + address,
        ]
        (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(NodeLimits.outputEvents))
        (commands, commandSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(64))
    }

    /// Runs the program until it ends. Cancelling the task ends it with SIGTERM.
    func run() async throws {
        defer { eventSink.finish() }
        var options = PlatformOptions()
        options.teardownSequence = [.gracefulShutDown(allowedDurationToNextStep: .seconds(2))]
        _ = try await Subprocess.run(
            .path("/proc/self/exe"), arguments: Arguments(arguments), platformOptions: options,
            input: .inputWriter, output: .sequence, error: .discarded
        ) { execution in
            async let writing: Void = {
                for await command in commands {
                    _ = try await execution.standardInputWriter.write(command + "\n")
                }
            }()
            let decoder = JSONDecoder()
            for try await line in execution.standardOutput.strings() {
                let event = try decoder.decode(DemoEvent.self, from: Data(line.utf8))
                eventSink.yield(event)
            }
            commandSink.finish()
            try await writing
            try await execution.standardInputWriter.finish()
        }
    }

    /// Sends a command.
    func say(_ command: String) {
        commandSink.yield(command)
    }

    /// Waits for the next matching event, and skips the events before it.
    func next(where fits: (DemoEvent) -> Bool) async throws -> DemoEvent {
        for await event in events where fits(event) { return event }
        throw SetupProblem(
            .unavailable, "The demo's \"\(name)\" ended too early; run the demo again, or report it as a bug.")
    }
}
