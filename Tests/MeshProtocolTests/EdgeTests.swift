// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

/// Edge cases of numbers and frames that fuzzing has found (`Fuzz/Failures`).
@Suite("Edge cases")
struct EdgeTests {
    @Test("A conversation continues with a peer that claims to have all messages up to the largest number")
    func largestNumber() throws {
        var conversation = Conversation(epoch: 1)
        let theirs = Resumption(epoch: 2, first: 1, theirEpoch: 1, delivered: Limits.largestNumber)
        conversation.begin(with: theirs)
        let hello = Hello(name: "Ana", resumption: conversation.resumption)
        var reader = FrameReader(Road.bytes(.appStart(hello))[...])
        #expect(reader.next() == .frame(.appStart(hello)))
        // No number is left for another message, and no message is accepted that could not be read.
        let sending = conversation.send([1], as: .reliable)
        #expect(sending == .full)
    }

    @Test("A malformed frame ends its record, whatever is missing in it", arguments: [[7, 0, 6, 0], [7, 9, 6, 0]])
    func malformed(record: [UInt8]) {
        var reader = FrameReader(record[...])
        #expect(reader.next() == .malformed(type: 7))
        #expect(reader.next() == nil)
    }

    @Test(
        "A restored disk that reuses a number the peer has: the message counts as acknowledged, and is not sent again",
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
