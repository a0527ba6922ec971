// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import TestSupport
import Testing

@testable import BLETransport
@testable import Bearers
@testable import LANBearer

@Suite("Choosing between two bearers for a peer")
struct BearerPolicyTests {
    private let advertisement = Advertisement(
        service: ServiceType.democracyDJ.uuid, peer: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car"))
    private let onAir = BearerEndpoint(address: "00:11", psm: 0x80)
    private let farAway = BearerEndpoint(address: "c0ffee0011223344", psm: 0x80, bearer: .broker)
    private let inNetwork = BearerEndpoint(address: "c0ffee", psm: 0x80, bearer: .lan)

    private func result(_ endpoint: BearerEndpoint) -> ScanResult {
        ScanResult(endpoint: endpoint, advertisement: advertisement, rssi: nil)
    }

    /// A record that has scan results of the host on both bearers.
    private func both() -> BearerPolicy {
        var account = BearerPolicy()
        account.isScanning = true
        _ = account.told(.heard(result(onAir)), by: .air, now: .zero)
        _ = account.told(.heard(result(inNetwork)), by: .network, now: .zero)
        return account
    }

    private func heard(_ event: BearerEvent?) -> BearerEndpoint? {
        if case .heard(let result) = event { result.endpoint } else { nil }
    }

    private func better(_ event: BearerEvent?) -> BearerEndpoint? {
        if case .better(let result) = event { result.endpoint } else { nil }
    }

    @Test("a host in range of both bearers is one host, and is reported as on the network")
    func one() {
        var account = BearerPolicy()
        account.isScanning = true
        #expect(heard(account.told(.heard(result(onAir)), by: .air, now: .zero)) == onAir)
        #expect(heard(account.told(.heard(result(inNetwork)), by: .network, now: .zero)) == inNetwork)
        #expect(account.told(.heard(result(onAir)), by: .air, now: .seconds(1)) == nil)
        #expect(account.told(.lost(onAir), by: .air, now: .seconds(1)) == nil)
        #expect(heard(account.told(.heard(result(onAir)), by: .air, now: .seconds(1))) == nil)
        #expect(heard(account.told(.lost(inNetwork), by: .network, now: .seconds(1))) == onAir)
        guard case .lost(onAir) = account.told(.lost(onAir), by: .air, now: .seconds(2)) else {
            Issue.record("it is not heard any more")
            return
        }
    }

    @Test("a host is dialled over the network first, and over the air a little later")
    func dials() {
        var account = both()
        let first = BearerPolicy.Attempt(side: .network, endpoint: inNetwork, delay: .zero)
        let wait = BearerLimits.networkFirst
        for endpoint in [onAir, inNetwork] {
            #expect(
                account.attempts(for: endpoint)
                    == [first, BearerPolicy.Attempt(side: .air, endpoint: onAir, delay: wait)])
        }
        account.opened(inNetwork)
        account.closed(inNetwork, isLost: true, now: .seconds(1))
        #expect(account.attempts(for: onAir).map(\.delay) == [.zero, .zero], "after a loss nothing is waited for")
        let other = BearerEndpoint(address: "22:33")
        #expect(account.attempts(for: other).map(\.endpoint) == [other])
    }

    @Test("a broker comes last: a host that is also on the air is reported and dialled there first")
    func brokerLast() {
        var account = BearerPolicy()
        account.isScanning = true
        #expect(heard(account.told(.heard(result(farAway)), by: .broker, now: .zero)) == farAway)
        #expect(account.attempts(for: farAway).map(\.delay) == [.zero])
        #expect(heard(account.told(.heard(result(onAir)), by: .air, now: .zero)) == onAir)
        #expect(account.told(.heard(result(farAway)), by: .broker, now: .seconds(1)) == nil)
        let attempts = account.attempts(for: onAir)
        #expect(attempts.map(\.endpoint) == [onAir, farAway])
        #expect(attempts.map(\.delay) == [.zero, BearerLimits.brokerLast])
        #expect(heard(account.told(.lost(onAir), by: .air, now: .seconds(2))) == farAway)
    }

