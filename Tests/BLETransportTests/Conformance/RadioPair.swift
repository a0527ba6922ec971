// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import Testing

@testable import BLETransport

/// Two radios on one air: the virtual ones, or with ROADMESH_RADIOS=hci0,hci1 two real adapters of this machine.
struct RadioPair {
    let host: any Radio
    let guest: any Radio
    let hostEvents: EventQueue<RadioEvent>
    let guestEvents: EventQueue<RadioEvent>
    let advertisement: Advertisement

    static let service = ServiceType.democracyDJ.uuid

    init() async throws {
        if let names = ProcessInfo.processInfo.environment["ROADMESH_RADIOS"]?.split(separator: ","), names.count == 2 {
            host = try BlueZRadio(adapter: String(names[0]))
            guest = try BlueZRadio(adapter: String(names[1]))
        } else {
            let air = try VirtualAir(directory: Self.newFolder())
            host = try VirtualRadio(air: air, address: "host")
            guest = try VirtualRadio(air: air, address: "guest")
        }
        advertisement = Advertisement(
            service: Self.service, peer: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car"), hops: 3)
        hostEvents = EventQueue(host.events)
        guestEvents = EventQueue(guest.events)
        try await host.open()
        try await guest.open()
    }

    static func newFolder() -> String {
        FileManager.default.temporaryDirectory.path + "/rm-\(UInt64.random(in: 0 ... .max))"
    }

    func close() async {
        await guest.close()
        await host.close()
    }

    /// Advertises, and waits until the guest hears it.
    func sight() async throws -> Sighting {
        try await host.advertise(advertisement, pace: .fast)
        try await guest.scan(for: Self.service)
        let sighting = try await guestEvents.first { event -> Sighting? in
            guard case .heard(let sighting) = event, !sighting.advertisement.name.isEmpty else { return nil }
            return sighting
        }
        await guest.stopScanning()
        return sighting
    }

    /// The next channel that the host is dialled on.
    func accepted() async throws -> any RadioChannel {
        try await hostEvents.first { event -> (any RadioChannel)? in
            if case .accepted(let channel) = event { channel } else { nil }
        }
    }

    /// A channel between the two: the guest's end and the host's.
    func link() async throws -> (guest: any RadioChannel, host: any RadioChannel) {
        let sighting = try await sight()
        let guestEnd = try await guest.dial(sighting.endpoint)
        return (guestEnd, try await accepted())
    }
}

/// A stream's events for a test that asks for one after the other.
actor EventQueue<Event: Sendable> {
    private var waiting: [Event] = []
    private var hasEnded = false
    private var asking: CheckedContinuation<Void, Never>?
    private var reader: Task<Void, Never>?

    struct Ended: Error {}

    init(_ stream: AsyncStream<Event>) {
        Task { await self.read(stream) }
    }

    /// The first event, from the last one taken on, that the closure makes something of.
    func first<Result>(_ pick: (Event) -> Result?) async throws -> Result {
        while true {
            while !waiting.isEmpty {
                if let result = pick(waiting.removeFirst()) { return result }
            }
            if hasEnded { throw Ended() }
            await withCheckedContinuation { asking = $0 }
        }
    }

    /// Waits for the end.
    func end() async {
        while !hasEnded {
            waiting = []
            await withCheckedContinuation { asking = $0 }
        }
    }

    private func read(_ stream: AsyncStream<Event>) async {
        for await event in stream {
            waiting.append(event)
            wake()
        }
        hasEnded = true
        wake()
    }

    private func wake() {
        asking?.resume()
        asking = nil
    }
}
