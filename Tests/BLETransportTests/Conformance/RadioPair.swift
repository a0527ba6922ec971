// SPDX-License-Identifier: Apache-2.0

import ExampleBearer
import FoundationEssentials
import MeshProtocol
import TestSupport
import Testing

@testable import BLETransport
@testable import Bearers
@testable import BrokerBearer
@testable import LANBearer

/// How the SDUs are carried between two radios.
enum Carrying: String, CaseIterable, Sendable {
    /// Channels of nodes, with one packet for each SDU.
    case packets
    /// Channels of phones: streams that either side may cut anywhere.
    case stream
    /// GATT values, which are smaller than SDUs.
    case chunks
    /// TCP connections on a network.
    case lan
    /// A network and the air.
    case both
    /// An MQTT broker.
    case broker
    /// The air and a broker.
    case airAndBroker
    /// Sockets in a folder: the bearer of the tutorial "Write a bearer".
    case folder

    /// All that these radios support. With real adapters, GATT belongs to bluetoothd at both ends, and no other program
    /// can be its client.
    static var all: [Carrying] {
        if RadioPair.usesAvahi { return [.lan] }
        return RadioPair.names == nil ? allCases : [.packets, .stream]
    }
}

/// Two radios on one air: virtual radios, or with ROADMESH_RADIOS=hci0,hci1 two real adapters of this machine.
struct RadioPair {
    let host: any Bearer
    let guest: any Bearer
    let hostEvents: EventQueue<BearerEvent>
    let guestEvents: EventQueue<BearerEvent>
    let advertisement: Advertisement
    /// The guest's advertisement if it is a relay to the host.
    let relayed: Advertisement

    static let service = ServiceType.democracyDJ.uuid
    private static let car = Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car")
    private static let ana = Peer(id: "f00df00d112233445566778899aabbcc", name: "Ana")

    private static func far(_ address: BrokerAddress, _ peer: Peer) -> BrokerBearer {
        BrokerBearer(address, peer: peer, service: service)
    }

    /// The real adapters, if they are named.
    static var names: [String]? {
        let names = ProcessInfo.processInfo.environment["ROADMESH_RADIOS"]?.split(separator: ",").map(String.init)
        return names?.count == 2 ? names : nil
    }

    /// Whether this machine's networks are used (ROADMESH_LAN=avahi), or only its loopback interface.
    static var usesAvahi: Bool { ProcessInfo.processInfo.environment["ROADMESH_LAN"] == "avahi" }

    init(_ carrying: Carrying = .packets) async throws {
        if Self.usesAvahi {
            (host, guest) = (LANBearer(), LANBearer())
        } else if let names = Self.names {
            host = try BlueZBearer(adapter: names[0])
            let adapter = try BlueZBearer(adapter: names[1])
            guest = carrying == .stream ? StreamDialler(adapter, host: host) : adapter
        } else if carrying == .lan {
            let network = LoopbackNetwork()
            (host, guest) = (
                LANBearer(directory: network.directory()), LANBearer(directory: network.directory())
            )
        } else if carrying == .folder {
            let folder = newFolder()
            host = try FolderBearer(folder: folder, address: "host")
            guest = try FolderBearer(folder: folder, address: "guest")
        } else if carrying == .broker {
            let address = try LocalBroker.shared.address()
            (host, guest) = (Self.far(address, Self.car), Self.far(address, Self.ana))
        } else if carrying == .airAndBroker {
            let air = try VirtualAir(directory: newFolder())
            let address = try LocalBroker.shared.address()
            host = CombinedBearer(
                air: try VirtualBearer(air: air, address: "host"), broker: Self.far(address, Self.car))
            guest = CombinedBearer(
                air: try VirtualBearer(air: air, address: "guest"), broker: Self.far(address, Self.ana))
        } else if carrying == .both {
            let air = try VirtualAir(directory: newFolder())
            let network = LoopbackNetwork()
            host = CombinedBearer(
                air: try VirtualBearer(air: air, address: "host"), network: LANBearer(directory: network.directory()))
            guest = CombinedBearer(
                air: try VirtualBearer(air: air, address: "guest"), network: LANBearer(directory: network.directory()))
        } else {
            let air = try VirtualAir(directory: newFolder())
            let (one, other) = (
                try VirtualBearer(air: air, address: "host"), try VirtualBearer(air: air, address: "guest")
            )
            host = carrying == .packets ? one : FramedRadio(one, carrying)
            guest = carrying == .packets ? other : FramedRadio(other, carrying)
        }
        // A network keeps peers for a second after they have gone, so each pair has new identifiers.
        let car = Self.usesAvahi ? Self.other(Self.car) : Self.car
        let ana = Self.usesAvahi ? Self.other(Self.ana) : Self.ana
        var advertisement = Advertisement(service: Self.service, peer: car)
        var relayed = Advertisement(service: Self.service, relay: ana, to: car, hops: 1, hasRoom: true)
        // Real radios advertise their GATT service for phones.
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

    /// Advertises, and waits until the guest receives it.
    func sight() async throws -> ScanResult {
        try await host.advertise(advertisement, pace: .fast)
        try await guest.scan(for: Self.service)
        let scanResult = try await heard(by: guestEvents)
        await guest.stopScanning()
        return scanResult
    }

    /// Returns the next scan result with a name; for a linked radio, one on a better bearer.
    func heard(by events: EventQueue<BearerEvent>) async throws -> ScanResult {
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

    /// Returns the host's end of a channel that the guest has opened.
    func accepted(_ guestEnd: any BearerChannel) async throws -> any BearerChannel {
        try await Self.accepted(guestEnd, by: hostEvents)
    }

    /// Returns the other end of a channel, on the same bearer. If a peer was dialled on two bearers, the other channel
    /// may have opened too, and is then closed.
    static func accepted(
        _ dialled: any BearerChannel, by events: EventQueue<BearerEvent>
    ) async throws -> any BearerChannel {
        try await events.first { event -> (any BearerChannel)? in
            guard case .accepted(let channel) = event, channel.endpoint.bearer == dialled.endpoint.bearer else {
                return nil
            }
            return channel
        }
    }

    /// Opens a channel between the two. Returns the guest's end and the host's.
    func link() async throws -> (guest: any BearerChannel, host: any BearerChannel) {
        let scanResult = try await sight()
        let guestEnd = try await guest.dial(scanResult.endpoint)
        return (guestEnd, try await accepted(guestEnd))
    }
}
