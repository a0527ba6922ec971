// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dashboard

@Suite("The address that phones can open")
struct ReachableAddressTests {
    private typealias Candidate = ReachableAddress.Candidate

    private static let home = Candidate(interface: "eth0", address: "10.0.0.7")
    private static let other = Candidate(interface: "eth1", address: "192.168.9.2")
    private static let wifi = Candidate(interface: "wlan0", address: "192.168.4.1", isWireless: true)
    private static let modem = Candidate(interface: "wwan0", address: "10.64.3.2", isPointToPoint: true)
    private static let docker = Candidate(interface: "docker0", address: "172.17.0.1")
    private static let sixth = Candidate(interface: "eth0", address: "fd00::1")

    private func chosen(
        _ candidates: [Candidate], waysOut: [String] = [], opened: String? = nil, host: String = "0.0.0.0"
    ) -> String? {
        ReachableAddress(candidates: candidates, waysOut: waysOut, opened: opened).chosen(for: host)
    }

    @Test("the default route's network comes before others, the lowest metric first")
    func defaultRoute() {
        #expect(chosen([Self.other, Self.home], waysOut: ["eth0"]) == "10.0.0.7")
        #expect(chosen([Self.other, Self.home], waysOut: ["eth1", "eth0"]) == "192.168.9.2")
        #expect(chosen([Self.home, Self.other]) == "192.168.9.2")
    }

    @Test("the device's own access point comes before its default route, and a Wi-Fi client does not")
    func ownWifi() {
        #expect(chosen([Self.home, Self.wifi], waysOut: ["eth0"]) == "192.168.4.1")
        #expect(chosen([Self.home, Self.wifi], waysOut: ["eth0", "wlan0"]) == "10.0.0.7")
        #expect(chosen([Self.modem, Self.wifi], waysOut: ["wwan0"]) == "192.168.4.1")
    }

    @Test("an address that a phone has opened comes first")
    func opened() {
        #expect(chosen([Self.home, Self.wifi], waysOut: ["eth0"], opened: "10.0.0.7") == "10.0.0.7")
        #expect(chosen([Self.wifi], opened: "10.0.0.7") == "192.168.4.1")
    }

    @Test("a modem, containers, and link-local or loopback addresses cannot be opened by phones")
    func none() {
        let useless = ["127.0.0.1", "169.254.3.4", "fe80::1", "::1"].map { Candidate(interface: "eth0", address: $0) }
        #expect(chosen([Self.modem, Self.docker] + useless, waysOut: ["wwan0"]) == nil)
        #expect(chosen([], host: "::") == nil)
    }

    @Test("IPv6 comes after IPv4, and only if the page listens there; a configured address stays")
    func sixth() {
        #expect(chosen([Self.sixth, Self.other], waysOut: ["eth0"], host: "::") == "192.168.9.2")
        #expect(chosen([Self.sixth], host: "::") == "fd00::1")
        #expect(chosen([Self.sixth]) == nil)
        #expect(chosen([], host: "10.0.0.9") == "10.0.0.9")
        #expect(LocalAddresses.inURL("fd00::1") == "[fd00::1]")
    }
}
