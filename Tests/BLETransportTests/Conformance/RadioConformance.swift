// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import MeshProtocol
import Testing

@testable import Bearers

/// Requirements of every bearer. The same tests run on virtual radios here, and on real adapters in the radio lab
/// (`RadioPair`).
@Suite("RadioConformance", .serialized, .timeLimit(.minutes(5)))
struct RadioConformance {
    @Test("a host's advertisement is received, with its name", arguments: Carrying.all)
    func heard(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let scanResult = try await pair.sight()
        #expect(scanResult.advertisement == pair.advertisement)
        #expect(scanResult.endpoint.psm >= 0x80)
        await pair.close()
    }

    @Test("an advertisement can be changed, and the change is received", arguments: Carrying.all)
    func changed(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        _ = try await pair.sight()
        var changed = pair.advertisement
        let unknown = AdvertisedFlags.Critical(rawValue: 8)
        changed.flags.critical = [unknown]
        try await pair.host.advertise(changed, pace: .slow)
        try await pair.guest.scan(for: RadioPair.service)
        let flags = try await pair.guestEvents.first { event -> AdvertisedFlags? in
            guard case .heard(let scanResult) = event, scanResult.advertisement.flags.critical == [unknown] else {
                return nil
            }
            return scanResult.advertisement.flags
        }
        #expect(flags.areKnown == false)
        await pair.close()
    }

