// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import Bearers
@testable import LANBearer

@Suite("Requests to avahi-daemon, and its answers")
struct AvahiMachineTests {
    private static let car = Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car")
    private let record = ServiceRecord(
        Advertisement(service: ServiceType.democracyDJ.uuid, peer: Self.car), port: 4_711)
    private let place = ServicePlace(name: "c0ffee", interface: 2, isIPv6: false)
    private var service: FoundService { FoundService(place: place, address: "10.0.0.1", port: 1, txt: record.txt) }

    private func registered() -> AvahiMachine {
        var machine = AvahiMachine()
        #expect(machine.publish(record) == [])
        #expect(machine.connected() == [.call(.askState)])
        #expect(machine.handle(.server(isRunning: true)) == [.call(.newGroup)])
        #expect(machine.handle(.group("/g", error: "")) == [.call(.register(group: "/g", record))])
        #expect(machine.handle(.taken(error: "")) == [])
        return machine
    }

    @Test("a host is registered once, when the daemon runs")
    func registers() {
        var machine = registered()
        #expect(machine.publish(record) == [])
        #expect(machine.handle(.groupState(.established)) == [])
        #expect(machine.publish(nil) == [.call(.reset(group: "/g"))])
    }

    @Test("a host's record can change without a gap")
    func updates() {
        var machine = registered()
        var changed = record
        changed.txt = [[1]]
        #expect(machine.publish(changed) == [.call(.update(group: "/g", changed))])
        changed.port += 1
        #expect(machine.publish(changed) == [.call(.reset(group: "/g")), .call(.register(group: "/g", changed))])
    }

    @Test("a restart of the daemon is reported, and everything is registered and browsed again")
    func restart() {
        var machine = registered()
        #expect(machine.browse() == [.call(.browse)])
        #expect(machine.handle(.browser("/b", error: "")) == [])
        #expect(machine.handle(.new(place)) == [.call(.resolve(1, place))])
        #expect(machine.handle(.found(service)) == [.tell(.found(service))])
        let failure = BearerError(.serviceNotRunning, "avahi-daemon is not running")
        #expect(machine.handle(.owner(isThere: false)) == [.tell(.gone(place)), .tell(.failed(failure))])
        #expect(machine.handle(.owner(isThere: true)) == [.call(.askState)])
        #expect(
            machine.handle(.server(isRunning: true)) == [.tell(.works), .call(.newGroup), .call(.browse)])
        #expect(machine.handle(.group("/h", error: "")) == [.call(.register(group: "/h", record))])
    }

    @Test("a missing daemon is reported once, and gets no requests")
    func noDaemon() {
        var machine = AvahiMachine()
        _ = machine.connected()
        #expect(machine.handle(.server(isRunning: nil)).count == 1)
        #expect(machine.handle(.server(isRunning: nil)) == [])
        #expect(machine.publish(record) == [])
        #expect(machine.browse() == [])
    }

    @Test("a name that is taken gets a number, and after some numbers the host gives up")
    func collisions() {
        var machine = registered()
        for number in 2...LANLimits.names {
            var renamed = record
            renamed.name += "-\(number)"
            #expect(
                machine.handle(
                    number == 2 ? .taken(error: "org.freedesktop.Avahi.CollisionError") : .groupState(.collision))
                    == [.call(.reset(group: "/g")), .call(.register(group: "/g", renamed))])
        }
        #expect(machine.handle(.groupState(.collision)) == [.call(.reset(group: "/g"))])
        #expect(machine.handle(.groupState(.collision)) == [])
    }

    @Test("a service that disappears while it is resolved leaves no resolver in the daemon")
    func resolvers() {
        var machine = registered()
        _ = machine.handle(.new(place))
        #expect(machine.handle(.removed(place)) == [.tell(.gone(place))])
        #expect(machine.handle(.resolver(1, path: "/r")) == [.call(.freeResolver("/r"))])
        #expect(machine.handle(.found(service)) == [])
        for number in 0..<LANLimits.resolvers + 3 {
            _ = machine.handle(.new(ServicePlace(name: "\(number)", interface: 1, isIPv6: false)))
        }
        #expect(machine.handle(.new(place)) == [], "no more than the daemon takes")
    }
}

