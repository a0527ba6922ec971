// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The package's sources as text, without generated files.
enum SourceTree {
    /// A line of a source file, without its comment.
    struct Line {
        var file: String
        var code: String
    }

    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let sources = package.appending(path: "Sources")

    /// A page of the documentation.
    static func page(_ path: String) throws -> String {
        try String(contentsOf: package.appending(path: path), encoding: .utf8)
    }

    /// The modules in Swift.
    static func modules() throws -> Set<String> {
        let folders = try FileManager.default.contentsOfDirectory(atPath: sources.path)
        return try Set(folders.filter { try !files(of: $0).isEmpty })
    }

    /// The lines of a module, or of one of its folders.
    static func lines(of module: String, under folder: String = "") throws -> [Line] {
        var lines: [Line] = []
        for file in try files(of: module, under: folder) {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let code = line.prefix(upTo: line.firstRange(of: "//")?.lowerBound ?? line.endIndex)
                lines.append(Line(file: file.lastPathComponent, code: code.trimmingCharacters(in: .whitespaces)))
            }
        }
        return lines
    }

    /// The imports of a module, each with its files.
    static func imports(of module: String) throws -> [String: Set<String>] {
        var imports: [String: Set<String>] = [:]
        for file in try files(of: module) {
            // A source has some hundred lines and a few imports, so this checks the bytes first.
            for line in try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")) {
                let line = line.drop { $0 == UInt8(ascii: " ") }
                guard line.first.map(importHeads.contains) == true else { continue }
                guard let name = imported(by: String(decoding: line, as: UTF8.self)) else { continue }
                imports[name, default: []].insert(file.lastPathComponent)
            }
        }
        return imports
    }

    /// The first bytes of an import: an attribute, an access level, or the keyword itself.
    private static let importHeads = Set("@ifp".utf8)

    /// The module that a line imports, or nil.
    static func imported(by line: String) -> String? {
        // Most lines are not imports, and a regular expression is slow.
        guard line.split(separator: " ").dropLast().contains("import") else { return nil }
        let form =
            /^(?:@\w+(?:\(\w+\))? |public |package |internal |fileprivate |private )*import (?:(?:struct|class|enum|protocol|func|let|var|typealias) )?(\w+)/
        return line.firstMatch(of: form).map { String($0.1) }
    }

    private static func files(of module: String, under folder: String = "") throws -> [URL] {
        let root = sources.appending(path: module).appending(path: folder)
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" && !$0.path.contains(".pb.") }
    }
}
