// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

/// The edges of numbers and frames that fuzzing has found (`Fuzz/Failures`).
@Suite("Edges")
struct EdgeTests {
    @Test("A malformed frame is the last of its record, whatever it lacks", arguments: [[7, 0, 6, 0], [7, 9, 6, 0]])
    func malformed(record: [UInt8]) {
        var reader = FrameReader(record[...])
        #expect(reader.next() == .malformed(type: 7))
        #expect(reader.next() == nil)
    }
}