@Suite("Services that were found, and their reports")
struct KnownServicesTests {
    private static let service = ServiceType.democracyDJ.uuid
    private let advertisement = Advertisement(
        service: Self.service, peer: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car"))

    private func found(_ name: String = "a", on interface: Int = 1, at address: String = "10.0.0.1") -> FoundService {
        FoundService(
            place: ServicePlace(name: name, interface: interface, isIPv6: address.contains(":")), address: address,
            port: 4_711, txt: ServiceRecord.strings(of: advertisement))
    }

    private func heard(_ events: [BearerEvent]) -> [String] {
        events.compactMap { if case .heard(let result) = $0 { result.endpoint.address } else { nil } }
    }

    private func lost(_ events: [BearerEvent]) -> [String] {
        events.compactMap { if case .lost(let endpoint) = $0 { endpoint.address } else { nil } }
    }

    private func count(_ events: [BearerEvent]) -> Int { events.count }

    @Test("a valid TXT record contains an advertisement, and other records are ignored")
    func records() {
        let txt = ServiceRecord.strings(of: advertisement)
        #expect(ServiceRecord.advertisement(in: txt) == advertisement)
        for number in txt.indices {
            var broken = txt
            broken[number] = Array("x=".utf8)
            #expect(ServiceRecord.advertisement(in: broken) == nil)
            broken[number] = txt[number] + [0xFF]
            #expect(ServiceRecord.advertisement(in: broken) == nil)
        }
    }

    @Test("a host is reported during a scan, about once a second, and as gone once all its addresses are gone")
    func places() {
        var services = KnownServices()
        #expect(count(services.found(found(), now: .zero)) == 0)
        #expect(heard(services.scan(for: Self.service, now: .zero)) == ["a"])
        #expect(count(services.found(found(at: "fe80::1"), now: .milliseconds(10))) == 0)
        #expect(count(services.tick(now: .milliseconds(900))) == 0)
        #expect(heard(services.tick(now: .seconds(1))) == ["a"])
        #expect(services.addresses(of: "a").map(\.address.ipAddress) == ["10.0.0.1", "fe80::1"])
        #expect(count(services.gone(found().place)) == 0)
        #expect(lost(services.gone(found(at: "fe80::1").place)) == ["a"])
        #expect(services.addresses(of: "a").count == 2, "a gap does not make a guest forget where its host was")
        #expect(count(services.scan(for: nil, now: .seconds(2))) == 0)
    }

    @Test("a renamed host is dialled at its new name only when its old name is gone")
    func renamed() {
        var services = KnownServices()
        _ = services.found(found("a-2"), now: .zero)
        _ = services.found(found("a", at: "10.0.0.2"), now: .zero)
        #expect(services.addresses(of: "a-2").map(\.address.ipAddress) == ["10.0.0.1"])
        #expect(!services.found("a", helps: "a-2"))
        _ = services.gone(found("a-2").place)
        #expect(services.addresses(of: "a-2").map(\.address.ipAddress) == ["10.0.0.2"])
        #expect(services.found("a", helps: "a-2") && !services.found("b", helps: "a-2"))
    }

    @Test("this node's own service is not reported")
    func own() {
        var services = KnownServices()
        services.own = advertisement.idPrefix
        _ = services.scan(for: Self.service, now: .zero)
        #expect(count(services.found(found(), now: .zero)) == 0)
    }

    @Test("a host that does not answer counts as gone until it changes its record, or some time has passed")
    func doubt() {
        var services = KnownServices()
        _ = services.scan(for: Self.service, now: .zero)
        _ = services.found(found(), now: .zero)
        #expect(lost(services.unanswered("a", now: .zero)) == ["a"])
        #expect(count(services.unanswered("a", now: .zero)) == 0)
        #expect(count(services.tick(now: .seconds(2))) == 0)
        #expect(heard(services.found(found(at: "10.0.0.2"), now: .seconds(3))) == ["a"])
        _ = services.unanswered("a", now: .seconds(3))
        #expect(heard(services.tick(now: .seconds(3) + LANLimits.doubt)) == ["a"])
        _ = services.unanswered("a", now: .seconds(20))
        #expect(heard(services.answered("a", now: .seconds(20))) == ["a"])
    }

    @Test("a bounded number of services is kept, and of each a bounded number of addresses")
    func bounded() {
        var services = KnownServices()
        for number in 0..<LANLimits.services * 2 { _ = services.found(found("\(number)"), now: .zero) }
        #expect(heard(services.scan(for: Self.service, now: .zero)).count == LANLimits.services)
        for number in 1...100 { _ = services.found(found("a", at: "10.0.0.\(number)"), now: .zero) }
        for number in 1...100 { _ = services.found(found("a", on: number), now: .zero) }
        #expect(services.addresses(of: "a").count <= LANLimits.addresses)
    }

    @Test("callers are limited in total, for each address, and at once")
    func callers() {
        var callers = Callers()
        let now = MeshInstant.seconds(100)
        for _ in 0..<LANLimits.acceptedOfAddress { #expect(callers.admits([1], now: now) == true) }
        #expect(callers.admits([1], now: now) == false)
        callers.left([1])
        #expect(callers.admits([1], now: now) == true)
        var admitted = 0
        for number in UInt8(2)...200 where callers.admits([number], now: now) { admitted += 1 }
        #expect(admitted + LANLimits.acceptedOfAddress <= LANLimits.accepted)
        #expect(callers.admits([201], now: now) == false)
    }

    @Test("an address outside this device's networks is neither accepted nor dialled")
    func networks() throws {
        let networks = LocalNetworks([
            ([10, 0, 0, 5], [255, 255, 255, 0]), ([192, 168, 1, 1], [255, 255, 0, 0]),
        ])
        for (address, isLocal) in [("10.0.0.9", true), ("10.0.1.9", false), ("192.168.77.3", true), ("8.8.8.8", false)]
        {
            #expect(networks.contains(try .init(ipAddress: address, port: 1)) == isLocal)
            #expect(try networks.contains(.init(ipAddress: "::ffff:\(address)", port: 1)) == isLocal)
        }
        #expect(!networks.contains(try .init(ipAddress: "2001:db8::1", port: 1)))
    }
}