    @Test("while a broker carries the link, air and network are reported as better, and each is dialled alone")
    func comesNear() {
        var account = BearerPolicy()
        account.isScanning = true
        _ = account.told(.heard(result(farAway)), by: .broker, now: .zero)
        #expect(!account.isFar)
        account.opened(farAway)
        account.isScanning = false
        #expect(account.isFar)
        #expect(better(account.told(.heard(result(onAir)), by: .air, now: .seconds(1))) == onAir)
        #expect(account.attempts(for: farAway).map(\.side) == [.air])
        account.opened(onAir)
        account.closed(farAway, isLost: false, now: .seconds(2))
        #expect(!account.isFar)
        #expect(account.told(.heard(result(farAway)), by: .broker, now: .seconds(9)) == nil)
        #expect(better(account.told(.heard(result(inNetwork)), by: .network, now: .seconds(9))) == inNetwork)
    }

    @Test("while the air carries the link, the network is reported as better, dialled alone, and not too often")
    func goesOver() {
        var account = both()
        account.isScanning = false
        #expect(account.told(.heard(result(inNetwork)), by: .network, now: .zero) == nil)
        account.opened(onAir)
        #expect(better(account.told(.heard(result(inNetwork)), by: .network, now: .zero)) == inNetwork)
        #expect(account.told(.heard(result(inNetwork)), by: .network, now: .seconds(1)) == nil)
        #expect(account.attempts(for: onAir).map(\.side) == [.network])
        account.opened(inNetwork)
        account.closed(onAir, isLost: false, now: .seconds(2))
        #expect(account.told(.heard(result(inNetwork)), by: .network, now: .seconds(30)) == nil)
        account.closed(inNetwork, isLost: true, now: .seconds(31))
        account.opened(onAir)
        #expect(account.told(.heard(result(inNetwork)), by: .network, now: .seconds(32)) == nil)
        let again = MeshInstant.seconds(31) + BearerLimits.betterPause
        #expect(better(account.told(.heard(result(inNetwork)), by: .network, now: again)) == inNetwork)
    }

    @Test("this node's own advertisement is ignored, and a failure of the network is not a failure of the node")
    func own() {
        var account = BearerPolicy()
        account.isScanning = true
        account.advertised = advertisement
        #expect(account.told(.heard(result(inNetwork)), by: .network, now: .zero) == nil)
        #expect(account.told(.failed(BearerError(.failed)), by: .network, now: .zero) == nil)
        #expect(account.told(.failed(BearerError(.failed)), by: .air, now: .zero) != nil)
    }

    @Test("a bounded number of hosts is kept, and those with a link are never dropped")
    func bounded() {
        var account = both()
        account.opened(onAir)
        for number in 0..<BearerLimits.scanResults * 2 {
            let peer = Peer(
                id: Hex.text([UInt8(number & 255), UInt8(number >> 8)]) + "00ff00112233445566778899aabb", name: "")
            let other = Advertisement(service: advertisement.service, peer: peer)
            let endpoint = BearerEndpoint(address: "\(number)")
            _ = account.told(
                .heard(ScanResult(endpoint: endpoint, advertisement: other, rssi: nil)), by: .air, now: .zero)
        }
        #expect(account.attempts(for: onAir).map(\.side) == [.network])
        #expect(account.count <= BearerLimits.scanResults)
    }
}

