// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import Dispatch
import Glibc
import NodeCore

/// Standard input, in lines or in pieces. A separate thread reads it, and only when the next element is requested.
package final class InputLines: Sendable {
    private let queue = DispatchQueue(label: "roadmesh.input")
    /// Bytes that were read and not returned yet. Only the queue uses them; the lock satisfies the compiler.
    private let pending = NIOLockedValueBox<ArraySlice<UInt8>>([])

    package init() {}

    /// The lines until the end of input. A line longer than `NodeLimits.inputLineBytes` is cut.
    package func lines() -> AsyncStream<String> { stream { self.nextLine() } }

    /// The pieces as they arrive until the end of input: a person's keys at a terminal that passes on every key.
    func pieces() -> AsyncStream<ArraySlice<UInt8>> {
        stream {
            let piece = Self.more()
            return piece.isEmpty ? nil : piece
        }
    }

    /// Elements that the thread reads on request, until the first nil.
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
            // A background process cannot read the terminal (tty_ioctl(4)), and that is not the end of input: the shell
            // gets what is typed. No signal reports the foreground to a program that is running already.
            case EIO where !Terminal.isOurs(STDIN_FILENO): usleep(TerminalLimits.foregroundMicroseconds)
            default: return []
            }
        }
    }
}
