// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("README.md, CHANGELOG.md and docs/swift-library.md")
struct FirstPagesTests {
    @Test("README.md has at most 120 lines and names no version of RoadMesh")
    func readmeIsShort() throws {
        let readme = try SourceTree.page("README.md")
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 121)
        #expect(!readme.contains(try version()))
    }

    @Test("the newest section of CHANGELOG.md has the program's version")
    func changelogIsCurrent() throws {
        let heading = /\n## (\S+) - (unreleased|\d{4}-\d\d-\d\d)\n/
        let newest = try #require(SourceTree.page("CHANGELOG.md").firstMatch(of: heading))
        #expect(try String(newest.1) == version())
    }

    @Test("docs/swift-library.md lists the products of Package.swift in their order")
    func productsAreListed() throws {
        let listed = try SourceTree.page("docs/swift-library.md").matches(of: /\n\| `(\w+)` \|/).map { String($0.1) }
        let products = try SourceTree.page("Package.swift").matches(of: /\.library\(name: "(\w+)"/).map { String($0.1) }
        #expect(listed == products)
    }

    @Test("each line of the programs in docs/swift-library.md is in the tests that run them")
    func examplesAreRun() throws {
        let page = try SourceTree.page("docs/swift-library.md")
        let tests = [
            "Tests/MeshSessionTests/Session/LibraryExamples.swift", "Tests/HostIntegrationTests/LibraryHeadUnit.swift",
        ]
        let run = Set(try tests.flatMap { code(of: try SourceTree.page($0)) })
        // The first block is a manifest.
        let programs = page.matches(of: /```swift\n([\s\S]*?)```/).dropFirst().map { code(of: $0.1) }
        #expect(programs.count == 3)
        for line in programs.joined() { #expect(run.contains(line), "\(line)") }
    }

    private func version() throws -> String {
        let source = try SourceTree.page("Sources/NodeCore/RoadMeshVersion.swift")
        return String(try #require(source.firstMatch(of: /number = "(\d+\.\d+\.\d+)"/)).1)
    }
}

/// The lines of Swift, without indentation and comments.
func code(of text: some StringProtocol) -> [String] {
    text.split(separator: "\n").map { line in
        let end = line.firstRange(of: "//")?.lowerBound ?? line.endIndex
        return line[..<end].trimmingCharacters(in: .whitespaces)
    }.filter { !$0.isEmpty }
}
