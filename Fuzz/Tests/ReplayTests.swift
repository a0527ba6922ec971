// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

/// Every input of the corpus, and every one that has once broken an invariant, again in each run of the tests.
@Suite("What was fuzzed")
struct ReplayTests {
    @Test("breaks no invariant again", arguments: FuzzTarget.all.map(\.name))
    func replay(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let corpus = try inputs("Corpus/\(name)")
        #expect(corpus.count >= 10, "the corpus of \(name) is lost")
        for input in try corpus + inputs("Failures/\(name)") {
            #expect(throws: Never.self, "\(input.path)") { try target.run(input.bytes) }
        }
    }

    @Test("is kept small enough to be read with the code", arguments: FuzzTarget.all.map(\.name))
    func sizes(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        for input in try inputs("Corpus/\(name)") {
            #expect(input.bytes.count <= target.longestInput, "\(input.path)")
        }
        #expect(try inputs("Corpus/\(name)").count < 200)
    }

    /// The files of a folder beside this one. A folder without files is not in the checkout.
    private func inputs(_ folder: String) throws -> [(path: String, bytes: [UInt8])] {
        let fuzz = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let path = fuzz.appending(path: folder).path
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted().map { name in
            let data = try #require(FileManager.default.contents(atPath: "\(path)/\(name)"))
            return ("\(folder)/\(name)", Array(data))
        }
    }
}
