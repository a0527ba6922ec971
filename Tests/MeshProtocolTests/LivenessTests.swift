// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("Whether somebody is there in whose circuit something waits")
struct LivenessTests {
    @Test("is known four seconds after it was asked, also if it is asked again meanwhile")
    func askedAgain() {
        var liveness = Liveness(.initiator, now: .zero)
        liveness.bear(silence: Limits.circuitSilence)
        let asked = MeshInstant.zero + Limits.circuitPatience
        _ = liveness.doubt(now: asked)
        // The message waits still, so the next ping follows when that has taken as long again.
        _ = liveness.doubt(now: asked + Limits.circuitPatience)
        #expect(liveness.tick(now: asked + Limits.circuitDoubt - .milliseconds(1)) != .dead)
        #expect(liveness.tick(now: asked + Limits.circuitDoubt) == .dead)
    }

    @Test("is not known by what comes from it, as a relay may pass that on alone")
    func oneWay() {
        var liveness = Liveness(.initiator, now: .zero)
        liveness.bear(silence: Limits.circuitSilence)
        let asked = MeshInstant.zero + Limits.circuitPatience
        _ = liveness.doubt(now: asked)
        liveness.heard()
        #expect(liveness.tick(now: asked + Limits.circuitDoubt) == .dead)
    }

    @Test("is no question any more once it has answered")
    func answered() {
        var liveness = Liveness(.initiator, now: .zero)
        liveness.bear(silence: Limits.circuitSilence)
        let asked = MeshInstant.zero + Limits.circuitPatience
        let number = liveness.doubt(now: asked)
        liveness.heard()
        _ = liveness.answered(number, now: asked + .seconds(1))
        #expect(liveness.tick(now: asked + Limits.circuitDoubt) == .nothing)
        // The next doubt has its own time.
        _ = liveness.doubt(now: asked + Limits.circuitDoubt)
        #expect(liveness.tick(now: asked + Limits.circuitDoubt + .seconds(1)) == .nothing)
    }
}

@Suite("An initiator that is asked on a carrier or in a circuit")
struct AskedTests {
    private let second: Duration = .seconds(1)

    @Test("does not ask by itself, but now and then for the round trip")
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

    @Test("asks when it is not asked any more, and knows as soon as ever that nobody is there")
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
}
