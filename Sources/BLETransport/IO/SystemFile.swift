// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

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
