// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("What waits to leave on a link")
struct OutboxTests {
    private func drain(_ outbox: inout LinkOutbox) -> [Frame] {
        var frames: [Frame] = []
        while let frame = outbox.next() { frames.append(frame) }
        return frames
    }

    @Test("a vote goes before a snapshot, and the link's own frames before both")
    func order() {
        var outbox = LinkOutbox()
        #expect(outbox.enqueue([9], as: .latest) == .queued)
        #expect(outbox.enqueue([1], as: .reliable) == .queued)
        #expect(outbox.enqueue([2], as: .reliable) == .queued)
        outbox.enqueue(.pong(1))
        outbox.enqueue(.goodbye)
        #expect(outbox.count == 5)
        #expect(drain(&outbox) == [.goodbye, .pong(1), .message([1]), .message([2]), .message([9])])
        #expect(outbox.isEmpty)
    }

    @Test("a newer state replaces an older one that has not left")
    func latest() {
        var outbox = LinkOutbox()
        #expect(outbox.enqueue([1], as: .latest) == .queued)
        #expect(outbox.enqueue([2], as: .latest) == .replacedOlder)
        #expect(drain(&outbox) == [.message([2])])
    }

    @Test("a peer that asks for pongs without end gets one at a time")
    func pongs() {
        var outbox = LinkOutbox()
        for number in 0..<1_000 { outbox.enqueue(.pong(UInt32(number))) }
        #expect(drain(&outbox) == [.pong(999)])
    }

    @Test("it says when it is full, by count, by bytes, and for what fits no frame")
    func limits() {
        var outbox = LinkOutbox()
        for _ in 0..<Limits.outboxMessages { #expect(outbox.enqueue([1], as: .reliable) == .queued) }
        #expect(outbox.enqueue([1], as: .reliable) == .full)
        #expect(outbox.enqueue([1], as: .latest) == .queued)

        outbox = LinkOutbox()
        let large = [UInt8](repeating: 0, count: Limits.frameBodyBytes)
        #expect(outbox.enqueue(large + [0], as: .reliable) == .full)
        var taken = 0
        while outbox.enqueue(large, as: .reliable) == .queued { taken += 1 }
        #expect(taken == Limits.outboxBytes / large.count)
        _ = outbox.next()
        #expect(outbox.enqueue(large, as: .reliable) == .queued)
    }

    @Test("a batch takes what fits, and leaves the rest in place")
    func fitting() {
        var outbox = LinkOutbox()
        _ = outbox.enqueue([1, 2, 3], as: .reliable)
        _ = outbox.enqueue([4], as: .reliable)
        #expect(outbox.next(fitting: 5) == nil)
        #expect(outbox.next(fitting: 6) == .message([1, 2, 3]))
        #expect(outbox.count == 1)
    }
}

@Suite("Whom a host takes in")
struct AdmissionTests {
    @Test("everybody, until it is full")
    func full() {
        let admission = Admission()
        let guests = (0..<Limits.guests).map { "guest\($0)" }
        #expect(admission.answer("new", local: "host", connected: Array(guests.dropLast())) == .admit)
        #expect(admission.answer("new", local: "host", connected: guests) == .refuse(.full))
    }

    @Test("a guest that comes back replaces its own ghost, also when it is full")
    func replacing() {
        let guests = (0..<Limits.guests).map { "guest\($0)" }
        #expect(Admission().answer("guest3", local: "host", connected: guests) == .admitReplacing)
    }

    @Test("nobody who was sent away, and nobody who claims to be the host itself")
    func banned() {
        var admission = Admission()
        admission.ban("troll")
        #expect(admission.answer("troll", local: "host", connected: []) == .refuse(.banned))
        #expect(admission.answer("host", local: "host", connected: []) == .refuse(.banned))
    }
}
