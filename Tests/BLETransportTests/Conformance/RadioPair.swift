// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import TestSupport
import Testing

@testable import BLETransport

/// Two radios on one air: the virtual ones, or with ROADMESH_RADIOS=hci0,hci1 two real adapters of this machine.
struct RadioPair {
    let host: any Radio
    let guest: any Radio
    let hostEvents: EventQueue<RadioEvent>
    let guestEvents: EventQueue<RadioEvent>
    let advertisement: Advertisement
    /// What the guest advertises where it is a relay to the host.
    let relayed: Advertisement

    static let service = ServiceType.democracyDJ.uuid

    init() async throws {
        if let names = ProcessInfo.processInfo.environment["ROADMESH_RADIOS"]?.split(separator: ","), names.count == 2 {
            host = try BlueZRadio(adapter: String(names[0]))
            guest = try BlueZRadio(adapter: String(names[1]))
        } else {
            let air = try VirtualAir(directory: newFolder())
            host = try VirtualRadio(air: air, address: "host")
            guest = try VirtualRadio(air: air, address: "guest")
        }
        let car = Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car")
        advertisement = Advertisement(service: Self.service, peer: car)
        relayed = Advertisement(
            service: Self.service, relay: Peer(id: "f00df00d112233445566778899aabbcc", name: "Ana"), to: car, hops: 1,
            hasRoom: true)
        hostEvents = EventQueue(host.events)
        guestEvents = EventQueue(guest.events)
        try await host.open()
        try await guest.open()
    }

    func close() async {
        await guest.close()
        await host.close()
    }

    /// Advertises, and waits until the guest hears it.
    func sight() async throws -> ScanResult {
        try await host.advertise(advertisement, pace: .fast)
        try await guest.scan(for: Self.service)
        let scanResult = try await heard(by: guestEvents)
        await guest.stopScanning()
        return scanResult
    }

    /// What is heard next, with its name.
    func heard(by events: EventQueue<RadioEvent>) async throws -> ScanResult {
        try await events.first { event -> ScanResult? in
            guard case .heard(let scanResult) = event, !scanResult.advertisement.name.isEmpty else { return nil }
            return scanResult
        }
    }

    /// The next channel that the host is dialled on.
    func accepted() async throws -> any RadioChannel {
        try await hostEvents.first { event -> (any RadioChannel)? in
            if case .accepted(let channel) = event { channel } else { nil }
        }
    }

    /// A channel between the two: the guest's end and the host's.
    func link() async throws -> (guest: any RadioChannel, host: any RadioChannel) {
        let scanResult = try await sight()
        let guestEnd = try await guest.dial(scanResult.endpoint)
        return (guestEnd, try await accepted())
    }
}
