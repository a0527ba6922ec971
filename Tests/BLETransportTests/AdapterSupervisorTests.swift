// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import BLETransport
@testable import Bearers

/// A sequence of events at an adapter, each with its time in seconds, and the expected actions.
private struct Story {
    var supervisor: AdapterSupervisor
    var now = 0.0

    init(mayMove: Bool = false) {
        supervisor = AdapterSupervisor(adapter: "hci0", mayMove: mayMove, now: .zero)
    }

    mutating func at(_ seconds: Double, _ event: AdapterSupervisor.Event) -> [AdapterSupervisor.Action] {
        now = seconds
        return supervisor.handle(event, now: .seconds(seconds))
    }

    /// Lets time pass, tick by tick, and returns the actions of that time, except the routine probes of the controller.
    /// controller.
    mutating func until(_ seconds: Double) -> [AdapterSupervisor.Action] {
        var actions: [AdapterSupervisor.Action] = []
        while let deadline = supervisor.deadline, deadline <= .seconds(seconds) {
            actions += supervisor.handle(.tick, now: deadline)
            #expect(supervisor.deadline.map { $0 > deadline } ?? true, "a deadline that does not move is a busy loop")
        }
        now = seconds
        return actions.filter { $0 != .askController }
    }
}

@Suite("Recovery of an adapter that does not work")
struct AdapterSupervisorTests {
    static let off = BearerError(.radioOff, "hci0 is switched off")
    static let blocked = BearerError(.blocked, "rfkill keeps hci0 off")
    static let stopped = BearerError(.serviceNotRunning, "bluetoothd has stopped")
    static let gone = BearerError(.noAdapter, "hci0 is gone")
    static let silent = BearerError(.adapterSilent, "hci0 does not answer")
    static let dead = BearerError(.adapterDead, "hci0 does not answer")
    static let broken = BearerError(.failed, "Failed")

    @Test("a restart of bluetoothd is reported once, the adapter registers again, and the recovery is reported once")
    func restart() {
        var story = Story()
        #expect(story.at(1, .serviceVanished) == [.forget, .tell(Self.stopped)])
        #expect(story.at(1, .adapterRemoved) == [])
        #expect(story.at(2, .serviceAppeared) == [])
        #expect(story.at(2.1, .poweredOn) == [.start(.restore, 1)])
        #expect(story.at(2.2, .done(1)) == [.tellRecovered])
        #expect(story.supervisor.failure == nil)
        #expect(story.until(60) == [])
    }

    @Test("a second report that the adapter is on does not start the repair again, which would never end")
    func reportedTwice() {
        var story = Story()
        _ = story.at(1, .poweredOff(Self.blocked))
        #expect(story.at(2, .poweredOn) == [.start(.restore, 1)])
        #expect(story.at(2.1, .poweredOn) == [])
        #expect(story.at(2.2, .done(1)) == [.tellRecovered])
    }

    @Test("an adapter that goes off and on during the repair is repaired again")
    func offDuringRepair() {
        var story = Story()
        _ = story.at(1, .poweredOff(Self.blocked))
        #expect(story.at(2, .poweredOn) == [.start(.restore, 1)])
        _ = story.at(2.1, .poweredOff(Self.blocked))
        #expect(story.at(2.2, .poweredOn) == [.start(.restore, 2)])
        #expect(story.at(2.3, .done(1)) == [])
        #expect(story.at(2.4, .done(2)) == [.tellRecovered])
    }

    @Test("if bluetoothd comes back without the adapter, the missing adapter is reported instead")
    func restartWithoutAdapter() {
        var story = Story()
        _ = story.at(1, .serviceVanished)
        _ = story.at(2, .serviceAppeared)
        #expect(story.until(4.9) == [])
        #expect(story.until(5) == [.start(.move, 1)])
        #expect(story.at(5, .failed(1, Self.gone)) == [.forget, .tell(Self.gone)])
    }

    @Test("after an adapter is unplugged and bluetoothd stops, nothing happens until bluetoothd is back")
    func pulledAndStopped() {
        var story = Story(mayMove: true)
        _ = story.at(1, .adapterRemoved)
        #expect(story.at(2, .serviceVanished) == [.forget, .tell(Self.stopped)])
        #expect(story.until(1_000) == [])
        _ = story.at(1_000, .serviceAppeared)
        #expect(story.until(1_003) == [.start(.move, 1)])
    }

