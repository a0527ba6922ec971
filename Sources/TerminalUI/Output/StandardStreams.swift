// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Standard output. If its reader has gone (a closed pipe), the node must keep playing music.
package enum StandardOutput {
    package static func write(_ line: String) { writeAll(line + "\n", to: STDOUT_FILENO) }

    /// Whether a person reads the output as it is written.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether the output goes to the system's journal: `JOURNAL_STREAM` names its file then (systemd.exec(5)).
    static var isJournal: Bool {
        var status = stat()
        guard let journal = getenv("JOURNAL_STREAM"), fstat(STDOUT_FILENO, &status) == 0 else { return false }
        return String(cString: journal) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Text that ends no line.
    package static func write(unfinished text: String) { writeAll(text, to: STDOUT_FILENO) }

    /// Writes text that a person has requested. Returns whether all of it was accepted.
    package static func deliver(_ text: String) -> Bool { writeAll(text, to: STDOUT_FILENO) }
}

/// Standard error.
package enum StandardError {
    package static func write(_ line: String) { writeAll(line + "\n", to: STDERR_FILENO) }
}

/// Writes text to a descriptor. Returns whether all of it was accepted.
@discardableResult
package func writeAll(_ text: String, to descriptor: Int32) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0 {
            guard errno == EINTR || errno == EAGAIN else { return false }
            var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&writable, 1, -1)
            continue
        }
        rest = rest.dropFirst(count)
    }
    return true
}
