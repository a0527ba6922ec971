// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore
import Testing

@Suite("Hosts that a guest joins without a person's command")
struct OwnHostTests {
    private static let car = Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car")
    private static let heardCar = Peer(id: "c0ffee00", name: "Dad's Car")
    private static let second = Peer(id: "5ec0d000112233445566778899aabbcc", name: "Mum's Car")
    private static let heardSecond = Peer(id: "5ec0d000", name: "Mum's Car")
    private static let stranger = Peer(id: "57a49e00", name: "Stranger")

    /// A policy and its clock.
    private struct Guest {
        var policy: ReconnectPolicy
        var known: KnownHosts
        var now: MeshInstant = .zero
        var invited: [Peer.ID] = []
        var offered: [Peer] = []
        var left: [Peer] = []
        var isListening: Bool { policy.isScanning }

        init(known: [Peer], joinsAny: Bool = false) {
            (policy, self.known) = (ReconnectPolicy(joinsAny: joinsAny), KnownHosts(known))
        }

        mutating func handle(_ event: ReconnectPolicy.Event) {
            if case .linked(let host) = event { _ = known.joined(host, asOwn: policy.isHostNamed) }
            for action in policy.handle(event, known: known, now: now, jitter: 1) {
                switch action {
                case .invite(let host): invited.append(host)
                case .offer(let host): offered.append(host)
                case .goHome(let host): left.append(host)
                default: break
                }
            }
        }

        /// Lets time pass, with all ticks that are due.
        mutating func pass(_ time: Duration) {
            let end = now + time
            while let due = policy.deadline, due <= end {
                now = max(now, due)
                handle(.tick)
            }
            now = end
        }
    }

    @Test("in 50 starts and 20 returns with an unknown host in range, the guest never joins it")
    func noStranger() {
        var random = SeededGenerator(seed: 43)
        for _ in 0..<50 {
            var guest = Guest(known: [Self.car])
            guest.handle(.start)
            for host in [Self.stranger, Self.heardCar, Self.stranger].shuffled(using: &random) {
                guest.handle(.heard(host))
                guest.pass(.milliseconds(Int.random(in: 0...4_000, using: &random)))
            }
            #expect(guest.invited == [Self.heardCar.id])
        }
        for _ in 0..<20 {
            var guest = Guest(known: [Self.car])
            guest.handle(.start)
            guest.handle(.heard(Self.heardCar))
            guest.handle(.linked(Self.car))
            guest.handle(.linkLost)
            guest.pass(.seconds(Int.random(in: 31...900, using: &random)))
            for _ in 0..<10 {
                guest.handle(.heard(Self.stranger))
                guest.pass(.seconds(Int.random(in: 1...60, using: &random)))
            }
            #expect(guest.invited == [Self.heardCar.id, Self.car.id] && guest.offered == [Self.stranger])
            guest.handle(.heard(Self.heardCar))
            #expect(guest.invited.last == Self.heardCar.id && guest.invited.count == 3)
        }
    }

    @Test("an unknown host is joined if none is known yet, or if the person has chosen it")
    func anyHost() {
        for (known, joinsAny) in [([], false), ([Self.car], true)] {
            var guest = Guest(known: known, joinsAny: joinsAny)
            guest.handle(.start)
            guest.handle(.heard(Self.stranger))
            guest.pass(.seconds(3))
            #expect(guest.invited == [Self.stranger.id] && guest.offered.isEmpty)
        }
    }

    @Test("an unknown host is offered once, when the own host was not heard for three seconds")
    func offered() {
        var guest = Guest(known: [Self.car])
        guest.handle(.start)
        guest.handle(.heard(Self.stranger))
        guest.pass(.milliseconds(2_999))
        #expect(guest.offered.isEmpty)
        guest.pass(.seconds(10))
        guest.handle(.heard(Self.stranger))
        #expect(guest.offered == [Self.stranger] && guest.invited.isEmpty)
        guest.handle(.want(Self.stranger.id))
        guest.handle(.heard(Self.stranger))
        #expect(guest.invited == [Self.stranger.id])
    }

    @Test("of two known hosts the last one is joined, and the other one after three seconds without it")
    func lastFirst() {
        for isHeard in [true, false] {
            var guest = Guest(known: [Self.second, Self.car])
            guest.handle(.start)
            guest.handle(.heard(Self.heardSecond))
            if isHeard {
                guest.pass(.seconds(2))
                guest.handle(.heard(Self.heardCar))
            }
            guest.pass(.seconds(3))
            #expect(guest.invited == [isHeard ? Self.heardCar.id : Self.heardSecond.id])
        }
    }

