// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

/// Runs every input of the corpus, and every one that has ever broken an invariant, in each run of the tests.
@Suite("Kept inputs of the fuzzers")
struct ReplayTests {
    @Test("break no invariant again", arguments: FuzzTarget.all.map(\.name))
    func replay(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let corpus = try inputs("Corpus/\(name)")
        #expect(corpus.count >= 10, "the corpus of \(name) is lost")
        for input in try corpus + inputs("Failures/\(name)") {
            #expect(throws: Never.self, "\(input.path)") { try target.run(input.bytes) }
        }
    }

    @Test("stay small enough for the repository", arguments: FuzzTarget.all.map(\.name))
    func sizes(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        for input in try inputs("Corpus/\(name)") {
            #expect(input.bytes.count <= target.longestInput, "\(input.path)")
        }
        #expect(try inputs("Corpus/\(name)").count < 200)
    }

    /// The files of a folder next to this one. Git does not store folders without files.
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
