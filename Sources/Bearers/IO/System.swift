// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The meaning of errors from system calls (errno(3)).
package enum SystemError {
    /// The system's text for an errno.
    package static func text(_ code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    /// The meaning of a failed call on a channel.
    package static func channelError(_ code: Int32) -> BearerError {
        switch code {
        case EMSGSIZE: BearerError(.tooLarge, text(code))
        // A wrong descriptor is a bug in this program, and would damage other files.
        case EBADF, EFAULT: preconditionFailure("a channel's descriptor is broken: \(text(code))")
        default: BearerError(.channelLost, text(code))
        }
    }
}

extension Poller.Interruption {
    /// The same as a `BearerError`.
    package var radioError: BearerError {
        switch self {
        case .cancelled: BearerError(.cancelled)
        case .forgotten: BearerError(.closed)
        case .failed(let code): BearerError(.failed, SystemError.text(code))
        }
    }
}

/// The running kernel.
package enum KernelName {
    /// The kernel's version as the distribution names it: `Linux 6.1.175`.
    package static var running: String { release.map { "Linux \($0)" } ?? "Linux" }

    /// The version alone: `6.1.175`. Nil if the kernel does not report it.
    package static var release: String? {
        var names = utsname()
        return uname(&names) == 0 ? text(names.release) : nil
    }
}

/// Small system files that may be missing or unreadable.
package enum SystemFile {
    /// A file's text, or nil.
    package static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A file's first line, or nil.
    package static func line(_ path: String) -> String? {
        text(path)?.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init)
    }

    /// The target of a link, or nil.
    package static func link(_ path: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: path)
    }

    /// The names in a folder. Empty if it cannot be read.
    package static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}

/// The text of a C array, up to its NUL.
package func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