    @Test("a guest that has lost its host joins another known one after five minutes, and its own whenever it is heard")
    func lost() {
        var guest = Guest(known: [Self.second, Self.car])
        guest.handle(.start)
        guest.handle(.heard(Self.heardCar))
        guest.handle(.linked(Self.car))
        guest.handle(.linkLost)
        guest.pass(.seconds(40))
        guest.handle(.heard(Self.heardSecond))
        guest.pass(.seconds(259))
        #expect(guest.invited.last == Self.car.id)
        guest.pass(.seconds(1))
        #expect(guest.invited.last == Self.heardSecond.id)
    }

    @Test("a guest that has lost another known host rejoins it at once")
    func lostOther() {
        var guest = away()
        guest.handle(.linkLost)
        guest.pass(.seconds(40))
        guest.handle(.heard(Self.heardSecond))
        #expect(guest.invited.suffix(2) == [Self.second.id, Self.heardSecond.id])
    }

    /// Linked to another known host, since its own was not heard.
    private func away() -> Guest {
        var guest = Guest(known: [Self.second, Self.car])
        guest.handle(.start)
        guest.handle(.heard(Self.heardSecond))
        guest.pass(.seconds(3))
        guest.handle(.linked(Self.second))
        return guest
    }

    @Test("a guest that is linked to another known host scans for its own, and returns when it is heard")
    func goesHome() {
        var guest = away()
        #expect(guest.known.hosts == [Self.second, Self.car], "its own stays its own")
        guest.handle(.heard(Self.heardCar))
        #expect(guest.left.isEmpty, "not at once: it would go to and fro at the edge of the reach")
        guest.pass(.seconds(10))
        #expect(guest.isListening)
        guest.pass(.seconds(3))
        #expect(!guest.isListening)
        guest.pass(.seconds(10))
        #expect(guest.isListening)
        guest.handle(.heard(Self.stranger))
        guest.handle(.heard(Self.heardCar))
        #expect(guest.left == [Self.second])
        guest.handle(.linkLost)
        guest.handle(.heard(Self.heardSecond))
        guest.handle(.heard(Self.heardCar))
        guest.handle(.linked(Self.car))
        #expect(guest.invited == [Self.heardSecond.id, Self.heardCar.id])
        guest.pass(.seconds(3_600))
        #expect(!guest.isListening && guest.left.count == 1, "in its own car it does not listen")
    }

    @Test("a guest scans for its own host for three seconds a minute")
    func cheap() {
        var guest = away()
        var listened: Duration = .zero
        for _ in 0..<3_600 {
            if guest.isListening { listened += .seconds(1) }
            guest.pass(.seconds(1))
        }
        #expect(listened > .zero && listened <= .seconds(190))
    }

    @Test("a guest whose own host has no room returns to the other one, and stays longer each time")
    func noRoom() {
        var guest = away()
        for _ in 0..<3_600 {
            guest.pass(.seconds(1))
            let linked = guest.left.count
            for host in [Self.heardCar, Self.heardSecond] { guest.handle(.heard(host)) }
            if guest.invited.last == Self.heardCar.id, guest.left.count == linked {
                guest.handle(.refused(.full, by: Self.car.id))
            }
            if guest.invited.last == Self.heardSecond.id { guest.handle(.linked(Self.second)) }
        }
        #expect((2...8).contains(guest.left.count))
    }

    @Test("a host that a person names becomes the guest's own")
    func named() {
        var guest = Guest(known: [Self.car])
        guest.handle(.start)
        guest.handle(.want(Self.stranger.id))
        guest.handle(.heard(Self.stranger))
        let stranger = Peer(id: Self.stranger.id + String(repeating: "0", count: 24), name: "Stranger")
        guest.handle(.linked(stranger))
        #expect(guest.known.hosts == [Self.car, stranger])
    }

    @Test("a guest that was removed from one car joins no other one without its person's command")
    func removed() {
        var guest = Guest(known: [Self.second, Self.car], joinsAny: true)
        guest.handle(.start)
        guest.handle(.heard(Self.heardCar))
        guest.handle(.linked(Self.car))
        guest.handle(.refused(.banned, by: Self.car.id))
        for host in [Self.heardSecond, Self.stranger, Self.heardCar] { guest.handle(.heard(host)) }
        guest.pass(.seconds(600))
        #expect(guest.invited == [Self.heardCar.id])
        guest.handle(.start)
        guest.handle(.heard(Self.heardCar))
        #expect(guest.invited == [Self.heardCar.id, Self.heardCar.id])
    }
}
