// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import BLETransport

@Suite("Link-layer requests")
struct LinkTuningTests {
    static let fresh = LinkParameters(phy: "1M", interval: 50, supervisionTimeout: 420, dataLength: 27)
    static let advice = LinkIntervals(brisk: 11, calm: 31)
    static let chance = LinkIntervals(brisk: 26, calm: 26)
    static let brisk = LinkTuning.Action.update(interval: 11, timeout: 72)
    static let calm = LinkTuning.Action.update(interval: 31, timeout: 72)
    static let byChance = LinkTuning.Action.update(interval: 26, timeout: 72)

    /// A link with its other side's advice.
    private func tuning(isCentral: Bool = true, mayAsk: Bool = true) -> LinkTuning {
        var tuning = unadvised(isCentral: isCentral, mayAsk: mayAsk)
        _ = tuning.handle(.advised(Self.advice), now: .zero)
        return tuning
    }

    private func unadvised(isCentral: Bool = true, mayAsk: Bool = true) -> LinkTuning {
        LinkTuning(isCentral: isCentral, got: Self.fresh, mayAsk: mayAsk, chance: Self.chance)
    }

    /// Lets time pass, and returns the requests of that time.
    private func ticks(_ tuning: inout LinkTuning, until seconds: Double) -> [LinkTuning.Action] {
        var actions: [LinkTuning.Action] = []
        while let deadline = tuning.deadline, deadline <= .seconds(seconds) {
            actions += tuning.handle(.tick, now: deadline)
            #expect(tuning.deadline.map { $0 > deadline } ?? true, "a deadline that does not move is a busy loop")
        }
        return actions
    }

    @Test("the dialling side asks at once, for short intervals during traffic and long ones during silence")
    func dialled() {
        var tuning = tuning()
        #expect(tuning.handle(.opened, now: .zero) == [])
        #expect(tuning.handle(.dataLength(251), now: .seconds(0.1)) == [])
        #expect(tuning.handle(.data, now: .zero) == [])
        #expect(ticks(&tuning, until: 0.5) == [.setTwoMegabit, Self.brisk])
        #expect(tuning.handle(.phy(2), now: .seconds(0.8)) == [])
        #expect(tuning.handle(.updated(interval: 11, timeout: 72), now: .seconds(0.8)) == [])
        let got = LinkParameters(phy: "2M", interval: 13.75, supervisionTimeout: 720, dataLength: 251)
        #expect(tuning.got == got)
        #expect(ticks(&tuning, until: 4.9) == [])
        #expect(ticks(&tuning, until: 5) == [Self.calm])
        #expect(tuning.handle(.updated(interval: 31, timeout: 72), now: .seconds(5.3)) == [])
        #expect(tuning.handle(.data, now: .seconds(60)) == [Self.brisk])
        #expect(tuning.handle(.data, now: .seconds(61)) == [])
        #expect(tuning.asked == LinkParameters(phy: "2M", interval: 13.75, supervisionTimeout: 720))
    }

    @Test("the dialling side waits for the host's advice and follows it, also when it changes")
    func advised() {
        var tuning = unadvised()
        _ = tuning.handle(.opened, now: .zero)
        _ = tuning.handle(.dataLength(251), now: .zero)
        #expect(ticks(&tuning, until: 1) == [.setTwoMegabit])
        #expect(tuning.handle(.advised(Self.advice), now: .seconds(1)) == [Self.brisk])
        #expect(tuning.handle(.updated(interval: 11, timeout: 72), now: .seconds(1.3)) == [])
        #expect(tuning.handle(.advised(Self.advice), now: .seconds(2)) == [])
        let other = LinkIntervals(brisk: 21, calm: 23)
        #expect(tuning.handle(.advised(other), now: .seconds(3)) == [.update(interval: 21, timeout: 72)])
        #expect(tuning.handle(.advised(Self.advice), now: .seconds(3.1)) == [])
        #expect(tuning.handle(.updated(interval: 21, timeout: 72), now: .seconds(3.5)) == [Self.brisk])
    }

    @Test("without advice, a guest chooses random intervals, so two guests rarely have the same")
    func byItself() {
        var tuning = unadvised()
        _ = tuning.handle(.opened, now: .zero)
        #expect(ticks(&tuning, until: 1.9) == [.setTwoMegabit, Self.byChance])
        _ = tuning.handle(.updated(interval: 26, timeout: 72), now: .seconds(1.9))
        #expect(ticks(&tuning, until: 20) == [.setDataLength])
        #expect(tuning.handle(.data, now: .seconds(30)) == [])
    }

    @Test("one request at a time: a further request is made when the last one is answered")
    func oneAtATime() {
        var tuning = tuning()
        _ = tuning.handle(.opened, now: .zero)
        _ = ticks(&tuning, until: 0.5)
        _ = tuning.handle(.updated(interval: 11, timeout: 72), now: .seconds(1))
        _ = tuning.handle(.dataLength(251), now: .seconds(1))
        #expect(ticks(&tuning, until: 5) == [Self.calm])
        #expect(tuning.handle(.data, now: .seconds(5.1)) == [])
        #expect(tuning.handle(.updated(interval: 31, timeout: 72), now: .seconds(5.4)) == [Self.brisk])
    }

