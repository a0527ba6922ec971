// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc

/// A Bluetooth adapter of this machine, as the kernel lists it.
public struct Adapter: Hashable, Sendable {
    /// `hci0` and so on.
    public let name: String
    /// Whether the adapter is switched on.
    public let isUp: Bool
    /// Whether the adapter supports Low Energy.
    public let hasLowEnergy: Bool

    let index: UInt16
    let address: BearerEndpoint

    /// The object path of the adapter in bluetoothd.
    var path: String { "/org/bluez/\(name)" }

    /// Maximum number of adapters. The kernel lists no more at once.
    private static let capacity = 16

    /// The machine's adapters. Throws `noAdapter` if the kernel has no Bluetooth.
    public static func all() throws(BearerError) -> [Adapter] {
        var devices = [cbluez_hci_device](repeating: cbluez_hci_device(), count: capacity)
        let count = cbluez_hci_devices(&devices, devices.count)
        switch count {
        case 0...: return devices.prefix(Int(count)).map(Adapter.init).sorted { $0.index < $1.index }
        case -EAFNOSUPPORT: throw BearerError(.noAdapter, "this system's kernel has no Bluetooth")
        case -EPERM, -EACCES: throw BearerError(.notPermitted, "the system does not let this user list adapters")
        default: throw BearerError(.failed, SystemError.text(-count))
        }
    }

    /// The adapter with this name, or with nil the first adapter that is up.
    static func find(_ name: String?) throws(BearerError) -> Adapter {
        let adapters = try all()
        let names = adapters.map(\.name).joined(separator: ", ")
        let chosen =
            if let name { adapters.first { $0.name == name } } else { adapters.first(where: \.isUp) ?? adapters.first }
        guard let adapter = chosen else {
            guard let name, !names.isEmpty else { throw whyNone }
            throw BearerError(.noAdapter, "there is no adapter \(name); this machine has \(names)")
        }
        guard adapter.hasLowEnergy else {
            throw BearerError(.unsupported, "\(adapter.name) does not speak Bluetooth Low Energy")
        }
        return adapter
    }

    /// Whether the adapter can be central and peripheral at once. The controller reports this and its driver confirms
    /// it. Nil if the kernel does not report it (before 5.9).
    var hasBothRoles: Bool? {
        var facts = cbluez_hci_facts()
        guard AdapterSettings.withControl({ cbluez_hci_read_facts($0, index, &facts) }), facts.tells_roles else {
            return nil
        }
        return facts.has_both_roles
    }

    private init(_ device: cbluez_hci_device) {
        name = text(device.name)
        isUp = device.is_up
        hasLowEnergy = device.has_le
        index = device.index
        address = BearerEndpoint(device.address)
    }
}
