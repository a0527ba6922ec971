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
        let kinds: Set<Substring> = ["struct", "enum", "class", "actor", "protocol", "extension"]
        var functions: [String: Set<String>] = [:]
        for module in try SourceTree.modules() {
            let files = Dictionary(grouping: try SourceTree.lines(of: module), by: \.file)
            for lines in files.values {
                var (names, types): (Set<String>, Set<String>) = ([], [])
                for line in lines {
                    // A regular expression for each line takes some seconds.
                    let words = line.code.split(separator: " ")
                    for (keyword, next) in zip(words, words.dropFirst()) {
                        let name = String(next.prefix { $0 == "_" || $0.isLetter || $0.isNumber })
                        if keyword == "func" { names.insert(name) }
                        if kinds.contains(keyword) { types.insert(name) }
                    }
                }
                for type in types { functions[type, default: []].formUnion(names) }
            }
        }
        return functions
    }
}
