// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import NodeCore

@Suite("A network that is lost while Bluetooth works")
struct QuietLossTests {
    private let car = Peer(id: "c0ffee", name: "Car")

    @Test("the loss is reported after a second if the host is not back by then")
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

    @Test("the loss is not reported if the host is back over Bluetooth before that")
    func isBack() {
        var loss = QuietLoss()
        loss.ended(over: .lan)
        let isHeld = loss.holds(car, now: .zero)
        loss.isOver()
        let due = loss.due(now: .seconds(9))
        #expect(isHeld && loss.deadline == nil && due == nil)
    }

    @Test("the loss of a Bluetooth link is reported at once", arguments: [BearerKind.l2cap, .virtual, nil])
    func air(bearer: BearerKind?) {
        var loss = QuietLoss()
        loss.ended(over: .lan)
        loss.ended(over: bearer)
        let isHeld = loss.holds(car, now: .zero)
        #expect(!isHeld)
    }
}
