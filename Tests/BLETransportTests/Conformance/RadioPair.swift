// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import TestSupport
import Testing

@testable import BLETransport
@testable import BrokerRadio
@testable import LANRadio

/// What carries the SDUs between two radios.
enum Carrying: String, CaseIterable, Sendable {
    /// The channels of nodes, of which each packet is one.
    case packets
    /// Those of phones: streams, which either side cuts as it likes.
    case stream
    /// GATT's values, too small for them.
    case chunks
    /// TCP connections of a network.
    case lan
    /// A network beside the air.
    case both
    /// An MQTT broker.
    case broker
    /// The air with a broker beside it.
    case airAndBroker

    /// All that these radios have. GATT of real ones is bluetoothd's at both ends, and nobody else can be a client on it.
    static var all: [Carrying] {
        if RadioPair.usesAvahi { return [.lan] }
        return RadioPair.names == nil ? allCases : [.packets, .stream]
    }
}

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
    private static let car = Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car")
    private static let ana = Peer(id: "f00df00d112233445566778899aabbcc", name: "Ana")

    private static func far(_ address: BrokerAddress, _ peer: Peer) -> BrokerRadio {
        BrokerRadio(address, peer: peer, service: service)
    }

    /// The real adapters, where they are named.
    static var names: [String]? {
        let names = ProcessInfo.processInfo.environment["ROADMESH_RADIOS"]?.split(separator: ",").map(String.init)
        return names?.count == 2 ? names : nil
    }

    /// Whether the networks of this machine are used, with ROADMESH_LAN=avahi, and not only itself.
    static var usesAvahi: Bool { ProcessInfo.processInfo.environment["ROADMESH_LAN"] == "avahi" }

    init(_ carrying: Carrying = .packets) async throws {
        if Self.usesAvahi {
            (host, guest) = (LANRadio(), LANRadio())
        } else if let names = Self.names {
            host = try BlueZRadio(adapter: names[0])
            let adapter = try BlueZRadio(adapter: names[1])
            guest = carrying == .stream ? StreamDialler(adapter, host: host) : adapter
        } else if carrying == .lan {
            let network = LoopbackNetwork()
            (host, guest) = (
                LANRadio(directory: network.directory()), LANRadio(directory: network.directory())
            )
        } else if carrying == .broker {
            let address = try LocalBroker.shared.address()
            (host, guest) = (Self.far(address, Self.car), Self.far(address, Self.ana))
        } else if carrying == .airAndBroker {
            let air = try VirtualAir(directory: newFolder())
            let address = try LocalBroker.shared.address()
            host = CombinedRadio(
                air: try VirtualRadio(air: air, address: "host"), broker: Self.far(address, Self.car))
            guest = CombinedRadio(
                air: try VirtualRadio(air: air, address: "guest"), broker: Self.far(address, Self.ana))
        } else if carrying == .both {
            let air = try VirtualAir(directory: newFolder())
            let network = LoopbackNetwork()
            host = CombinedRadio(
                air: try VirtualRadio(air: air, address: "host"), network: LANRadio(directory: network.directory()))
            guest = CombinedRadio(
                air: try VirtualRadio(air: air, address: "guest"), network: LANRadio(directory: network.directory()))
        } else {
            let air = try VirtualAir(directory: newFolder())
            let (one, other) = (
                try VirtualRadio(air: air, address: "host"), try VirtualRadio(air: air, address: "guest")
            )
            host = carrying == .packets ? one : FramedRadio(one, carrying)
            guest = carrying == .packets ? other : FramedRadio(other, carrying)
        }
        // A network knows those who are gone for a second more: each pair are others.
        let car = Self.usesAvahi ? Self.other(Self.car) : Self.car
        let ana = Self.usesAvahi ? Self.other(Self.ana) : Self.ana
        var advertisement = Advertisement(service: Self.service, peer: car)
        var relayed = Advertisement(service: Self.service, relay: ana, to: car, hops: 1, hasRoom: true)
        // Real radios have a GATT service for phones, and say so.
        if Self.names != nil {
            advertisement.flags.ignorable.insert(.gatt)
            relayed.flags.ignorable.insert(.gatt)
        }
        (self.advertisement, self.relayed) = (advertisement, relayed)
        hostEvents = EventQueue(host.events)
        guestEvents = EventQueue(guest.events)
        try await host.open()
        try await guest.open()
    }

    private static func other(_ peer: Peer) -> Peer {
        Peer(id: Peer.ID(Hex.text((0..<16).map { _ in UInt8.random(in: 0...255) })), name: peer.name)
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

    /// What is heard next, with its name; on a better bearer, where it is linked on a lesser one.
    func heard(by events: EventQueue<RadioEvent>) async throws -> ScanResult {
        let heads = [advertisement.idPrefix, relayed.idPrefix]
        return try await events.first { event -> ScanResult? in
            let heard: ScanResult? =
                switch event {
                case .heard(let result), .better(let result): result
                default: nil
                }
            guard let heard, heads.contains(heard.advertisement.idPrefix), !heard.advertisement.name.isEmpty else {
                return nil
            }
            return heard
        }
    }

    /// The host's end of a channel that the guest has.
    func accepted(_ guestEnd: any RadioChannel) async throws -> any RadioChannel {
        try await Self.accepted(guestEnd, by: hostEvents)
    }

    /// The other end of a channel, on the bearer that it is on: where a peer is dialled on two, the other one may have opened too, and
    /// is closed then.
    static func accepted(
        _ dialled: any RadioChannel, by events: EventQueue<RadioEvent>
    ) async throws -> any RadioChannel {
        try await events.first { event -> (any RadioChannel)? in
            guard case .accepted(let channel) = event, channel.endpoint.bearer == dialled.endpoint.bearer else {
                return nil
            }
            return channel
        }
    }

    /// A channel between the two: the guest's end and the host's.
    func link() async throws -> (guest: any RadioChannel, host: any RadioChannel) {
        let scanResult = try await sight()
        let guestEnd = try await guest.dial(scanResult.endpoint)
        return (guestEnd, try await accepted(guestEnd))
    }
}
