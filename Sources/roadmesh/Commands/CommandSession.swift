// SPDX-License-Identifier: Apache-2.0

import AsyncAlgorithms
import BLETransport
import MeshNode
import UnixSignals

/// What a host and a guest have in common: input lines, signals, output, and an end.
struct CommandSession {
    let options: NodeOptions
    let node: NodeOptions.Node

    /// Runs a node until it has stopped and everything it told is shown.
    func run<Input: Sendable>(
        output: AsyncStream<NodeEvent>, endOfInput: Input?, terminated: Input,
        parse: @escaping @Sendable (String) -> Input?,
        _ body: (AsyncChannel<Input>) async throws -> Void
    ) async throws {
        let reporter = options.reporter(for: node)
        let reporting = Task { await report(output, with: reporter) }
        let inputs = AsyncChannel<Input>()
        let listening = Task {
            for await line in InputLines().lines() {
                if let input = parse(line) { await inputs.send(input) }
            }
            if let endOfInput { await inputs.send(endOfInput) }
        }
        let signals = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup) {
                await inputs.send(terminated)
            }
        }
        defer {
            listening.cancel()
            signals.cancel()
        }
        do {
            try await body(inputs)
        } catch {
            throw SetupProblem.from(error)
        }
        await reporting.value
        // The folder's lock goes with the last use of it: the node has had it until here.
        withExtendedLifetime(node.folder) {}
    }
}

extension NodeOptions {
    /// Who shows the events of a node, with what is to be said before.
    func reporter(for node: Node) -> any Reporter {
        var reporter: any Reporter = json ? JSONReporter() : TerminalReporter(node.description)
        if let remark = node.remark { reporter.remark(remark) }
        return reporter
    }
}

extension SetupProblem {
    /// The problem that an error of a starting node is.
    static func from(_ error: any Error) -> any Error {
        (error as? RadioError).map { SetupProblem($0) } ?? error
    }
}
