// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import MeshProtocol
import TestSupport
import Testing

@testable import Bearers

@Suite("Features of the virtual radio", .timeLimit(.minutes(5)))
struct VirtualBearerTests {
    private func virtualPair() async throws -> (pair: RadioPair, air: VirtualAir)? {
        let pair = try await RadioPair()
        guard let radio = pair.host as? VirtualBearer else { return nil }
        return (pair, radio.air)
    }

    @Test("a dead zone ends a link after the supervision timeout, on both sides")
    func deadZone() async throws {
        let (pair, air) = try #require(try await virtualPair())
        let (guest, host) = try await pair.link()
        let start = ContinuousClock.now
        try air.cut("guest")
        await #expect { try await guest.receive() } throws: { ($0 as? BearerError)?.code == .channelLost }
        await #expect { try await host.receive() } throws: { ($0 as? BearerError)?.code == .channelLost }
        #expect(ContinuousClock.now - start >= Limits.supervisionTimeout)
        await pair.close()
    }

    @Test("a shorter dead zone does not end the link: SDUs sent in it arrive afterwards")
    func shortDeadZone() async throws {
        let (pair, air) = try #require(try await virtualPair())
        let (guest, host) = try await pair.link()
        try air.cut()
        let sending = Task { try await guest.send([7]) }
        air.heal()
        try await sending.value
        #expect(try await host.receive() == [7])
        await pair.close()
    }

    @Test("in a dead zone nothing is received, and a dial waits for its end")
    func dialInDeadZone() async throws {
        let (pair, air) = try #require(try await virtualPair())
        let scanResult = try await pair.sight()
        try air.cut("guest")
        let dial = Task { try await pair.guest.dial(scanResult.endpoint) }
        air.heal("guest")
        _ = try await dial.value
        await pair.close()
    }

    @Test("a host that has gone without a scan is reported as lost in the next scan")
    func lostBetweenScans() async throws {
        let (pair, _) = try #require(try await virtualPair())
        let scanResult = try await pair.sight()
        await pair.guest.stopScanning()
        await pair.host.stopAdvertising()
        try await pair.guest.scan(for: RadioPair.service)
        let lost = try await pair.guestEvents.first { event -> BearerEndpoint? in
            if case .lost(let endpoint) = event { endpoint } else { nil }
        }
        #expect(lost == scanResult.endpoint)
        await pair.close()
    }

    @Test("a host that has gone is reported as lost")
    func lost() async throws {
        let (pair, _) = try #require(try await virtualPair())
        let scanResult = try await pair.sight()
        try await pair.guest.scan(for: RadioPair.service)
        _ = try await pair.guestEvents.first { event -> Bool? in if case .heard = event { true } else { nil } }
        await pair.host.stopAdvertising()
        let lost = try await pair.guestEvents.first { event -> BearerEndpoint? in
            if case .lost(let endpoint) = event { endpoint } else { nil }
        }
        #expect(lost == scanResult.endpoint)
        await pair.close()
    }

    @Test("a removed folder is reported, and created again with the files of all radios")
    func removedFolder() async throws {
        let (pair, air) = try #require(try await virtualPair())
        let (guest, host) = try await pair.link()
        try FileManager.default.removeItem(atPath: air.directory)
        for events in [pair.hostEvents, pair.guestEvents] {
            #expect(try await failure(in: events) == BearerError(.airUnusable, air.directory))
            try await recovery(in: events)
        }
        _ = try await pair.sight()
        // Existing links do not need the folder.
        try await guest.send([7])
        #expect(try await host.receive() == [7])
        _ = try await pair.link()
        await pair.close()
    }

    @Test("an unusable folder is reported once, and the radio recovers when the folder works")
    func unusableFolder() async throws {
        let (folder, path) = (newFolder(), newFolder())
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func lead(to target: String) throws {
            try FileManager.default.createSymbolicLink(atPath: path + "~", withDestinationPath: target)
            try #require(rename(path + "~", path) == 0)
        }
        try lead(to: folder)
        let radio = try VirtualBearer(air: VirtualAir(directory: path), address: "host")
        let events = EventQueue(radio.events)
        try await radio.open()
        try lead(to: "/dev/null")
        #expect(try await failure(in: events)?.code == .airUnusable)
        try lead(to: folder)
        // No other failure comes before it.
        let next = try await events.first { event -> Bool? in if case .recovered = event { true } else { false } }
        #expect(next)
        await radio.close()
    }

    private func failure(in events: EventQueue<BearerEvent>) async throws -> BearerError? {
        try await events.first { event -> BearerError? in if case .failed(let error) = event { error } else { nil } }
    }

    private func recovery(in events: EventQueue<BearerEvent>) async throws {
        _ = try await events.first { event -> Bool? in if case .recovered = event { true } else { nil } }
    }

    @Test("an invalid address is refused", arguments: ["", "a b", "a/b", "../x", "everyone", "é"])
    func addresses(address: String) throws {
        let air = try VirtualAir(directory: newFolder())
        #expect(throws: BearerError.self) { try VirtualBearer(air: air, address: address) }
    }

    @Test("a folder whose path is too long for a socket is refused, with what to do")
    func longPath() {
        let path = "/tmp/" + String(repeating: "x", count: 200)
        #expect { try VirtualAir(directory: path) } throws: {
            ($0 as? BearerError)?.cause.contains("--air") == true
        }
    }

    @Test("invalid bytes in an ear are ignored")
    func rubbish() {
        #expect(VirtualBeacon(bytes: []) == nil)
        #expect(VirtualBeacon(bytes: Array(repeating: 0xFF, count: 30)) == nil)
        #expect(VirtualBeacon(bytes: Array(repeating: 0, count: 23))?.scanResult == nil)
    }
}
