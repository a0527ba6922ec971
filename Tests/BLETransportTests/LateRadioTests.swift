// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NIOConcurrencyHelpers
import Testing

@testable import Bearers

@Suite("A radio whose adapter appears later")
struct LateRadioTests {
    private let advertisement = Advertisement(
        service: ServiceType.democracyDJ.uuid, peer: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car"))

    /// An adapter that works as soon as a test says so, and the checks that wait for it.
    private final class Slot: Sendable {
        let adapter = MoodyRadio()
        private let missing: NIOLockedValueBox<BearerError?>
        let look: AsyncStream<Void>.Continuation
        let looks: AsyncStream<Void>

        init(_ missing: BearerError?) {
            self.missing = NIOLockedValueBox(missing)
            (looks, look) = AsyncStream.makeStream()
        }

        func becomes(_ error: BearerError?) {
            missing.withLockedValue { $0 = error }
            look.yield()
        }

        func radio(standIn: (any Bearer)? = nil) -> LateBearer {
            LateBearer(
                name: "lan", flags: AdvertisedFlags(), standIn: standIn,
                pause: { [looks] in for await _ in looks { return } }
            ) { () throws(BearerError) in
                if let error = self.missing.withLockedValue({ $0 }) { throw error }
                return self.adapter
            }
        }
    }

    @Test("opens without an adapter, says what is missing, and advertises when it appears")
    func appears() async throws {
        let slot = Slot(BearerError(.noAdapter))
        let radio = slot.radio()
        var events = radio.events.makeAsyncIterator()
        try await radio.open()
        guard case .failed(let error)? = await events.next() else { return #expect(Bool(false), "nothing was said") }
        #expect(error.code == .noAdapter)
        try await radio.advertise(advertisement, pace: .fast)
        // The adapter is present but off, which is another error.
        slot.becomes(BearerError(.radioOff))
        guard case .failed(let other)? = await events.next() else { return #expect(Bool(false), "nothing was said") }
        #expect(other.code == .radioOff)
        slot.becomes(nil)
        guard case .recovered? = await events.next(), case .repaired(let repair)? = await events.next() else {
            return #expect(Bool(false), "it has not begun")
        }
        #expect(repair == .adapterAppeared("moody"))
        var requests = slot.adapter.requests.makeAsyncIterator()
        #expect(await requests.next() == .advertise(advertisement, .fast))
        await radio.close()
    }

    @Test("a stand-in works until then without a notice, and both are used later")
    func standIn() async throws {
        let slot = Slot(BearerError(.noAdapter))
        let standIn = MoodyRadio()
        let radio = slot.radio(standIn: standIn)
        var events = radio.events.makeAsyncIterator()
        try await radio.open()
        try await radio.advertise(advertisement, pace: .slow)
        var requests = standIn.requests.makeAsyncIterator()
        #expect(await requests.next() == .advertise(advertisement, .slow))
        slot.becomes(nil)
        guard case .repaired(.adapterAppeared)? = await events.next() else {
            return #expect(Bool(false), "it has not begun")
        }
        try await radio.advertise(advertisement, pace: .fast)
        #expect(await requests.next() == .advertise(advertisement, .fast))
        await radio.close()
    }

    @Test("a fault that does not pass ends the start")
    func lasting() async {
        let radio = Slot(BearerError(.notPermitted)).radio()
        await #expect(throws: BearerError(.notPermitted)) { try await radio.open() }
    }
}
