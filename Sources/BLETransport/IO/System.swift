// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// One policy for what system calls return (errno(3)).
enum SystemError {
    /// The system's words for an errno.
    static func text(_ code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    /// What a failed call on a channel means.
    static func channelError(_ code: Int32) -> RadioError {
        switch code {
        case EMSGSIZE: RadioError(.tooLarge, text(code))
        // A descriptor that is not ours any more is a bug of ours, and goes on to harm others.
        case EBADF, EFAULT: preconditionFailure("a channel's descriptor is broken: \(text(code))")
        default: RadioError(.channelLost, text(code))
        }
    }
}

extension Poller.Interruption {
    /// As a radio's error.
    var radioError: RadioError {
        switch self {
        case .cancelled: RadioError(.cancelled)
        case .forgotten: RadioError(.closed)
        case .failed(let code): RadioError(.failed, SystemError.text(code))
        }
    }
}

/// The kernel that runs.
enum KernelName {
    /// `Linux 6.1.175`, with what a distribution adds to the version.
    static var running: String {
        var names = utsname()
        guard uname(&names) == 0 else { return "Linux" }
        return "Linux \(text(names.release))"
    }
}

/// Small files of the system that may be missing or may not be read.
enum SystemFile {
    /// A file's text, or nil.
    static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A file's only line, or nil.
    static func line(_ path: String) -> String? {
        text(path)?.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init)
    }

    /// Where a link leads to, or nil.
    static func link(_ path: String) -> String? { try? FileManager.default.destinationOfSymbolicLink(atPath: path) }

    /// The names in a folder, none where it cannot be read.
    static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }
}
