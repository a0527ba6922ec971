// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import MeshSession

@Suite("When a guest dials, waits and gives up")
struct GuestMachineTests {
    private static let car = "0123456789abcdef0123456789abcdef"

    private func linked() -> GuestMachine {
        var machine = GuestMachine(wanted: nil)
        #expect(machine.start() == [.show(.connecting), .beginPatience, .browse])
        #expect(machine.found("01234567") == [.stopBrowsing, .dial("01234567", expecting: nil)])
        #expect(machine.connected(Self.car) == [.endPatience, .show(.connected)])
        return machine
    }

    @Test("after a loss it dials the same host again at once, and expects its key")
    func redial() {
        var machine = linked()
        #expect(
            machine.lost(.linkLost) == [
                .beginPatience, .show(.reconnecting(attempt: 1)), .redial("01234567", expecting: Self.car),
            ])
        #expect(machine.connected(Self.car) == [.endPatience, .show(.connected)])
    }

    @Test("a relay is dialled again as a relay")
    func redialRelay() {
        var machine = GuestMachine(wanted: Self.car)
        _ = machine.start()
        _ = machine.found("01234567", behind: "aaaaaaaa")
        _ = machine.connected(Self.car)
        #expect(machine.lost(.silent).last == .redial("aaaaaaaa", expecting: nil))
    }

    @Test("if that fails it looks for the same host only, and expects its key")
    func sameHost() {
        var machine = linked()
        _ = machine.lost(.linkLost)
        #expect(machine.failed(nil) == [.show(.reconnecting(attempt: 2)), .pause(SessionLimits.guestPause * 2)])
        #expect(machine.found("01234567") == [])
        #expect(machine.resumed() == [.browse])
        #expect(machine.found("99999999") == [])
        #expect(machine.found("01234567") == [.stopBrowsing, .dial("01234567", expecting: Self.car)])
    }

    @Test("its pauses double up to the longest, and a link resets them")
    func pauses() {
        var machine = linked()
        var pauses: [Duration] = []
        func note(_ actions: [GuestMachine.Action]) {
            for case .pause(let time) in actions { pauses.append(time) }
        }
        note(machine.lost(.goodbye(.stopped)))
        for _ in 0..<8 {
            _ = machine.resumed()
            _ = machine.found("01234567")
            note(machine.failed(nil))
        }
        #expect(pauses.prefix(3) == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
        #expect(pauses.last == SessionLimits.longestGuestPause)
        _ = machine.resumed()
        _ = machine.found("01234567")
        _ = machine.connected(Self.car)
        note(machine.lost(.goodbye(.stopped)))
        #expect(pauses.last == .milliseconds(100))
    }

    @Test(
        "a goodbye ends it, and a host that has only stopped is waited for",
        arguments: [(LinkEnd.goodbye(.unspecified), true), (.goodbye(.ended), true), (.goodbye(.stopped), false)])
    func goodbyes(end: LinkEnd, isFinal: Bool) {
        var machine = linked()
        #expect(machine.lost(end).contains(.end(nil)) == isFinal)
    }

    @Test("a full host is tried again, and one that has banned this node is not")
    func refusals() {
        var machine = GuestMachine(wanted: Self.car)
        _ = machine.start()
        _ = machine.found("01234567")
        #expect(machine.failed(.refused(.full)) == [.show(.connecting), .pause(SessionLimits.guestPause)])
        _ = machine.resumed()
        _ = machine.found("01234567")
        #expect(machine.failed(.refused(.banned)).contains(.end(.refused(.banned))))
        #expect(machine.patienceIsOver() == [])
    }

    @Test("it gives up when its patience is over, but not while it is linked")
    func patience() {
        var machine = linked()
        #expect(machine.patienceIsOver() == [])
        _ = machine.lost(.goodbye(.stopped))
        #expect(machine.patienceIsOver().contains(.end(.unreachable)))
        #expect(machine.resumed() == [])
    }

    @Test("a relay proves its own key, so the host's is not expected of it")
    func relay() {
        var machine = GuestMachine(wanted: Self.car)
        _ = machine.start()
        #expect(machine.found("99999999", behind: "aaaaaaaa") == [])
        #expect(machine.found("01234567", behind: "aaaaaaaa") == [.stopBrowsing, .dial("aaaaaaaa", expecting: nil)])
        #expect(!machine.isBrowsing)
        #expect(machine.connected(Self.car) == [.endPatience, .show(.connected)])
    }
}
