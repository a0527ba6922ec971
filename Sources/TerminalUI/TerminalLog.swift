// SPDX-License-Identifier: Apache-2.0

import Logging

/// Log lines of a program that has a prompt on its terminal: they are shown like everything else, so that they do not
/// write into what is being typed.
package struct TerminalLog: LogHandler {
    package var logLevel: Logger.Level = .error
    package var metadata: Logger.Metadata = [:]
    private let sink: AsyncStream<String>.Continuation

    /// A handler, and the lines that it is given.
    package static func make() -> (handler: TerminalLog, lines: AsyncStream<String>) {
        let (lines, sink) = AsyncStream<String>.makeStream(
            bufferingPolicy: .bufferingNewest(TerminalLimits.waitingLogLines))
        return (TerminalLog(sink: sink), lines)
    }

    private init(sink: AsyncStream<String>.Continuation) {
        self.sink = sink
    }

    package func log(event: LogEvent) {
        sink.yield("\(event.level): \(event.message)")
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }
}