    @Test("an adapter that a person has switched off stays off")
    func voluntary() {
        var story = Story(mayMove: true)
        #expect(story.at(1, .poweredOff(Self.off)) == [.forget, .tell(Self.off)])
        #expect(story.until(100_000) == [])
        #expect(story.at(100_000, .poweredOn) == [.start(.restore, 1)])
        #expect(story.at(100_001, .done(1)) == [.tellRecovered])
    }

    @Test("after an rfkill block is lifted, the adapter is on again: by bluetoothd, or else by us")
    func rfkill() {
        for isSwitchedOnByOthers in [true, false] {
            var story = Story(mayMove: true)
            #expect(story.at(1, .poweredOff(Self.blocked)) == [.forget, .tell(Self.blocked)])
            #expect(story.until(1.5) == [.lookAtSwitches])
            #expect(story.at(1.5, .stillOff(Self.blocked)) == [])
            #expect(story.until(2) == [.lookAtSwitches])
            #expect(story.at(2, .stillOff(Self.off)) == [.forget, .tell(Self.off)])
            if isSwitchedOnByOthers {
                #expect(story.at(2.1, .poweredOn) == [.start(.restore, 1)])
                #expect(story.at(2.2, .done(1)) == [.tellRecovered])
            } else {
                #expect(story.until(3).contains(.start(.powerOn, 1)))
                #expect(story.at(3.1, .poweredOn) == [])
                #expect(story.at(3.2, .done(1)) == [.start(.restore, 2)])
                #expect(story.at(3.3, .done(2)) == [.tellRecovered])
            }
            #expect(story.until(60) == [])
        }
    }

    @Test("an adapter that was off before it was blocked stays off when the block is lifted")
    func blockedWhileOff() {
        var story = Story()
        _ = story.at(1, .poweredOff(Self.off))
        _ = story.at(2, .poweredOff(Self.blocked))
        _ = story.until(3)
        _ = story.at(3, .stillOff(Self.off))
        #expect(!story.until(60).contains { if case .start = $0 { true } else { false } })
    }

    @Test("a failed registration is tried again with growing pauses; then the adapter is reset, except after a refusal")
    func unregistrable() {
        var story = Story()
        _ = story.at(0, .serviceVanished)
        _ = story.at(1, .serviceAppeared)
        #expect(story.at(1, .poweredOn) == [.start(.restore, 1)])
        #expect(story.at(1, .failed(1, Self.broken)) == [.forget, .tell(Self.broken)])
        #expect(story.until(1.5) == [.start(.restore, 2)])
        #expect(story.at(1.5, .failed(2, Self.broken)) == [.forget])
        #expect(story.until(2.5) == [.start(.restore, 3)])
        #expect(story.at(2.5, .failed(3, Self.broken)) == [.forget, .start(.powerCycle, 4)])
        // The adapter goes off during our own reset, so it does not count as switched off by a person.
        #expect(story.at(2.6, .poweredOff(Self.off)) == [])
        #expect(story.at(2.7, .poweredOn) == [])
        #expect(story.at(2.8, .done(4)) == [.start(.restore, 5)])
        #expect(story.at(2.9, .done(5)) == [.tellRecovered])
        #expect(story.until(60) == [])
    }

    static let refused = BearerError(.advertisingRefused, "Linux 6.1.175")

    @Test("an advertisement that the kernel refuses is reported once, tried once a minute, and causes no reset")
    func refusedByKernel() {
        var story = Story()
        _ = story.at(0, .scanStarted)
        #expect(story.at(1, .advertisingFailed(Self.refused)) == [.tell(Self.refused)])
        // Scanning continues, and so do the links.
        #expect(story.supervisor.failure == nil)
        for minute in 0..<20 {
            let tried = story.until(Double(61 + minute * 60)).filter { $0 != .scan }
            #expect(tried == [.advertise])
            #expect(story.at(story.now, .advertisingFailed(Self.refused)) == [])
        }
        #expect(story.at(story.now, .advertised) == [.tellRecovered])
        #expect(story.at(story.now, .advertised) == [])
    }

    @Test("an advertisement that is refused after a restart of bluetoothd does not stop the other functions")
    func refusedAfterRestart() {
        var story = Story()
        _ = story.at(0, .advertisingFailed(Self.refused))
        #expect(story.at(1, .serviceVanished) == [.forget, .tell(Self.stopped)])
        _ = story.at(2, .serviceAppeared)
        #expect(story.at(2.1, .poweredOn) == [.start(.restore, 1)])
        #expect(story.at(2.2, .failed(1, Self.refused)) == [.tell(Self.refused)])
        #expect(story.supervisor.failure == nil)
        #expect(story.until(63).allSatisfy { $0 == .advertise })
        #expect(story.at(63, .advertisingStopped) == [.tellRecovered])
    }

