// SPDX-License-Identifier: Apache-2.0

import Testing

/// A tutorial in DocC, and the files of the program that it explains, in its order.
struct Tutorial: CustomTestStringConvertible {
    var page: String
    var files: [String]

    var testDescription: String { page }

    static let all = [
        Tutorial(
            page: "Sources/Bearers/Bearers.docc/WriteABearer.md",
            files: ["UnixSocket", "FolderChannel", "FolderBearer"].map { "Examples/FolderBearer/\($0).swift" }),
        Tutorial(
            page: "Sources/MeshSession/MeshSession.docc/YourOwnApplication.md",
            files: ["Board", "Stops", "main"].map { "Examples/Stops/\($0).swift" }),
    ]
}

@Suite("The tutorials in DocC")
struct TutorialTests {
    @Test("a tutorial prints the complete program that tests run", arguments: Tutorial.all)
    func isComplete(_ tutorial: Tutorial) throws {
        let page = try SourceTree.page(tutorial.page)
        let printed = page.matches(of: /```swift\n([\s\S]*?)```/).flatMap { code(of: $0.1) }
        let run = try tutorial.files.flatMap { code(of: try SourceTree.page($0)) }
        #expect(!run.isEmpty)
        for (number, (one, other)) in zip(printed, run).enumerated() where one != other {
            Issue.record("line \(number) of the tutorial's code is \"\(one)\", and the program has \"\(other)\"")
            return
        }
        #expect(printed.count == run.count)
    }
}
