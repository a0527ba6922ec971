// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The flows in docs/architecture.md")
struct FlowTests {
    @Test("every function on the path of a vote is in the sources, and their number is the page's")
    func vote() throws {
        let page = try SourceTree.page("docs/architecture.md")
        let section = try #require(page.firstMatch(of: /### A vote\n([\s\S]*?)These are (\d+) functions/))
        let named = section.1.matches(of: /`([A-Z]\w+)\.(\w+)`/)
        #expect(named.count == Int(section.2))
        let functions = try functionsByType()
        for match in named {
            #expect(functions[String(match.1)]?.contains(String(match.2)) == true, "\(match.0)")
        }
    }

    /// The functions of the files in which a type is declared or extended.
    private func functionsByType() throws -> [String: Set<String>] {
        let declared = /\b(?:struct|enum|class|actor|protocol|extension) ([A-Z]\w*)/
        var functions: [String: Set<String>] = [:]
        for module in try SourceTree.modules() {
            let files = Dictionary(grouping: try SourceTree.lines(of: module), by: \.file)
            for lines in files.values.map({ $0.map(\.code) }) {
                let names = lines.compactMap { $0.firstMatch(of: /\bfunc (\w+)/).map { String($0.1) } }
                for type in lines.compactMap({ $0.firstMatch(of: declared).map { String($0.1) } }) {
                    functions[type, default: []].formUnion(names)
                }
            }
        }
        return functions
    }
}
