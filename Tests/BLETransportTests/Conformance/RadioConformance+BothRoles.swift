// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import Bearers

/// A radio can advertise like a host while it scans, dials and links like a guest. `RelayConformance` specifies the
/// same for links that go up and down.
extension RadioConformance {
    @Test("two radios that advertise and scan at once receive each other", arguments: Carrying.all)
    func bothHeard(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        try await pair.host.advertise(pair.advertisement, pace: .fast)
        try await pair.guest.advertise(pair.relayed, pace: .fast)
        try await pair.host.scan(for: RadioPair.service)
        try await pair.guest.scan(for: RadioPair.service)
        #expect(try await pair.heard(by: pair.guestEvents).advertisement == pair.advertisement)
        #expect(try await pair.heard(by: pair.hostEvents).advertisement == pair.relayed)
        await pair.close()
    }

    @Test("a linked guest can advertise and scan, and its link continues", arguments: Carrying.all)
    func guestIsFound(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let (guest, host) = try await pair.link()
        try await pair.guest.advertise(pair.relayed, pace: .fast)
        try await pair.host.scan(for: RadioPair.service)
        let relay = try await pair.heard(by: pair.hostEvents)
        #expect(relay.advertisement == pair.relayed && relay.endpoint.psm >= 0x80)
        try await pair.host.advertise(pair.advertisement, pace: .fast)
        try await pair.guest.scan(for: RadioPair.service)
        #expect(try await pair.heard(by: pair.guestEvents).advertisement == pair.advertisement)
        try await echo(guest, host)
        await pair.guest.stopAdvertising()
        try await echo(guest, host)
        await pair.close()
    }

    @Test(
        "a radio advertises while its dial is pending, and can be dialled after it has given up the dial",
        arguments: Carrying.all)
    func heardWhileDialling(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        let host = try await pair.sight()
        await pair.host.stopAdvertising()
        try await pair.guest.advertise(pair.relayed, pace: .fast)
        let waiting = Task { try await pair.guest.dial(host.endpoint) }
        try await pair.host.scan(for: RadioPair.service)
        let relay = try await pair.heard(by: pair.hostEvents)
        #expect(relay.advertisement == pair.relayed)
        await pair.host.stopScanning()
        waiting.cancel()
        await #expect(throws: BearerError.self) { try await waiting.value }
        let dialled = try await pair.host.dial(relay.endpoint)
        try await echo(dialled, try await RadioPair.accepted(dialled, by: pair.guestEvents))
        await pair.close()
    }

    @Test("a radio that advertises can link to a host, and still advertises afterwards", arguments: Carrying.all)
    func heardWhenLinked(by carrying: Carrying) async throws {
        let pair = try await RadioPair(carrying)
        try await pair.guest.advertise(pair.relayed, pace: .fast)
        let (guest, host) = try await pair.link()
        try await echo(guest, host)
        try await pair.host.scan(for: RadioPair.service)
        #expect(try await pair.heard(by: pair.hostEvents).advertisement == pair.relayed)
        await pair.close()
    }

    private func echo(_ one: any BearerChannel, _ other: any BearerChannel) async throws {
        try await one.send([1, 2])
        #expect(try await other.receive() == [1, 2])
        try await other.send([3])
        #expect(try await one.receive() == [3])
    }
}
