// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import BLETransport

@Suite("What bluetoothd tells of a host")
struct KnownDeviceTests {
    static let service = ServiceType.democracyDJ.uuid

    /// A host as bluetoothd tells of it, whatever it says of its services.
    private func device(services: [String]) -> KnownDevice {
        var device = KnownDevice()
        device.merge(
            DeviceChange(
                address: RadioEndpoint(address: "00:00:00:00:00:01"), rssi: -50, name: "Dad's Car",
                payload: [0x20, 0x80, 0, 1, 2, 3], services: services))
        return device
    }

    @Test(
        "a host is heard before a link, after one, and after one that broke at once",
        arguments: [
            [service.description], ["00001800-0000-1000-8000-00805f9b34fb", "0000180a-0000-1000-8000-00805f9b34fb"], [],
        ])
    func heard(services: [String]) {
        #expect(device(services: services).scanResult(of: Self.service)?.endpoint.psm == 0x80)
    }

    @Test("a device that advertises another service is none of ours")
    func foreign() {
        #expect(device(services: ["0000180f-0000-1000-8000-00805f9b34fb"]).scanResult(of: Self.service) == nil)
    }

    @Test("where a host takes bonded boxes only, its guest knows before it dials")
    func bond() {
        var host = device(services: [Self.service.description])
        #expect(host.scanResult(of: Self.service)?.endpoint.requiresBond == false)
        host.merge(DeviceChange(payload: [0x21, 0x80, 0, 1, 2, 3]))
        #expect(host.scanResult(of: Self.service)?.endpoint.requiresBond == true)
    }

    @Test("a device is bonded where bluetoothd says so, and before it did, where it is paired")
    func bonded() {
        var device = KnownDevice()
        #expect(!device.hasBond)
        device.merge(DeviceChange(isPaired: true))
        #expect(device.hasBond)
        device.merge(DeviceChange(isBonded: false))
        #expect(!device.hasBond)
    }

    @Test("a device that is not heard any more is not seen")
    func gone() {
        var device = device(services: [Self.service.description])
        device.merge(DeviceChange(isOutOfRange: true))
        #expect(device.scanResult(of: Self.service) == nil)
    }
}
