// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import BLETransport
@testable import Bearers

@Suite("What bluetoothd reports of a host")
struct KnownDeviceTests {
    static let service = ServiceType.democracyDJ.uuid

    /// A host as bluetoothd reports it, with these services.
    private func device(services: [String], hasGatt: Bool = true, hasTail: Bool = true) -> KnownDevice {
        let id = "00010203040506070809" + String(repeating: "0", count: 12)
        var advertisement = Advertisement(service: Self.service, peer: Peer(id: id, name: "Car"))
        if hasGatt { advertisement.flags.ignorable.insert(.gatt) }
        var device = KnownDevice()
        device.merge(
            DeviceChange(
                address: BearerEndpoint(address: "00:00:00:00:00:01"), rssi: -50,
                name: hasTail ? advertisement.localName : "Car", payload: advertisement.payload(psm: 0x80),
                services: services))
        return device
    }

    private static let genericAccess = "00001800-0000-1000-8000-00805f9b34fb"
    private static let other = "0000180f-0000-1000-8000-00805f9b34fb"

    @Test(
        "a host is found before a link, after one, and after one that broke at once",
        arguments: [[service.description], [genericAccess, service.description], []])
    func heard(services: [String]) {
        #expect(device(services: services).scanResult(of: Self.service)?.endpoint.psm == 0x80)
    }

    @Test("a host without GATT, and one that was resolved while it was pairing, are found after a link")
    func resolvedBefore() {
        #expect(device(services: [Self.genericAccess], hasGatt: false).scanResult(of: Self.service) != nil)
        let bonded = device(services: [Self.genericAccess, ServiceType.pairing.uuid.description])
        #expect(bonded.scanResult(of: Self.service) != nil)
    }

    @Test("a host that advertised the service is found after a link, whatever bluetoothd resolved")
    func advertisedBefore() {
        var device = device(services: [Self.service.description])
        device.merge(DeviceChange(services: [Self.genericAccess]))
        #expect(device.scanResult(of: Self.service) != nil)
    }

    @Test("a host of another service is ignored after a link, since its GATT service differs")
    func foreignAfterLink() throws {
        let trivia = try ServiceType("road-trivia").uuid.description
        #expect(device(services: [Self.genericAccess, trivia]).scanResult(of: Self.service) == nil)
    }

    @Test("a pairing device is found after a link, and a host is not mistaken for one")
    func pairing() {
        let pairing = ServiceType.pairing.uuid
        #expect(device(services: [Self.genericAccess], hasTail: false).scanResult(of: pairing) != nil)
        #expect(device(services: [Self.genericAccess]).scanResult(of: pairing) == nil)
    }

    @Test("a device with hidden services is ignored if its payload has another version")
    func otherVersion() {
        var device = device(services: [])
        device.merge(DeviceChange(payload: [0x70, 0x80, 0, 1, 2, 3]))
        #expect(device.scanResult(of: Self.service) == nil)
    }

    @Test("a device that advertises another service is ignored")
    func foreign() {
        #expect(device(services: [Self.other]).scanResult(of: Self.service) == nil)
    }

    @Test("a table full of strangers makes room for a host, and a table full of hosts does not")
    func crowd() {
        var devices: [String: KnownDevice] = [:]
        for number in 0..<4 { devices["stranger \(number)"] = KnownDevice() }
        devices["host"] = device(services: [Self.service.description])
        #expect(devices.makeRoom(limit: 6) && devices.count == 5)
        for expected in [4, 3, 2, 1] { #expect(devices.makeRoom(limit: expected + 1) && devices.count == expected) }
        #expect(devices.keys.sorted() == ["host"] && !devices.makeRoom(limit: 1))
    }

    @Test("a guest knows before it dials that a host requires a bond")
    func bond() {
        var host = device(services: [Self.service.description])
        #expect(host.scanResult(of: Self.service)?.endpoint.requiresBond == false)
        host.merge(DeviceChange(payload: [0x21, 0x80, 0, 1, 2, 3]))
        #expect(host.scanResult(of: Self.service)?.endpoint.requiresBond == true)
    }

    @Test("a device is bonded if bluetoothd reports that; older versions only report that it is paired")
    func bonded() {
        var device = KnownDevice()
        #expect(!device.hasBond)
        device.merge(DeviceChange(isPaired: true))
        #expect(device.hasBond)
        device.merge(DeviceChange(isBonded: false))
        #expect(!device.hasBond)
    }

    @Test("a device that is no longer received is not found")
    func gone() {
        var device = device(services: [Self.service.description])
        device.merge(DeviceChange(isOutOfRange: true))
        #expect(device.scanResult(of: Self.service) == nil)
    }
}
