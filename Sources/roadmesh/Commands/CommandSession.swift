// SPDX-License-Identifier: Apache-2.0

import BLETransport
import DemocracyDJ
import FoundationEssentials
import Glibc
import MeshNode
import ServiceLifecycle
import TerminalUI

/// A host or a guest in this process: its input lines, its output, the system's signals, and its end.
struct CommandSession {
    let options: NodeOptions
    let parts: NodeOptions.Node

    /// Runs a node, and what is around it, until it has stopped and everything it told is shown. `endOfInput` is what the
    /// end of its input means.
    func run(
        _ part: DJNode.Part, library: [Song] = [], endOfInput: NodeInput?,
        around: (DJNode) async throws -> [any Service]
    ) async throws {
        let node = try parts.djNode(part)
        let surroundings = try await around(node)
        let showing = Task {
            if options.json {
                await showToProgram(node, endOfInput)
            } else {
                await people(node, library, endOfInput).run()
            }
        }
        do {
            try await services(node, surroundings).run()
        } catch {
            // What is said on standard error comes when the prompt has gone.
            showing.cancel()
            await Self.wait(for: showing)
            throw SetupProblem.from(error)
        }
        await Self.wait(for: showing)
        // The folder's lock goes with the last use of it: the node has had it until here.
        withExtendedLifetime(parts.kept) {}
    }

    /// Waits until everything is shown; or not, where nobody reads it: a reader that stands still does not keep a program
    /// that was told to end from ending.
    private static func wait(for showing: Task<Void, Never>) async {
        let alarm = Task {
            try? await Task.sleep(for: NodeLimits.lastWords)
            if !Task.isCancelled { Glibc.exit(EXIT_SUCCESS) }
        }
        await showing.value
        alarm.cancel()
    }

    private func showToProgram(_ node: DJNode, _ endOfInput: NodeInput?) async {
        let (role, isRecorded) = (parts.description.role, parts.description.isRecorded)
        let listening = Task {
            for await line in InputLines().lines() {
                let input =
                    isRecorded
                    ? NodeInput(recordedLine: line, role)
                    : role == .host ? NodeInput(hostLine: line) : NodeInput(guestLine: line)
                if let input { await node.send(input) }
            }
            if let endOfInput { await node.send(endOfInput) }
        }
        await report(node.output, with: options.reporter(for: parts))
        listening.cancel()
    }

    private func people(_ node: DJNode, _ library: [Song], _ endOfInput: NodeInput?) -> PeopleSession {
        PeopleSession(
            node, parts.description, library: library, endOfInput: endOfInput, remark: parts.remark,
            live: parts.logLines.map {
                (usesColour: Terminal.usesColour(ProcessInfo.processInfo.environment), logLines: $0)
            })
    }

    private func services(_ node: DJNode, _ surroundings: [any Service]) -> ServiceGroup {
        let service = NodeService(node: node, surroundings: surroundings, logger: parts.logger)
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
            gracefulShutdownSignals: [.sigterm, .sigint, .sighup], logger: parts.logger)
        configuration.maximumGracefulShutdownDuration = NodeLimits.shutdown
        return ServiceGroup(configuration: configuration)
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
