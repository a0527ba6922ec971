// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import Logging
import MeshNode
import NodeCore
import ServiceLifecycle

/// A host or guest in this process: its input lines, its output, the system's signals, and its end.
package struct NodeSession: Sendable {
    private let description: NodeDescription
    private let isJSON: Bool
    private let remark: String?
    private let logLines: AsyncStream<String>?
    private let logger: Logger
    private let links: String?
    private let picture: (@Sendable (String) -> [String]?)?

    /// A session of a node that does not run yet. `remark` is shown first. `logLines` are the log lines to show above
    /// the prompt of a terminal; nil without a prompt. `links` is the file for the secrets that must not be in a log.
    /// `picture` draws a QR code with lines of text.
    package init(
        _ description: NodeDescription, isJSON: Bool, remark: String?, logLines: AsyncStream<String>?, logger: Logger,
        links: String? = nil, picture: (@Sendable (String) -> [String]?)? = nil
    ) {
        self.links = links
        self.picture = picture
        self.description = description
        self.isJSON = isJSON
        self.remark = remark
        self.logLines = logLines
        self.logger = logger
    }

    /// Runs a node and its surroundings until it has stopped and its last event is shown. `endOfInput` is the meaning
    /// of the end of its input. `pageState` is the state that only its page has.
    package func run(
        _ node: Node, with surroundings: [any Service], library: [Song] = [], endOfInput: NodeInput?,
        pageState: @escaping @Sendable () async -> NodeWatch.PageState
    ) async throws {
        // This starts before the node runs, so that it misses no event.
        let session = isJSON ? nil : people(node, library, endOfInput)
        let showing = Task {
            if let session {
                await session.run()
            } else {
                await ProgramSession(
                    node, description, remark: remark, hidesSecrets: StandardOutput.isJournal, endOfInput: endOfInput,
                    pageState: pageState
                ).run()
            }
        }
        do {
            try await services(node, surroundings).run()
        } catch {
            // Text for standard error must come after the prompt is removed.
            showing.cancel()
            await Self.wait(for: showing)
            throw error
        }
        await Self.wait(for: showing)
    }

    /// Waits until everything is shown, for a limited time: a reader that does not read must not keep the program from
    /// ending.
    private static func wait(for showing: Task<Void, Never>) async {
        let alarm = Task {
            try? await Task.sleep(for: NodeLimits.lastLines)
            if !Task.isCancelled { Glibc.exit(EXIT_SUCCESS) }
        }
        await showing.value
        alarm.cancel()
    }

    private func people(_ node: Node, _ library: [Song], _ endOfInput: NodeInput?) -> PeopleSession {
        PeopleSession(
            node, description, library: library, endOfInput: endOfInput, remark: remark,
            secrets: links.flatMap { StandardOutput.isTerminal ? nil : .file($0) } ?? .output,
            live: logLines.map {
                (usesColour: Terminal.usesColour(ProcessInfo.processInfo.environment), logLines: $0)
            }, picture: picture.map(Self.fitting))
    }

    /// The picture, if the window has room for it and a few lines.
    private static func fitting(
        _ picture: @escaping @Sendable (String) -> [String]?
    ) -> @Sendable (String) -> [String]? {
        { text in
            let size = Terminal.size
            // Two rows of modules in a line.
            return picture(text).flatMap {
                $0.count * 2 < size.columns && $0.count + TerminalLimits.linesWithPicture <= size.rows ? $0 : nil
            }
        }
    }

    private func services(_ node: Node, _ surroundings: [any Service]) -> ServiceGroup {
        let service = NodeService(node: node, surroundings: surroundings, logger: logger)
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
            gracefulShutdownSignals: EndingSignals.heeded, logger: logger)
        configuration.maximumGracefulShutdownDuration = NodeLimits.shutdown
        return ServiceGroup(configuration: configuration)
    }
}
