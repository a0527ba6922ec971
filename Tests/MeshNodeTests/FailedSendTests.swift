// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("Messages that could not be sent, in a running node")
struct FailedSendTests {
    @Test("each is reported for the log, with its receiver, its cause and their number")
    func logged() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.loseLink()
        // Each change is a message. There are more messages than the conversation accepts for an absent host.
        for turn in 0..<2_000 {
            pair.feed(.input(.guest(turn % 2 == 0 ? .vote("s3") : .takeBackVote("s3"))), to: .guest)
        }
        let reports = pair.performed[PairOfCores.Side.guest.rawValue].compactMap { action -> (SendError, Int)? in
            if case .notSent(let error, let count) = action { (error, count) } else { nil }
        }
        try #require(reports.count > 2)
        let host = pair.cores[PairOfCores.Side.host.rawValue].mesh.local
        #expect(reports.allSatisfy { $0.0.cause == .full && $0.0.peer.id == host.id }, "\(reports.prefix(2))")
        #expect(reports.map(\.1) == Array(1...reports.count))
    }
}
