// SPDX-License-Identifier: Apache-2.0

import Logging

/// Log lines of a program with a prompt on its terminal. They are shown like all other lines, so that they do not
/// disturb the typed text.
package struct TerminalLog: LogHandler {
    package var logLevel: Logger.Level = .error
    package var metadata: Logger.Metadata = [:]
    private let sink: AsyncStream<String>.Continuation

    /// Makes a handler, and the stream of its lines.
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
