// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import DemocracyDJ

@Suite("Co-hosts")
struct DriverTests {
    /// s1 plays; s2 to s5 wait. Ana is a co-host, Bob is not.
    var host = Example.hostFeature(Fairness(songsInARow: nil))

    init() {
        for guest in [Example.ana, Example.bob] { _ = host.handle(.multipeerEvent(.peerConnected(guest)), now: .zero) }
        _ = host.handle(.drivers([Example.ana.id, "not here"]), now: .zero)
    }

    private mutating func steer(_ wish: SteeringWish, by guest: Peer = Example.ana) -> [HostFeature.Effect] {
        host.handle(Example.intent(.steer(wish), from: guest), now: .zero)
    }

    private func refusal(_ effects: [HostFeature.Effect]) -> RejectionReason? {
        effects.compactMap { if case .reject(_, let reason, _) = $0 { reason } else { nil } }.first
    }

    private var queue: [Song.ID] { host.snapshot.queue.map(\.id) }

    @Test("all guests see which of them are co-hosts")
    mutating func seen() {
        #expect(host.snapshot.drivers == [Example.ana.id])
        let revision = host.snapshot.revision
        #expect(host.handle(.drivers([Example.ana.id]), now: .zero).isEmpty, "nothing that guests see is another")
        #expect(host.snapshot.revision == revision)
        #expect(host.handle(.drivers([]), now: .zero) == [.broadcast(host.snapshot)])
        #expect(host.snapshot.drivers.isEmpty)
    }

    @Test("a co-host removes and moves a song and skips, and the head unit can undo its removal")
    mutating func steers() {
        #expect(refusal(steer(.remove(songID: "s3"))) == nil)
        #expect(refusal(steer(.move(songID: "s5", to: 0))) == nil)
        #expect(queue == ["s5", "s2", "s4"])
        #expect(refusal(steer(.skip(songID: "s1"))) == nil)
        #expect(host.snapshot.nowPlaying?.id == "s5")
        _ = host.handle(.command(.undo), now: .zero)
        #expect(queue.contains("s3"))
    }

    @Test("a late command changes nothing")
    mutating func late() {
        #expect(refusal(steer(.skip(songID: "s9"))) == .notPlaying)
        #expect(refusal(steer(.remove(songID: "s1"))) == .notQueued)
        #expect(refusal(steer(.move(songID: "s9", to: 0))) == .notQueued)
        #expect(refusal(steer(.kick("nobody"))) == .notHere)
        #expect(queue == ["s2", "s3", "s4", "s5"])
    }

    @Test("a co-host removes a guest, and not another co-host")
    mutating func kicks() {
        #expect(steer(.kick(Example.bob.id)).contains(.disconnect(Example.bob.id)))
        #expect(refusal(steer(.kick(Example.ana.id))) == .driverOnly)
    }

    @Test("a guest that is not a co-host steers nothing, whatever it sends")
    mutating func passenger() {
        let before = host.snapshot
        let wishes: [SteeringWish] = [
            .skip(songID: "s1"), .remove(songID: "s2"), .move(songID: "s2", to: 3), .kick(Example.ana.id),
        ]
        for wish in wishes { #expect(refusal(steer(wish, by: Example.bob)) == .driverOnly) }
        #expect(host.snapshot == before)
    }

    @Test("a guest sends only allowed commands, and reports at once why others are not")
    func asks() {
        func guest(drives: Bool) -> GuestFeature {
            var guest = GuestFeature(local: Example.ana)
            var snapshot = host.snapshot
            if !drives { snapshot.drivers = [] }
            _ = guest.handle(.multipeerEvent(.peerConnected(Example.host)))
            _ = guest.handle(.multipeerEvent(.messageReceived(.stateUpdate(snapshot), from: Example.host)))
            return guest
        }
        func sent(_ event: GuestFeature.Event, drives: Bool = true) -> [GuestFeature.Effect] {
            var guest = guest(drives: drives)
            return guest.handle(event)
        }
        let id = Example.host.id
        #expect(sent(.skip) == [.send(.steer(.skip(songID: "s1")), to: id)])
        #expect(sent(.skip, drives: false) == [.send(.skip(songID: "s1"), to: id)])
        #expect(sent(.steer(.remove(songID: "s2"))) == [.send(.steer(.remove(songID: "s2")), to: id)])
        #expect(sent(.steer(.kick("Bob"))) == [.send(.steer(.kick(Example.bob.id)), to: id)])
        func code(_ effects: [GuestFeature.Effect]) -> String? {
            if case .notice(let notice)? = effects.first { notice.code } else { nil }
        }
        #expect(code(sent(.steer(.remove(songID: "s2")), drives: false)) == "driverOnly")
        #expect(code(sent(.steer(.remove(songID: "s9")))) == "notQueued")
        #expect(code(sent(.steer(.kick("Eve")))) == "noSuchGuest")
    }
}
