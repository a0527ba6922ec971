// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("Liveness of a peer with an unanswered message in a circuit")
struct LivenessTests {
    @Test("a dead peer is detected four seconds after the first ping, also if it is asked again meanwhile")
    func askedAgain() {
        var liveness = Liveness(.initiator, now: .zero)
        liveness.bear(silence: Limits.circuitSilence)
        let asked = MeshInstant.zero + Limits.circuitPatience
        _ = liveness.doubt(now: asked)
        // The message is still unanswered, so the next ping follows after the same time.
        _ = liveness.doubt(now: asked + Limits.circuitPatience)
        #expect(liveness.tick(now: asked + Limits.circuitDoubt - .milliseconds(1)) != .dead)
        #expect(liveness.tick(now: asked + Limits.circuitDoubt) == .dead)
    }

    @Test("other messages of a peer do not prove that it lives, because a relay may forward only that direction")
    func oneWay() {
        var liveness = Liveness(.initiator, now: .zero)
        liveness.bear(silence: Limits.circuitSilence)
        let asked = MeshInstant.zero + Limits.circuitPatience
        _ = liveness.doubt(now: asked)
        liveness.heard()
        #expect(liveness.tick(now: asked + Limits.circuitDoubt) == .dead)
    }

    @Test("an answer ends the doubt")
    func answered() {
        var liveness = Liveness(.initiator, now: .zero)
        liveness.bear(silence: Limits.circuitSilence)
        let asked = MeshInstant.zero + Limits.circuitPatience
        let number = liveness.doubt(now: asked)
        liveness.heard()
        _ = liveness.answered(number, now: asked + .seconds(1))
        #expect(liveness.tick(now: asked + Limits.circuitDoubt) == .nothing)
        // The next doubt starts its own time.
        _ = liveness.doubt(now: asked + Limits.circuitDoubt)
        #expect(liveness.tick(now: asked + Limits.circuitDoubt + .seconds(1)) == .nothing)
    }
}

@Suite("A node that saves power")
struct RestingTests {
    @Test(
        "a node that requests a long silence pings as rarely as it is pinged, and detects a dead peer as soon as usual")
    func rests() {
        var liveness = Liveness(.initiator, now: .zero)
        liveness.rest(silence: .seconds(20))
        liveness.begin(now: .zero)
        #expect(liveness.deadline == .zero + .milliseconds(12_500))
        #expect(liveness.tick(now: .zero + .seconds(12)) == .nothing)
        let asked = MeshInstant.zero + .milliseconds(12_500)
        #expect(liveness.tick(now: asked) == .ping(1))
        #expect(liveness.tick(now: asked + Limits.pongTimeout) == .dead)
    }
}

@Suite("An initiator that is pinged on a carrier or in a circuit")
struct AskedTests {
    private let second: Duration = .seconds(1)

    @Test("an initiator that is pinged sends few pings of its own, only to measure the round trip")
    func asked() {
        var liveness = Liveness(.initiator, now: .zero)
        liveness.isAsked = true
        _ = liveness.ask(now: .zero)
        for count in 1...40 {
            let now = second * count
            liveness.heard()
            let isDue = count % Limits.pingsPerRoundTrip == 0
            #expect((liveness.follow(now: now) != nil) == isDue, "\(count)")
            #expect(liveness.tick(now: now + second) == .nothing)
        }
    }

    @Test("an initiator that is not pinged any more sends pings, and detects a dead peer as fast as before")
    func silent() {
        var liveness = Liveness(.initiator, now: .zero)
        liveness.isAsked = true
        _ = liveness.ask(now: .zero)
        liveness.heard()
        #expect(liveness.follow(now: second) == nil)
        let asks = second + Limits.pingInterval + Limits.pingInterval / 4
        #expect(liveness.deadline == asks)
        #expect(liveness.tick(now: asks - .milliseconds(1)) == .nothing)
        #expect(liveness.tick(now: asks) == .ping(2))
        #expect(liveness.tick(now: asks + Limits.pongTimeout) == .dead)
    }

    @Test("A link whose reader is held up stays up on both sides, however long that takes")
    func heldUp() {
        var road = Road()
        let id = road.joined()
        road.send("vote", from: "Ana", to: "Car")
        for second in 1...30 {
            road.now = .seconds(second)
            road.act("Car", on: id) { [now = road.now] in $0.holdUp(id, now: now) }
            road.pull("Car", id)
            let sdus = road.wires[id]?.toGuest ?? []
            road.wires[id]?.toGuest = []
            for sdu in sdus { road.give(sdu, to: "Ana", on: id) }
            road.act("Ana", on: id) { [now = road.now] in $0.tick(id, now: now) }
            // What Ana sends waits in the channel.
            road.pull("Ana", id)
        }
        #expect(road.isConnected("Ana", to: "Car"))
        road.settle()
        #expect(road.texts(at: "Car") == ["vote"])
        #expect(road.isConnected("Car", to: "Ana"))
    }
}
