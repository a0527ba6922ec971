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
        let isHeld = loss.holds(car, now: .seconds(5))
        #expect(isHeld)
        #expect(loss.deadline == .seconds(5) + NodeLimits.quietLoss)
        let (early, due, again) = (
            loss.due(now: .milliseconds(5_900)), loss.due(now: .seconds(6)), loss.due(now: .seconds(7))
        )
        #expect(early == nil && due == car && again == nil && loss.deadline == nil, "once")
    }

    @Test("is never told where the host is back over the air before that")
    func isBack() {
        var loss = QuietLoss()
        loss.ended(over: .lan)
        let isHeld = loss.holds(car, now: .zero)
        loss.isOver()
        let due = loss.due(now: .seconds(9))
        #expect(isHeld && loss.deadline == nil && due == nil)
    }

    @Test("and a link over the air that is lost is told at once", arguments: [Bearer.l2cap, .virtual, nil])
    func air(bearer: Bearer?) {
        var loss = QuietLoss()
        loss.ended(over: .lan)
        loss.ended(over: bearer)
        let isHeld = loss.holds(car, now: .zero)
        #expect(!isHeld)
    }
}
