// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("One link")
struct LinkMachineTests {
    static let car = Peer(id: "c0ffee", name: "Dad's Car")
    static let ana = Peer(id: "a0a0a0", name: "Ana")

    private func host() -> LinkMachine { LinkMachine(role: .host, local: Self.car, now: .zero) }
    private func guest() -> LinkMachine { LinkMachine(role: .guest, local: Self.ana, now: .zero) }

    /// A host that has taken Ana in.
    private func connectedHost() -> LinkMachine {
        var host = host()
        _ = host.received(Frame.appStart(Introduction(peer: Self.ana)).bytes, now: .zero)
        _ = host.admit()
        return host
    }

    @Test("a guest introduces itself and is connected when the host has answered")
    func guestJoins() {
        var guest = guest()
        #expect(guest.opened() == [.send(.appStart(Introduction(peer: Self.ana)))])
        #expect(guest.connectedPeer == nil)
        #expect(
            guest.received(Frame.selfInfo(Introduction(peer: Self.car)).bytes, now: .zero) == [.connected(Self.car)])
        #expect(guest.connectedPeer == Self.car)
    }

    @Test("a host hears who it is and takes the guest in")
    func hostAdmits() {
        var host = host()
        #expect(host.opened() == [])
        #expect(
            host.received(Frame.appStart(Introduction(peer: Self.ana)).bytes, now: .zero) == [.introduced(Self.ana)])
        #expect(host.admit() == [.send(.selfInfo(Introduction(peer: Self.car))), .connected(Self.ana)])
        #expect(host.admit() == [])
    }

    @Test("a refusal carries its reason to the guest", arguments: RefusalReason.allCases)
    func refusal(reason: RefusalReason) {
        var host = host()
        _ = host.received(Frame.appStart(Introduction(peer: Self.ana)).bytes, now: .zero)
        #expect(host.refuse(reason) == [.send(.refusal(reason)), .close(.refused(reason))])
        var guest = guest()
        #expect(guest.received(Frame.refusal(reason).bytes, now: .zero) == [.close(.refused(reason))])
    }

    @Test("another version is refused by name, on both sides")
    func versions() {
        var host = host()
        #expect(
            host.received(Frame.appStart(Introduction(peer: Self.ana, version: 2)).bytes, now: .zero)
                == [.send(.refusal(.version)), .close(.refused(.version))])
        var guest = guest()
        #expect(
            guest.received(Frame.selfInfo(Introduction(peer: Self.car, version: 2)).bytes, now: .zero)
                == [.close(.refused(.version))])
    }

    @Test("a guest that was taken in can be sent away, and is told why")
    func sentAway() {
        var host = connectedHost()
        #expect(host.sendAway(.banned) == [.send(.refusal(.banned)), .close(.refused(.banned))])
        var guest = guest()
        _ = guest.received(Frame.selfInfo(Introduction(peer: Self.car)).bytes, now: .zero)
        #expect(guest.received(Frame.refusal(.banned).bytes, now: .zero) == [.close(.refused(.banned))])
    }

    @Test("messages are delivered once the link is up, in order")
    func messages() {
        var host = connectedHost()
        let bytes = Frame.message([1]).bytes + Frame.message([2]).bytes
        #expect(host.received(bytes, now: .zero) == [.deliver([1]), .deliver([2])])
    }

    @Test(
        "whoever says the wrong thing before the introduction is cut off",
        arguments: [Frame.message([1]), .ping(1), .pong(1), .selfInfo(Introduction(peer: ana)), .refusal(.full)])
    func wrongFirstFrame(frame: Frame) {
        var host = host()
        #expect(host.received(frame.bytes, now: .zero) == [.close(.misbehaved(.unexpectedFrame))])
        #expect(host.received(frame.bytes, now: .zero) == [])
    }

    @Test("a second introduction on a link is cut off")
    func secondIntroduction() {
        var host = connectedHost()
        #expect(
            host.received(Frame.appStart(Introduction(peer: Self.car)).bytes, now: .zero)
                == [.close(.misbehaved(.unexpectedFrame))])
    }

    @Test("what follows a malformed frame is not looked at")
    func malformed() {
        var host = connectedHost()
        let bytes = Frame.message([1]).bytes + [0, 0, 5] + Frame.message([2]).bytes
        #expect(host.received(bytes, now: .zero) == [.deliver([1]), .close(.misbehaved(.malformedFrame(type: 5)))])
    }

    @Test("a stranger that says nothing is cut off after the handshake's time")
    func silentStranger() throws {
        var host = host()
        let deadline = try #require(host.deadline)
        #expect(deadline == Limits.handshakeTimeout)
        #expect(host.tick(now: deadline - .milliseconds(1)) == [])
        #expect(host.tick(now: deadline) == [.close(.handshakeTimeout)])
        #expect(host.deadline == nil)
    }

    @Test("the round trip is measured once a second")
    func pings() throws {
        var host = connectedHost()
        #expect(host.tick(now: try #require(host.deadline)) == [.send(.ping(1))])
        #expect(host.received(Frame.pong(99).bytes, now: .seconds(1)) == [])
        #expect(
            host.received(Frame.pong(1).bytes, now: .milliseconds(1_040)) == [.roundTrip(.milliseconds(40))])
        #expect(host.received(Frame.pong(1).bytes, now: .milliseconds(1_050)) == [])
        #expect(host.deadline == .seconds(2))
    }

    @Test("a peer that stays silent although its channel stands is noticed within three seconds")
    func silence() throws {
        var host = connectedHost()
        var actions: [LinkMachine.Action] = []
        while let deadline = host.deadline, deadline <= .seconds(3) { actions = host.tick(now: deadline) }
        #expect(actions == [.close(.silent)])
    }

    @Test("silence does not count while this side does not read")
    func heldUp() {
        var host = connectedHost()
        #expect(host.tick(now: .seconds(1)) == [.send(.ping(1))])
        host.heardNothingByChoice(now: .seconds(10))
        #expect(host.tick(now: .seconds(11)) == [.send(.ping(2))])
        #expect(host.tick(now: .seconds(12)) == [.send(.ping(3))])
        #expect(host.tick(now: .seconds(13)) == [.close(.silent)])
    }

    @Test("on a crowded link a late answer is an answer, and every other word is a sign of life")
    func slowAnswer() {
        var host = connectedHost()
        #expect(host.tick(now: .seconds(1)) == [.send(.ping(1))])
        #expect(host.tick(now: .seconds(2)) == [.send(.ping(2))])
        _ = host.received(Frame.message([1]).bytes, now: .milliseconds(2_900))
        #expect(host.tick(now: .seconds(3)) == [.send(.ping(3))])
        #expect(host.tick(now: .seconds(4)) == [.send(.ping(4))])
        #expect(host.received(Frame.pong(2).bytes, now: .milliseconds(4_500)) == [.roundTrip(.milliseconds(2_500))])
        #expect(host.received(Frame.pong(1).bytes, now: .milliseconds(4_500)) == [])
        #expect(host.received(Frame.pong(4).bytes, now: .seconds(5)) == [.roundTrip(.seconds(1))])
    }

    @Test("who was late to ask does not take the other side for silent")
    func lateTimer() {
        var host = connectedHost()
        #expect(host.tick(now: .seconds(60)) == [.send(.ping(1))])
    }

    @Test("leaving says goodbye, and the other side hears it")
    func goodbye() {
        var host = connectedHost()
        #expect(host.leave() == [.send(.goodbye), .close(.left)])
        #expect(host.leave() == [])
        #expect(host.channelClosed() == [])
        var guest = guest()
        _ = guest.received(Frame.selfInfo(Introduction(peer: Self.car)).bytes, now: .zero)
        #expect(guest.received(Frame.goodbye.bytes, now: .zero) == [.close(.goodbye)])
    }

    @Test("a channel that breaks is a lost link, not a goodbye")
    func linkLost() {
        var host = connectedHost()
        #expect(host.channelClosed() == [.close(.linkLost)])
    }
}