@Suite("A radio with an air and a network", .serialized, .timeLimit(.minutes(5)))
struct CombinedRadioTests {
    /// A host and a guest with an air and a network. A test can remove each of these.
    private struct Pair {
        let air: VirtualAir
        let network = LoopbackNetwork()
        let host: CombinedBearer
        let guest: CombinedBearer
        let hostEvents: EventQueue<BearerEvent>
        let guestEvents: EventQueue<BearerEvent>
        let hostAir: VirtualBearer
        let hostLAN: LANBearer
        let advertisement = Advertisement(
            service: ServiceType.democracyDJ.uuid,
            peer: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car"))

        init() async throws {
            air = try VirtualAir(directory: newFolder())
            hostAir = try VirtualBearer(air: air, address: "host")
            hostLAN = LANBearer(directory: network.directory())
            host = CombinedBearer(air: hostAir, network: hostLAN)
            guest = CombinedBearer(
                air: try VirtualBearer(air: air, address: "guest"), network: LANBearer(directory: network.directory()))
            (hostEvents, guestEvents) = (EventQueue(host.events), EventQueue(guest.events))
            try await host.open()
            try await guest.open()
        }

        /// Returns the endpoint at which a bearer finds the host.
        func heard(on bearer: BearerKind) async throws -> BearerEndpoint {
            try await guest.scan(for: advertisement.service)
            return try await guestEvents.first { event -> BearerEndpoint? in
                guard case .heard(let result) = event, result.endpoint.bearer == bearer else { return nil }
                return result.endpoint
            }
        }

        /// Returns the host's endpoint on the network, after it was found on the air.
        func heardOnBoth() async throws -> BearerEndpoint {
            try await hostAir.advertise(advertisement, pace: .fast)
            _ = try await heard(on: .virtual)
            try await host.advertise(advertisement, pace: .fast)
            return try await heard(on: .lan)
        }

        /// Dials until the channel is on the air. A closed listener may accept for a short time if the process forks:
        /// the child has the socket until it executes another program. Such a channel ends soon.
        func dialOnAir(_ endpoint: BearerEndpoint) async throws -> any BearerChannel {
            while true {
                let channel = try await guest.dial(endpoint)
                guard channel.endpoint.bearer == .lan else { return channel }
                _ = try? await channel.receive()
                channel.close()
            }
        }

        func close() async {
            await guest.close()
            await host.close()
        }
    }

    @Test("a host that is in range of both is dialled over the network")
    func prefersNetwork() async throws {
        let pair = try await Pair()
        try await pair.host.advertise(pair.advertisement, pace: .fast)
        let channel = try await pair.guest.dial(try await pair.heard(on: .lan))
        #expect(channel.endpoint.bearer == .lan)
        let other = try await RadioPair.accepted(channel, by: pair.hostEvents)
        try await channel.send([1])
        #expect(try await other.receive() == [1])
        await pair.close()
    }

    @Test("a host that has left the network is dialled over the air, with its endpoint on the network")
    func fallsBack() async throws {
        let pair = try await Pair()
        let endpoint = try await pair.heardOnBoth()
        await pair.hostLAN.stopAdvertising()
        let channel = try await pair.dialOnAir(endpoint)
        #expect(channel.endpoint.bearer == .virtual)
        await pair.close()
    }

    @Test("a guest on the air learns that its host is on the network, changes to it, and returns when it is gone")
    func goesOver() async throws {
        let pair = try await Pair()
        try await pair.hostAir.advertise(pair.advertisement, pace: .fast)
        let endpoint = try await pair.heard(on: .virtual)
        let first = try await pair.guest.dial(endpoint)
        await pair.guest.stopScanning()
        try await pair.hostLAN.advertise(pair.advertisement, pace: .fast)
        let better = try await pair.guestEvents.first { event -> BearerEndpoint? in
            if case .better(let result) = event { result.endpoint } else { nil }
        }
        let second = try await pair.guest.dial(better)
        #expect(first.endpoint.bearer == .virtual && second.endpoint.bearer == .lan)
        first.close()
        await pair.hostLAN.close()
        // TCP resets the link if the host has not read everything.
        #expect((try? await second.receive()) == nil)
        let third = try await pair.dialOnAir(better)
        #expect(third.endpoint.bearer == .virtual)
        await pair.close()
    }

    @Test(
        "a failing dial of the better bearer ends; if its link is lost meanwhile, any available bearer is used"
    )
    func lostMeanwhile() async throws {
        let pair = try await Pair()
        let endpoint = try await pair.heardOnBoth()
        await pair.hostLAN.stopAdvertising()
        let first = try await pair.dialOnAir(endpoint)
        #expect(first.endpoint.bearer == .virtual)
        await #expect(throws: BearerError.self) { try await pair.guest.dial(endpoint) }
        let waiting = Task { try await pair.guest.dial(endpoint) }
        first.close()
        #expect(try await waiting.value.endpoint.bearer == .virtual)
        await pair.close()
    }
}
