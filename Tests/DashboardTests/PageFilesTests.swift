// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Dashboard

@Suite("The files of the page")
struct PageFilesTests {
    @Test("every file of the page is served, as it is")
    func complete() throws {
        let folder =
            URL(filePath: #filePath).deletingLastPathComponent().path
            + "/../../Sources/Dashboard/Page/"
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let served = Dictionary(uniqueKeysWithValues: PageFiles.all.map { ($0.path, $0.bytes) })
        #expect(served.count == names.count)
        for name in names {
            let bytes = try Data(contentsOf: URL(filePath: folder + name))
            #expect(served[name == "index.html" ? "/" : "/" + name].map { Array($0.readableBytesView) } == Array(bytes))
        }
    }
}
