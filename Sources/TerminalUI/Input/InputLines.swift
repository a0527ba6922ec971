// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import Dispatch
import Glibc
import MeshNode

/// Standard input, line by line. It is read on a thread of its own, and only when the next line is asked for.
package final class InputLines: Sendable {
    private let queue = DispatchQueue(label: "roadmesh.input")
    /// What was read and not given out yet. Used on the queue alone; the lock tells the compiler so.
    private let pending = NIOLockedValueBox<ArraySlice<UInt8>>([])

    package init() {}

    /// The lines, up to the end of input. A line longer than `NodeLimits.inputLineBytes` is cut.
    package func lines() -> AsyncStream<String> {
        AsyncStream {
            await withCheckedContinuation { reader in
                self.queue.async { reader.resume(returning: self.nextLine()) }
            }
        }
    }

    private func nextLine() -> String? {
        pending.withLockedValue { pending in
            var line: [UInt8] = []
            while true {
                while let byte = pending.popFirst() {
                    if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
                    if line.count < NodeLimits.inputLineBytes { line.append(byte) }
                }
                pending = Self.more()
                if pending.isEmpty { return line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
            }
        }
    }

    private static func more() -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: NodeLimits.inputLineBytes)
        var count = 0
        repeat {
            count = read(STDIN_FILENO, &bytes, bytes.count)
        } while count < 0 && errno == EINTR
        return bytes.prefix(max(count, 0))
    }
}