    @Test("the shortest intervals, with which a node opens its links, are for the handshake only")
    func madeByNode() {
        var tuning = LinkTuning(
            isCentral: true, got: LinkParameters(phy: "2M", interval: 7.5, supervisionTimeout: 720, dataLength: 251),
            mayAsk: true, isOfSystem: false, chance: Self.chance)
        _ = tuning.handle(.advised(Self.advice), now: .zero)
        _ = tuning.handle(.opened, now: .zero)
        #expect(ticks(&tuning, until: 0.5) == [Self.brisk])
        // The host's own kernel has requested short intervals for a guest that may not. The host tunes as usual.
        var host = self.tuning(isCentral: false)
        _ = host.handle(.opened, now: .zero)
        #expect(host.handle(.updated(interval: 6, timeout: 72), now: .seconds(0.3)) == [])
        _ = host.handle(.data, now: .seconds(1))
        #expect(ticks(&host, until: 2).contains(Self.brisk))
    }

    @Test("a configured shorter interval stays, except the timeout, until further guests come")
    func configured() {
        var fast = Self.fresh
        fast.interval = 7.5
        var tuning = LinkTuning(isCentral: true, got: fast, mayAsk: true, chance: Self.chance)
        _ = tuning.handle(.advised(Limits.aloneIntervals), now: .zero)
        _ = tuning.handle(.opened, now: .zero)
        #expect(ticks(&tuning, until: 0.5) == [.setTwoMegabit, .update(interval: 6, timeout: 72)])
        _ = tuning.handle(.updated(interval: 6, timeout: 72), now: .seconds(0.6))
        _ = tuning.handle(.dataLength(251), now: .seconds(0.6))
        #expect(ticks(&tuning, until: 100) == [])
        #expect(tuning.handle(.data, now: .seconds(100)) == [])
        #expect(tuning.handle(.advised(Self.advice), now: .seconds(101)) == [Self.brisk])
    }

    @Test("longer packets are requested if the controllers have not agreed on them")
    func packets() {
        var tuning = tuning()
        _ = tuning.handle(.opened, now: .zero)
        _ = ticks(&tuning, until: 0.5)
        #expect(ticks(&tuning, until: 2) == [.setDataLength])
        #expect(tuning.asked.dataLength == 251)
    }

    @Test("a refused request is not repeated")
    func refused() {
        var tuning = tuning()
        _ = tuning.handle(.opened, now: .zero)
        _ = ticks(&tuning, until: 0.5)
        for setting in LinkTuning.Setting.allCases { _ = tuning.handle(.refused(setting), now: .seconds(0.1)) }
        #expect(ticks(&tuning, until: 100) == [])
        #expect(tuning.handle(.data, now: .seconds(100)) == [])
        #expect(tuning.handle(.opened, now: .seconds(101)) == [])
        #expect(ticks(&tuning, until: 200) == [])
        #expect(tuning.got == Self.fresh)
    }

    @Test("the dialled side leaves requests to the other side, and makes them if the other side does not")
    func accepted() {
        var tuning = tuning(isCentral: false)
        #expect(tuning.handle(.opened, now: .zero) == [])
        #expect(tuning.handle(.data, now: .seconds(1)) == [])
        #expect(ticks(&tuning, until: 2) == [.setTwoMegabit, .setDataLength, Self.brisk])
        var other = self.tuning(isCentral: false)
        _ = other.handle(.opened, now: .zero)
        _ = other.handle(.dataLength(251), now: .zero)
        #expect(other.handle(.updated(interval: 11, timeout: 72), now: .seconds(0.4)) == [])
        #expect(ticks(&other, until: 100) == [])
        #expect(other.handle(.data, now: .seconds(100)) == [])
    }

    @Test("the link is not changed again after the other side has changed it")
    func chased() {
        var tuning = tuning()
        _ = tuning.handle(.opened, now: .zero)
        _ = ticks(&tuning, until: 0.5)
        _ = tuning.handle(.updated(interval: 11, timeout: 72), now: .seconds(0.6))
        #expect(tuning.handle(.updated(interval: 40, timeout: 42), now: .seconds(0.8)) == [])
        #expect(tuning.handle(.data, now: .seconds(1)) == [])
        #expect(tuning.got.interval == 50)
    }

    @Test("without permission, nothing is requested, and that is reported")
    func forbidden() {
        var tuning = tuning(mayAsk: false)
        #expect(tuning.handle(.opened, now: .zero) == [])
        #expect(tuning.deadline == nil)
        #expect(tuning.handle(.data, now: .seconds(1)) == [])
        let names = ["phy", "interval", "supervisionTimeout", "dataLength"]
        #expect(tuning.condition().notPermitted == names)
        var late = self.tuning()
        _ = late.handle(.opened, now: .zero)
        _ = late.handle(.forbidden, now: .zero)
        #expect(late.deadline == nil && late.handle(.data, now: .seconds(9)) == [])
        #expect(late.condition().notPermitted == names)
    }
}
