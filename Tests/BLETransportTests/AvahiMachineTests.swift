// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol
import Testing

@testable import LANRadio

@Suite("What is asked of avahi-daemon, and what is made of its answers")
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

    @Test("a host is registered when the daemon runs, and once")
    func registers() {
        var machine = registered()
        #expect(machine.publish(record) == [])
        #expect(machine.handle(.groupState(.established)) == [])
        #expect(machine.publish(nil) == [.call(.reset(group: "/g"))])
    }

    @Test("what a host says of itself can change without it being gone for a moment")
    func updates() {
        var machine = registered()
        var changed = record
        changed.txt = [[1]]
        #expect(machine.publish(changed) == [.call(.update(group: "/g", changed))])
        changed.port += 1
        #expect(machine.publish(changed) == [.call(.reset(group: "/g")), .call(.register(group: "/g", changed))])
    }

    @Test("a restart of the daemon is told, and all is registered and looked for again")
    func restart() {
        var machine = registered()
        #expect(machine.browse() == [.call(.browse)])
        #expect(machine.handle(.browser("/b", error: "")) == [])
        #expect(machine.handle(.new(place)) == [.call(.resolve(1, place))])
        #expect(machine.handle(.found(service)) == [.tell(.found(service))])
        let failure = RadioError(.serviceNotRunning, "avahi-daemon is not running")
        #expect(machine.handle(.owner(isThere: false)) == [.tell(.gone(place)), .tell(.failed(failure))])
        #expect(machine.handle(.owner(isThere: true)) == [.call(.askState)])
        #expect(
            machine.handle(.server(isRunning: true)) == [.tell(.works), .call(.newGroup), .call(.browse)])
        #expect(machine.handle(.group("/h", error: "")) == [.call(.register(group: "/h", record))])
    }

    @Test("without a daemon that is told once, and nothing is asked for")
    func noDaemon() {
        var machine = AvahiMachine()
        _ = machine.connected()
        #expect(machine.handle(.server(isRunning: nil)).count == 1)
        #expect(machine.handle(.server(isRunning: nil)) == [])
        #expect(machine.publish(record) == [])
        #expect(machine.browse() == [])
    }

    @Test("a name that is taken gets a number, and after some of them it is left")
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

    @Test("a service that goes while it is asked where it is leaves nothing behind in the daemon")
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

@Suite("Services that were found, and what is told of them")
struct KnownServicesTests {
    private static let service = ServiceType.democracyDJ.uuid
    private let advertisement = Advertisement(
        service: Self.service, peer: Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car"))

    private func found(_ name: String = "a", on interface: Int = 1, at address: String = "10.0.0.1") -> FoundService {
        FoundService(
            place: ServicePlace(name: name, interface: interface, isIPv6: address.contains(":")), address: address,
            port: 4_711, txt: ServiceRecord.strings(of: advertisement))
    }

    private func heard(_ events: [RadioEvent]) -> [String] {
        events.compactMap { if case .heard(let result) = $0 { result.endpoint.address } else { nil } }
    }

    private func lost(_ events: [RadioEvent]) -> [String] {
        events.compactMap { if case .lost(let endpoint) = $0 { endpoint.address } else { nil } }
    }

    private func count(_ events: [RadioEvent]) -> Int { events.count }

    @Test("a TXT record says what an advertisement says, and other records say nothing")
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

    @Test("a host is told of when it is looked for, about once a second, and once when it is gone from all its places")
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

    @Test("a host that has got another name is dialled there when its old name is gone, and not before")
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

    @Test("what this node registers itself is not told of")
    func own() {
        var services = KnownServices()
        services.own = advertisement.idPrefix
        _ = services.scan(for: Self.service, now: .zero)
        #expect(count(services.found(found(), now: .zero)) == 0)
    }

    @Test("a host that nobody has answered for is gone until it says something new, or some time has passed")
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

    @Test("however many services a network has, a bounded number is remembered, and of each so many addresses")
    func bounded() {
        var services = KnownServices()
        for number in 0..<LANLimits.services * 2 { _ = services.found(found("\(number)"), now: .zero) }
        #expect(heard(services.scan(for: Self.service, now: .zero)).count == LANLimits.services)
        for number in 1...100 { _ = services.found(found("a", at: "10.0.0.\(number)"), now: .zero) }
        for number in 1...100 { _ = services.found(found("a", on: number), now: .zero) }
        #expect(services.addresses(of: "a").count <= LANLimits.addresses)
    }

    @Test("no more callers are let in than there may be, in all, of one address, and at once")
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

    @Test("who is in none of this device's networks is neither let in nor dialled")
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