    @Test("a refusal causes no reset, and the request is repeated once a minute")
    func refused() {
        let refusal = BearerError(.unsupported, "no free slot")
        var story = Story()
        _ = story.at(0, .poweredOff(Self.off))
        var actions = story.at(1, .poweredOn)
        for _ in 0..<20 {
            guard case .start(.restore, let number)? = actions.last else {
                Issue.record("\(actions) at \(story.now)")
                return
            }
            _ = story.at(story.now, .failed(number, refusal))
            actions = story.until(story.now + 61)
        }
    }

    @Test("a controller that does not answer is reset, but not after one delayed answer")
    func silence() {
        var story = Story()
        #expect(story.at(5, .controllerSilent) == [])
        #expect(story.at(8, .controllerAnswered) == [])
        #expect(story.at(13, .controllerSilent) == [])
        #expect(story.at(16, .controllerSilent) == [])
        #expect(story.at(19, .controllerSilent) == [.forget, .tell(Self.silent), .start(.powerCycle, 1)])
        #expect(story.at(20, .poweredOff(Self.off)) == [])
        #expect(story.at(21, .poweredOn) == [])
        #expect(story.at(21, .done(1)) == [.start(.restore, 2)])
        #expect(story.at(22, .done(2)) == [.tellRecovered])
    }

    @Test("a controller that stops just before its advertisement is renewed is reset as soon as any other")
    func silentWhileRegistering() {
        var story = Story()
        for _ in 0..<2 { _ = story.at(12, .controllerSilent) }
        #expect(story.at(13, .advertisingFailed(Self.broken)) == [.forget, .tell(Self.broken)])
        #expect(story.until(13.5) == [.start(.restore, 1)])
        #expect(story.at(14, .controllerSilent) == [.forget, .tell(Self.silent), .start(.powerCycle, 2)])
        #expect(story.at(20, .failed(1, Self.broken)) == [])
    }

