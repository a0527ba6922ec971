// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Bearers
import FieldTest
import Glibc
import MeshNode
import MeshProtocol
import MeshSession
import TerminalUI

/// `roadmesh pipe HOST` and `roadmesh pipe --listen NAME`
struct PipeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pipe", abstract: "Connect standard input and output of two machines.",
        usage: """
            roadmesh pipe --listen NAME [--socket PLACE] [options]
            roadmesh pipe HOST [--socket PLACE] [options]
            """,
        discussion: """
            One side listens under a name, and the other calls it:

              roadmesh pipe --listen laptop > backup.tar
              tar c . | roadmesh pipe laptop

            The session is encrypted, and continues after each gap. The exit code is 0 on both sides if every byte has arrived and \
            is written, and 74 if the transfer is incomplete.
            """)

    @Argument(
        help: ArgumentHelp("The listener, by its name or the first eight digits of its id.", valueName: "host"))
    var host: String?

    @Option(help: ArgumentHelp("Wait for a caller under this name.", valueName: "name"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "Connections instead of standard input and output. The caller listens there, and the listener connects to it: a "
                + "port, HOST:PORT, or the path of a Unix socket.", valueName: "place"))
    var socket: SocketPlace?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds to look for the listener, and the longest gap of either side, at most 86400.", valueName: "seconds"
        ))
    var wait = Seconds<Waits>(PipeLimits.wait)

    @Flag(
        inversion: .prefixedNo,
        help: "Show the progress on standard error. Default: yes on a terminal.")
    var progress: Bool?

    @OptionGroup(title: "Who may call") var access: PipeAccess
    @OptionGroup(title: "The node") var options: NodeOptions
    @OptionGroup(title: "The broker") var broker: BrokerOptions

    /// The service of all pipes. Nodes of a jukebox do not see them.
    private static let service = "roadmesh-pipe"

    func validate() throws {
        guard (host == nil) != (listen == nil) else {
            throw ValidationError("Give either the name of a listener, or --listen with a name for this one.")
        }
        guard !access.requireBond || listen != nil else {
            throw ValidationError("Use --require-bond with --listen.")
        }
    }

    func run() async throws {
        var options = options
        // A pipe has a service of its own, so that guests of a jukebox do not see it.
        if options.service == ServiceType.democracyDJ.text { options.service = Self.service }
        let shows = progress ?? (isatty(STDERR_FILENO) == 1)
        let reporter = PipeReporter(isJSON: options.json, showsProgress: shows)
        do {
            let (end, fault, other) =
                listen == nil ? try await call(options, reporter) : try await answer(options, reporter)
            await reporter.end()
            if let problem = SetupProblem(end, with: other, fault, isSocket: socket != nil, wait: wait.duration) {
                throw problem
            }
            await reporter.bye(end == .interrupted ? SetupProblem.ExitCode.interrupted.rawValue : EXIT_SUCCESS, nil)
            if end == .interrupted { throw CancellationError() }
        } catch {
            let error = refusal(error) ?? SetupProblem.from(error)
            if let problem = error as? SetupProblem { await reporter.bye(problem.exitCode.rawValue, problem.sentence) }
            throw error
        }
    }

    private func refusal(_ error: any Error) -> SetupProblem? {
        guard case MeshCoreError.refused(let reason) = error else { return nil }
        return SetupProblem(reason, by: host ?? "The listener")
    }

    private typealias Outcome = (end: PipeEnd, fault: PipeFault?, other: String)

    // MARK: Calling

    private func call(_ options: NodeOptions, _ reporter: PipeReporter) async throws -> Outcome {
        let host = try checkedHost(host ?? "")
        let node = try LinkNode(options, at: broker, .guest, name: hostName())
        let secret = try access.pin.map(checkedPIN)
        let guest = node.guest(wanting: host, secret: secret, patience: wait.duration, usesRelays: false)
        let name = (0..<PipeLimits.sessionBytes).map { _ in UInt8.random(in: .min ... .max) }
        let poller = try makePoller()
        let listener = try socket.map { SocketListener(try $0.listen(), poller: poller) }
        defer {
            listener?.close()
            if listener != nil { socket?.release() }
        }
        let runner =
            listener == nil
            ? PipeRunner(PipeSession(calling: name, .standard), standard: StandardEnds(), endsWithOther: isKeyboard)
            : PipeRunner(PipeSession(calling: name, .socket), connect: nil)
        await reporter.begin(node.node.description.peer) { await runner.progress }
        let signals = LinkSignals.watch { await runner.interrupt() }
        let watching = Task { await reporter.watch(guest) }
        let accepting = Task {
            await runner.untilBegun()
            while let ends = await listener?.next() { await runner.accepted(ends) }
        }
        defer { for task in [signals, watching, accepting] { task.cancel() } }
        let end = try await PipeCaller(guest: guest, runner: runner).run()
        withExtendedLifetime(node.folder) {}
        return (end, await runner.fault, await guest.host?.displayName ?? host)
    }

    /// A person at the keyboard has nothing to add when the other side has sent everything.
    private var isKeyboard: Bool { isatty(STDIN_FILENO) == 1 }

    private func makePoller() throws -> Poller {
        do {
            return try Poller()
        } catch {
            throw SetupProblem(error)
        }
    }

    // MARK: Listening

    private func answer(_ options: NodeOptions, _ reporter: PipeReporter) async throws -> Outcome {
        let name = try checkedName(listen ?? "", of: "--listen")
        let pin = try access.secret()
        let node = try LinkNode(options, at: broker, .host, name: name.text, demands: access.demands)
        if access.pin == "auto", let digits = pin?.pin { StandardError.write("roadmesh: The PIN is \(digits).") }
        var core = MeshCore(
            identity: node.node.identity, name: name.text, service: node.node.description.service)
        core.admissionPolicy = AdmissionPolicy(pin: pin)
        let endpoint = MeshEndpoint(core: core, logger: node.node.logger)
        let target = try socket?.addresses(isListening: false)
        let poller = try makePoller()
        let connect: PipeRunner.Connect = { () async throws(PipeFault) in
            var fault = PipeFault(errno: ECONNREFUSED)
            for address in target ?? [] {
                do throws(PipeFault) {
                    return try await address.connect(poller)
                } catch {
                    fault = error
                }
            }
            throw fault
        }
        let (isSocket, isKeyboard) = (target != nil, isKeyboard)
        let listener = PipeListener(
            endpoint, kind: isSocket ? .socket : .standard, patience: wait.duration,
            show: { event in Task { await reporter.show(event) } },
            makeRunner: { session in
                isSocket
                    ? PipeRunner(session, connect: connect)
                    : PipeRunner(session, standard: StandardEnds(), endsWithOther: isKeyboard)
            })
        await reporter.begin(node.node.description.peer) { await listener.progress }
        let signals = LinkSignals.watch { await listener.interrupt() }
        defer { signals.cancel() }
        let end = try await listener.run(on: node.node.manager)
        withExtendedLifetime(node.folder) {}
        return (end, await listener.fault, "The caller")
    }
}

