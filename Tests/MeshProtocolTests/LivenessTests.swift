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
