// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The form of the node's machine, checked in the sources")
struct MachineTests {
    /// The declarations of stored properties of a file's first type, which has no other members of this form.
    private func storedProperties(_ path: String) throws -> [Substring] {
        let body = try SourceTree.page(path).split(separator: "\nextension ")[0]
        let declaration = /^ {4}(?:(?:private|fileprivate|package|public)(?:\(set\))? )*(?:var|let) \w+.*/
        return body.split(separator: "\n").filter { $0.wholeMatch(of: declaration) != nil && !$0.contains("{") }
    }

    @Test("NodeCore has at most 12 stored properties, and only its own file can reach them")
    func nodeCore() throws {
        let properties = try storedProperties("Sources/NodeCore/Core/NodeCore.swift")
        #expect((5...12).contains(properties.count), "\(properties)")
        for property in properties { #expect(property.hasPrefix("    private var "), "\(property)") }
    }

    @Test("no machine of NodeCore is spread over files: a file called Type+Aspect changes nothing")
    func oneFile() throws {
        let lines = try SourceTree.lines(of: "NodeCore")
        try #require(lines.contains { $0.file.contains("+") } && lines.contains { $0.code.contains("mutating func") })
        for line in lines where line.file.contains("+") {
            #expect(!line.code.contains("mutating "), "\(line.file): \(line.code)")
        }
    }
}