    @Test("a dead adapter that the user has named is tried forever; otherwise another adapter is used")
    func dead() {
        for mayMove in [false, true] {
            var story = Story(mayMove: mayMove)
            for time in [1.0, 2] { _ = story.at(time, .controllerSilent) }
            #expect(story.at(3, .controllerSilent).last == .start(.powerCycle, 1))
            #expect(story.at(20, .failed(1, Self.silent)) == [])
            #expect(story.until(20.5) == [.start(.powerOn, 2)])
            #expect(story.at(30, .failed(2, Self.silent)) == [.forget, .tell(Self.dead)])
            if mayMove {
                #expect(story.until(30) == [.start(.move, 3)])
                story.supervisor = story.supervisor.moved(from: "hci0", to: "hci1", now: .seconds(30))
                #expect(story.at(30, .done(3)) == [.start(.restore, 4)])
                #expect(
                    story.at(31, .done(4)) == [
                        .tellRecovered, .tellRepaired(.otherAdapter(old: "hci0", new: "hci1")),
                    ])
            } else {
                #expect(story.until(31) == [.start(.powerOn, 3)])
                #expect(story.at(40, .failed(3, Self.silent)) == [.forget])
                #expect(story.until(42) == [.start(.powerOn, 4)])
                #expect(story.at(42, .done(4)) == [.start(.restore, 5)])
                #expect(story.at(43, .done(5)) == [.tellRecovered])
            }
        }
    }

    @Test("a controller that falls silent after each reset is not reset forever")
    func flapping() {
        var story = Story()
        var resets = 0
        for round in 0..<10 {
            var actions: [AdapterSupervisor.Action] = []
            for silence in 0..<3 { actions = story.at(Double(round * 20 + silence * 3), .controllerSilent) }
            guard case .start(.powerCycle, let number)? = actions.last else { continue }
            resets += 1
            _ = story.at(story.now, .done(number))
            _ = story.at(story.now, .done(number + 1))
        }
        #expect(resets == RadioLimits.resetsBeforeMove)
        #expect(story.supervisor.failure == Self.dead)
    }

    @Test("an unplugged adapter may return within 3 s; after that another is used, unless the user has named one")
    func pulled() {
        var story = Story(mayMove: true)
        #expect(story.at(1, .adapterRemoved) == [.forget, .tell(Self.gone)])
        #expect(story.until(3.9) == [])
        #expect(story.at(3.9, .poweredOn) == [.start(.restore, 1)])
        #expect(story.at(3.9, .done(1)) == [.tellRecovered])
        #expect(story.until(10) == [])
        _ = story.at(10, .adapterRemoved)
        #expect(story.until(13) == [.start(.move, 2)])
        #expect(story.at(13, .failed(2, Self.gone)) == [])
        // A new adapter is plugged in: the next try need not wait.
        #expect(story.at(13.1, .otherAdapterOn) == [])
        #expect(story.until(13.1) == [.start(.move, 3)])
    }

    @Test("the result of a step that another event has overtaken is ignored")
    func overtaken() {
        var story = Story()
        _ = story.at(0, .poweredOff(Self.off))
        #expect(story.at(1, .poweredOn) == [.start(.restore, 1)])
        #expect(story.at(1, .serviceVanished) == [.forget, .tell(Self.stopped)])
        #expect(story.at(1, .done(1)) == [])
        #expect(story.at(1, .failed(1, Self.broken)) == [])
        #expect(story.supervisor.failure == Self.stopped)
    }

    @Test("an advertisement is renewed even if its end was not reported; a reported end is passed on")
    func advertising() {
        var story = Story()
        _ = story.at(1, .advertised)
        #expect(story.until(10.9) == [])
        #expect(story.until(11) == [.advertise])
        #expect(story.at(11, .advertised) == [])
        #expect(story.at(12, .advertisingBack) == [.tellRepaired(.advertising)])
        _ = story.at(13, .advertisingStopped)
        #expect(story.until(100) == [])
        #expect(story.at(100, .advertisingBack) == [])
    }

    @Test("an advertisement that cannot be renewed is reported and tried again; then the adapter is reset")
    func notRenewed() {
        var story = Story()
        _ = story.at(0, .advertised)
        #expect(story.until(10) == [.advertise])
        #expect(story.at(10, .advertisingFailed(Self.broken)) == [.forget, .tell(Self.broken)])
        #expect(story.at(10.1, .advertisingFailed(Self.broken)) == [])
        #expect(story.until(10.5) == [.start(.restore, 1)])
        #expect(story.at(10.5, .failed(1, Self.broken)) == [.forget])
        #expect(story.until(11.5) == [.start(.restore, 2)])
        #expect(story.at(11.5, .failed(2, Self.broken)) == [.forget, .start(.powerCycle, 3)])
    }

    @Test("a scan without results restarts, soon at first; after results it restarts only after a long silence")
    func scanning() {
        var story = Story()
        _ = story.at(0, .scanWanted)
        _ = story.at(0, .scanStarted)
        #expect(story.until(0.4) == [.scan])
        #expect(story.until(1.1) == [])
        #expect(story.until(1.25) == [.scan])
        _ = story.at(2, .heard)
        #expect(story.until(21.9) == [])
        #expect(story.until(22) == [.scan])
        _ = story.at(22, .scanPaused)
        #expect(story.until(100) == [])
    }

    @Test("a discovery that ends on its own is started again, unless it only paused between two scans")
    func discoveryEnded() {
        var story = Story()
        _ = story.at(0, .scanStarted)
        _ = story.at(0.1, .heard)
        _ = story.at(10, .discovering(false))
        _ = story.at(11, .discovering(true))
        #expect(story.until(20) == [])
        _ = story.at(20, .discovering(false))
        #expect(story.until(22) == [.scan])
    }

    @Test("a scan that could not start is tried again as long as it is wanted", arguments: [false, true])
    func scanRefused(isWanted: Bool) {
        var story = Story()
        _ = story.at(0, .scanWanted)
        _ = story.at(0, .scanFailed)
        #expect(story.until(0.4) == [.scan])
        _ = story.at(0.4, isWanted ? .scanFailed : .scanPaused)
        #expect(story.until(1.25) == (isWanted ? [.scan] : []))
    }

    @Test("a guest scans even if its earlier attempt, made while the adapter was off, is refused late")
    func attempts() {
        var discovery = Discovery()
        let early = discovery.begin()
        discovery.end()
        let late = discovery.begin()
        let refused = [early, late, late].map { discovery.fail($0) }
        #expect(refused == [false, true, false])
        #expect(!discovery.isOn)
    }
}
