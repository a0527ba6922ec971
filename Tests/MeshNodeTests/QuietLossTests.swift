// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import MeshNode

@Suite("A network that is lost while the air is there")
struct QuietLossTests {
    private let car = Peer(id: "c0ffee", name: "Car")

    @Test("is told after a second, where the host is not back by then")
    func told() {
        var loss = QuietLoss()
        loss.ended(over: .lan)
        #expect(loss.holds(car, now: .seconds(5)))
        #expect(loss.deadline == .seconds(5) + NodeLimits.quietLoss)
        #expect(loss.due(now: .milliseconds(5_900)) == nil)
        #expect(loss.due(now: .seconds(6)) == car)
        #expect(loss.due(now: .seconds(7)) == nil && loss.deadline == nil, "once")
    }

    @Test("is never told where the host is back over the air before that")
    func isBack() {
        var loss = QuietLoss()
        loss.ended(over: .lan)
        #expect(loss.holds(car, now: .zero))
        loss.isOver()
        #expect(loss.deadline == nil && loss.due(now: .seconds(9)) == nil)
    }

    @Test("and a link over the air that is lost is told at once", arguments: [Bearer.l2cap, .virtual, nil])
    func air(bearer: Bearer?) {
        var loss = QuietLoss()
        loss.ended(over: .lan)
        loss.ended(over: bearer)
        #expect(!loss.holds(car, now: .zero))
    }
}
