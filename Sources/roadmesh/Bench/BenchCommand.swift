// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bearers
import FieldTest
import FoundationEssentials
import Glibc
import MeshNode
import MeshProtocol
import MeshSession
import NodeCore
import TerminalUI

/// `roadmesh fieldtest bench HOST`
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench", abstract: "Measure the Bluetooth between two machines, and write the result to a file.",
        discussion: """
            Start one machine with --listen and a name, and give the other machine that name. It measures the time to join, \
            round trips, the data rate on each PHY, reconnects, and the recovery after its adapter was switched off. \
            That takes some five minutes. Programs that share the adapter lose their links meanwhile. The file has no names, \
            addresses or positions: docs/radios.md says how to submit it.

            The exit code is 0 after a measurement, and 69 if the listener was not reached or has stopped answering.
            """)

    @Argument(help: "The listener, by its name or the first eight digits of its id.", completion: .heardHosts)
    var host: String?

    @Option(
        help: ArgumentHelp(
            "Wait for callers under this name. Ctrl-C ends it.", valueName: "name"))
    var listen: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The distance between the machines in metres, for the file.", valueName: "metres"))
    var distance: Seconds<BenchDistances>?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds for each direction of each data rate, from 1 to 60.", valueName: "n"))
    var seconds = BoundedNumber<BenchSeconds>(BenchLimits.seconds)

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How many links to end, at most 1000; 0 leaves reconnects out.", valueName: "n"))
    var gaps = BoundedNumber<BenchGaps>(BenchLimits.gaps)

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seconds to look for the listener, at most 86400.", valueName: "seconds"))
    var wait = Seconds<Waits>(BenchLimits.wait)

    @Option(
        help: ArgumentHelp(
            "The file for the result; without it, roadmesh-bench-DAY-TIME.json in this folder.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var output: String?

    @OptionGroup(title: "The node") var options: NodeOptions

    /// The service of all measurements. Nodes of a jukebox do not see them.
    private static let service = "roadmesh-bench"

    func validate() throws {
        try refuseEmpty([("--output <file>", output)])
        guard (host == nil) != (listen == nil) else {
            throw ValidationError("Give either the name of a listener, or --listen with a name for this machine.")
        }
    }

    func run() async throws {
        var options = options
        if options.service == ServiceType.democracyDJ.text { options.service = Self.service }
        // The radio is measured, so no other bearer may carry the session.
        options.lan = .off
        do {
            if let listen { try await answer(listen, options) } else { try await measure(options) }
        } catch {
            throw SetupProblem.from(error)
        }
    }

    // MARK: Listening

    private func answer(_ name: String, _ options: NodeOptions) async throws {
        let name = try checkedName(name, of: "--listen")
        let node = try LinkNode(options, .host, name: name.text)
        let core = MeshCore(identity: node.node.identity, name: name.text, service: node.node.description.service)
        let endpoint = MeshEndpoint(core: core, logger: node.node.logger)
        let machine = await BenchMachine.local(radio: node.node.radio.name)
        let listener = BenchListener(endpoint, machine, show: note)
        let running = Task {
            try await endpoint.host(on: node.node.manager)
            note("Waiting for callers as \"\(name.text)\", with \(machine.text). On the other machine, type:")
            note("roadmesh fieldtest bench \"\(name.text)\"")
            try await listener.run()
        }
        let signals = LinkSignals.watch { await endpoint.stop() }
        defer { signals.cancel() }
        try await running.value
        withExtendedLifetime(node.folder) {}
    }

    // MARK: Measuring

    private func measure(_ options: NodeOptions) async throws {
        let began = ContinuousClock.now
        let host = try checkedHost(host ?? "")
        let path = output ?? Self.defaultFile
        let node = try LinkNode(options, .guest, name: hostName())
        let guest = node.guest(wanting: host, secret: nil, patience: nil, usesRelays: false)
        let machine = await BenchMachine.local(radio: node.node.radio.name)
        let plan = BenchCaller.Plan(
            host: host, distance: distance?.value, rateTime: .seconds(seconds.value), gaps: gaps.value,
            wait: wait.duration)
        let caller = BenchCaller(guest, over: node.node.radio, machine, plan, show: note)
        let measuring = Task { try await caller.run(since: began) }
        let signals = LinkSignals.watch { measuring.cancel() }
        defer { signals.cancel() }
        let result = try await measuring.value
        try write(result, to: path)
        if options.json {
            StandardOutput.write(JSONLine.text(result))
        } else {
            StandardOutput.write((result.summary + ["", "The result is in \(path)."]).joined(separator: "\n"))
        }
        withExtendedLifetime(node.folder) {}
    }

    private static var defaultFile: String {
        let moment = LocalClock.device.minute(Date().timeIntervalSince1970)
        return "roadmesh-bench-" + moment.replacing(" ", with: "-").replacing(":", with: "") + ".json"
    }

    private func write(_ result: BenchResult, to path: String) throws {
        do {
            try writeFile(JSONLine.text(result, isWide: true), path)
        } catch {
            throw SetupProblem(.cannotCreate, "\(path) cannot be written; name another file with --output.")
        }
    }

    /// Progress for a person, on standard error.
    private func note(_ text: String) { if !options.json { StandardError.write(text) } }
}

/// Bounds of `--distance`.
enum BenchDistances: SecondsBounds {
    static let range = 0...BenchLimits.farthest
}

/// Bounds of `--seconds`.
enum BenchSeconds: NumberBounds {
    static let range = 1...BenchLimits.mostSeconds
}

/// Bounds of `--gaps`.
enum BenchGaps: NumberBounds {
    static let range = 0...BenchLimits.mostGaps
}