/// Who may call a listener, and what a caller proves.
struct PipeAccess: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Six digits that both sides must know. With --listen, auto chooses them.", valueName: "digits|auto"))
    var pin: String?

    @Flag(help: "Admit only devices that this one is bonded with; see roadmesh pair.")
    var requireBond = false

    /// The flags that a dialling node must know in advance.
    var demands: AdvertisedFlags.Critical {
        var demands: AdvertisedFlags.Critical = requireBond ? [.bond] : []
        if pin != nil { demands.insert(.proof) }
        return demands
    }

    /// The PIN of a listener, if one is wanted.
    func secret() throws(SetupProblem) -> JoiningSecret? {
        try chosenPIN(pin)
    }
}

extension SetupProblem {
    /// The problem of a session that has ended. Nil if it is complete, or if a person has stopped it.
    init?(_ end: PipeEnd, with other: String, _ fault: PipeFault?, isSocket: Bool, wait: Duration) {
        let seconds = Format.number(wait / .seconds(1), digits: 0)
        switch end {
        case .complete, .interrupted: return nil
        case .stopped: self.init(.unavailable, "\(other) has stopped.")
        case .cutShort(isLost: true):
            self.init(.incomplete, "\(other) was out of range for \(seconds) s, so the transfer is incomplete.")
        case .cutShort(isLost: false):
            self.init(.incomplete, "\(other) has stopped before the end, so the transfer is incomplete.")
        case .broken(isHere: true):
            self.init(
                .incomplete,
                "Standard input or output has failed (\(fault?.text ?? "unknown")), so the transfer is incomplete.")
        case .broken(isHere: false):
            self.init(.incomplete, "\(other) cannot read or write its file, so the transfer is incomplete.")
        case .refused(.busy): self.init(.unavailable, "\(other) serves another caller; try again later.")
        case .refused(.otherKind):
            self.init(
                .unavailable,
                isSocket
                    ? "\(other) listens without --socket; use --socket on both sides or on neither."
                    : "\(other) listens with --socket; use --socket on both sides or on neither.")
        case .refused(.restarted), .refused(.other):
            self.init(.unavailable, "\(other) does not accept this session; start both sides again.")
        case .unanswered:
            self.init(notReached: other, within: wait)
        }
    }
}
