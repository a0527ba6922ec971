// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The form of the node's machines, checked in the sources")
struct MachineTests {
    /// The declarations of stored properties of a file's first type, which has no other members of this form.
    private func storedProperties(_ path: String) throws -> [Substring] {
        let body = try SourceTree.page(path).split(separator: "\nextension ")[0]
        let declaration = /^ {4}(?:(?:private|fileprivate|package|public)(?:\(set\))? )*(?:var|let) \w+.*/
        return body.split(separator: "\n").filter { $0.wholeMatch(of: declaration) != nil && !$0.contains("{") }
    }

    @Test("NodeCore has at most 12 stored properties, and only its own file can reach them")
    func nodeCore() throws {
        try expectPrivate("Sources/NodeCore/Core/NodeCore.swift", 5...12)
    }

    @Test("MeshCore has at most 15 stored properties, and only its own file can reach them")
    func meshCore() throws {
        try expectPrivate("Sources/MeshProtocol/Core/MeshCore.swift", 3...15)
    }

    private func expectPrivate(_ path: String, _ count: ClosedRange<Int>) throws {
        let properties = try storedProperties(path)
        #expect(count.contains(properties.count), "\(properties)")
        for property in properties { #expect(property.hasPrefix("    private "), "\(property)") }
    }

    @Test("no machine of NodeCore is spread over files: a file called Type+Aspect changes nothing")
    func oneFile() throws {
        let lines = try SourceTree.lines(of: "NodeCore")
        try #require(lines.contains { $0.file.contains("+") } && lines.contains { $0.code.contains("mutating func") })
        for line in lines where line.file.contains("+") {
            #expect(!line.code.contains("mutating "), "\(line.file): \(line.code)")
        }
    }

    @Test("MeshCore is in one file")
    func meshCoreInOneFile() throws {
        let files = Set(try SourceTree.lines(of: "MeshProtocol").map(\.file))
        try #require(files.contains("MeshCore.swift"), "\(files)")
        #expect(!files.contains { $0.contains("MeshCore+") }, "\(files)")
    }
}
