// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import Dispatch
import Glibc
import MeshNode

/// Standard input, line by line or as it comes. It is read on a thread of its own, and only when the next is asked for.
package final class InputLines: Sendable {
    private let queue = DispatchQueue(label: "roadmesh.input")
    /// What was read and not given out yet. Used on the queue alone; the lock tells the compiler so.
    private let pending = NIOLockedValueBox<ArraySlice<UInt8>>([])

    package init() {}

    /// The lines, up to the end of input. A line longer than `NodeLimits.inputLineBytes` is cut.
    package func lines() -> AsyncStream<String> { stream { self.nextLine() } }

    /// What comes, as it comes, up to the end of input: what a person types at a terminal that gives out every key.
    func pieces() -> AsyncStream<ArraySlice<UInt8>> {
        stream {
            let piece = Self.more()
            return piece.isEmpty ? nil : piece
        }
    }

    /// What is read on the thread, each when it is asked for, up to the first nil.
    private func stream<Element: Sendable>(_ read: @escaping @Sendable () -> Element?) -> AsyncStream<Element> {
        AsyncStream {
            await withCheckedContinuation { reader in
                self.queue.async { reader.resume(returning: read()) }
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
        while true {
            let count = read(STDIN_FILENO, &bytes, bytes.count)
            switch errno {
            case _ where count >= 0: return bytes.prefix(count)
            case EINTR: continue
            // In the background there is nothing to read (tty_ioctl(4)), and that is no end: what is typed there is for the
            // shell. No signal tells of the foreground where the program runs already.
            case EIO where !Terminal.isOurs(STDIN_FILENO): usleep(TerminalLimits.foregroundMicroseconds)
            default: return []
            }
        }
    }
}
