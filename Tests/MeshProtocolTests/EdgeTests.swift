// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

/// The edges of numbers and frames that fuzzing has found (`Fuzz/Failures`).
@Suite("Edges")
struct EdgeTests {
    @Test("A peer that says it has everything up to the largest number can still be spoken with")
    func largestNumber() throws {
        var conversation = Conversation(epoch: 1)
        let theirs = Resumption(epoch: 2, first: 1, theirEpoch: 1, delivered: Limits.largestNumber)
        conversation.begin(with: theirs)
        let hello = Hello(name: "Ana", resumption: conversation.resumption)
        var reader = FrameReader(Road.bytes(.appStart(hello))[...])
        #expect(reader.next() == .frame(.appStart(hello)))
        // There is no number for another message, and none is taken that could not be read.
        let sending = conversation.send([1], as: .reliable)
        #expect(sending == .full)
    }

    @Test("A malformed frame is the last of its record, whatever it lacks", arguments: [[7, 0, 6, 0], [7, 9, 6, 0]])
    func malformed(record: [UInt8]) {
        var reader = FrameReader(record[...])
        #expect(reader.next() == .malformed(type: 7))
        #expect(reader.next() == nil)
    }

    @Test(
        "A disk that was put back and numbers again what the peer has: that is acknowledged, and not sent again",
        arguments: [UInt64(1), 5])
    func putBack(delivered: UInt64) throws {
        var conversation = try #require(Conversation(restoring: Conversation(epoch: 1).durable))
        let sending = conversation.send([1], as: .reliable)
        #expect(sending == .queued(number: 1))
        let acknowledged = conversation.begin(with: Resumption(epoch: 2, first: 1, theirEpoch: 1, delivered: delivered))
        #expect(acknowledged)
        #expect(conversation.unacknowledged == 0)
        let next = conversation.send([2], as: .reliable)
        #expect(next == .queued(number: delivered + 1))
    }
}