    @Test(
        "SDUs arrive complete and in order, both ways, including those sent without waiting",
        arguments: Carrying.all)
    func exchange(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let (guest, host) = try await pair.link()
        let sdus: [[UInt8]] = [[1], [2, 3], Array(repeating: 4, count: 245), Array(repeating: 5, count: 1_000)]
        for sdu in sdus { try await guest.send(sdu) }
        for sdu in sdus { #expect(try await host.receive() == sdu) }
        for sdu in sdus { try await host.send(sdu) }
        for sdu in sdus { #expect(try await guest.receive() == sdu) }
        try await exchangeAtOnce(guest, host)
        await pair.close()
    }

    private func exchangeAtOnce(_ guest: any BearerChannel, _ host: any BearerChannel) async throws {
        let most = 2_000
        var sent = 0
        func sdu(_ number: Int) -> [UInt8] {
            [UInt8(number & 255), UInt8(number >> 8)] + Array(repeating: 0, count: 500)
        }
        while sent < most, try guest.sendAtOnce(sdu(sent)) { sent += 1 }
        #expect((1..<most).contains(sent), "\(sent) SDUs were taken: the other side reads none of them")
        for number in 0..<sent { #expect(try await host.receive() == sdu(number)) }
        // There is room again once this side learns that its SDUs were read.
        try await guest.send([1])
        #expect(try await host.receive() == [1])
        while try !guest.sendAtOnce([2]) { await Task.yield() }
        #expect(try await host.receive() == [2])
        #expect(throws: BearerError.self) { try guest.sendAtOnce(Array(repeating: 0, count: guest.sendMTU + 1)) }
        guest.close()
        #expect(throws: BearerError.self) { try guest.sendAtOnce([3]) }
    }

    @Test("the largest SDU arrives, and a larger one is refused without harm", arguments: Carrying.all)
    func sizes(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let (guest, host) = try await pair.link()
        #expect(guest.sendMTU == Limits.sduBytes)
        let largest = (0..<guest.sendMTU).map { UInt8(truncatingIfNeeded: $0) }
        try await guest.send(largest)
        #expect(try await host.receive() == largest)
        await #expect { try await guest.send(largest + [0]) } throws: { ($0 as? BearerError)?.code == .tooLarge }
        try await guest.send([1])
        #expect(try await host.receive() == [1])
        await pair.close()
    }

    @Test("a slow reader blocks the writer: memory does not grow, and no SDU is lost", arguments: Carrying.all)
    func backpressure(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let (guest, host) = try await pair.link()
        let count = 150
        let sent = NIOLockedValueBox(0)
        let (progress, report) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let writer = Task {
            for number in 0..<count {
                try await guest.send([UInt8(number)] + [UInt8](repeating: 0, count: 1_999))
                sent.withLockedValue { $0 += 1 }
                report.yield()
            }
        }
        var steps = progress.makeAsyncIterator()
        var mostUnread = 0
        for number in 0..<count {
            // Before the first read, the writer gets as far ahead as it can.
            while number == 0, sent.withLockedValue({ $0 }) < 3 { await steps.next() }
            mostUnread = max(mostUnread, sent.withLockedValue { $0 } - number)
            #expect(try await host.receive()?.first == UInt8(number))
        }
        try await writer.value
        #expect(mostUnread * 2_000 < 200_000, "\(mostUnread) SDUs of 2,000 bytes were under way")
        await pair.close()
    }

    @Test("channels that are open at the same time do not mix their SDUs", arguments: Carrying.all)
    func severalChannels(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let scanResult = try await pair.sight()
        var guests: [any BearerChannel] = []
        var hosts: [any BearerChannel] = []
        for _ in 0..<3 {
            let channel = try await pair.guest.dial(scanResult.endpoint)
            guests.append(channel)
            hosts.append(try await pair.accepted(channel))
        }
        for (number, channel) in guests.enumerated() { try await channel.send([UInt8(number)]) }
        for (number, channel) in hosts.enumerated() { #expect(try await channel.receive() == [UInt8(number)]) }
        await pair.close()
    }

    @Test("when one side closes, the other receives all earlier SDUs and then the end", arguments: Carrying.all)
    func closing(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let (guest, host) = try await pair.link()
        try await host.send([1])
        #expect(try await guest.receive() == [1])
        host.close()
        do {
            #expect(try await guest.receive() == nil)
        } catch {
            #expect(error.code == .channelLost)
        }
        await #expect(throws: BearerError.self) { try await host.send([2]) }
        await #expect(throws: BearerError.self) { _ = try await host.receive() }
        await pair.close()
    }

    @Test("closing a channel ends all waits on it", arguments: Carrying.all)
    func closingWhileWaiting(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let (guest, host) = try await pair.link()
        let reader = Task { try await guest.receive() }
        guest.close()
        await #expect { try await reader.value } throws: { ($0 as? BearerError)?.code == .closed }
        // A channel without references closes too, and the other side would see that instead.
        withExtendedLifetime(host) {}
        await pair.close()
    }

    @Test(
        "a dial to a missing host stays pending, ends when it is cancelled, and leaves the radio usable",
        arguments: Carrying.all)
    func cancelledDial(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let scanResult = try await pair.sight()
        await pair.host.stopAdvertising()
        let dial = Task { try await pair.guest.dial(scanResult.endpoint) }
        dial.cancel()
        await #expect { try await dial.value } throws: { ($0 as? BearerError)?.code == .cancelled }
        let (guest, host) = try await pair.link()
        try await guest.send([1])
        #expect(try await host.receive() == [1])
        await pair.close()
    }

    @Test("a dial that waits through a gap links as soon as the host is back", arguments: Carrying.all)
    func pendingDial(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let scanResult = try await pair.sight()
        await pair.host.stopAdvertising()
        let dial = Task { try await pair.guest.dial(scanResult.endpoint) }
        try await pair.host.advertise(pair.advertisement, pace: .fast)
        let guest = try await dial.value
        let host = try await pair.accepted(guest)
        try await guest.send([9])
        #expect(try await host.receive() == [9])
        await pair.close()
    }

    @Test("the host can still be found while a guest is linked", arguments: Carrying.all)
    func advertisesOn(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let (guest, _) = try await pair.link()
        try await pair.host.advertise(pair.advertisement, pace: .fast)
        let again = try await pair.sight()
        #expect(again.advertisement.idPrefix == pair.advertisement.idPrefix)
        guest.close()
        await pair.close()
    }

    @Test("closing the radio ends its events and all channels", arguments: Carrying.all)
    func closingTheRadio(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let (guest, host) = try await pair.link()
        let reader = Task { try? await host.receive() }
        await pair.guest.close()
        await pair.guestEvents.end()
        #expect(await reader.value == nil)
        await #expect(throws: BearerError.self) { try await guest.send([1]) }
        await pair.host.close()
    }
}
