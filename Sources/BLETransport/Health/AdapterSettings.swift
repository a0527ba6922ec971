// SPDX-License-Identifier: Apache-2.0

import CBlueZ
import Glibc
import MeshProtocol

/// Whether a node may set what the kernel uses on its adapter.
public enum AdapterSettingsChoice: String, Sendable, CaseIterable {
    /// Sets it, where this process has CAP_NET_ADMIN, and puts the former values back.
    case set
    /// Leaves it as it is.
    case leave
}

/// What the kernel uses on an adapter where an advertisement or a dial names nothing else, in the kernel's own units (BlueZ's
/// mgmt-api.txt, Default System Configuration).
struct AdapterSettings: Hashable, Sendable, Codable {
    /// Advertising interval in 0.625 ms.
    var advertisingMin: UInt16
    var advertisingMax: UInt16
    /// Connection interval in 1.25 ms, of links that this adapter dials. One that is dialled asks for these too, where the link
    /// has an interval outside of them.
    var connectionMin: UInt16
    var connectionMax: UInt16
    /// Supervision timeout in 10 ms, of links that this adapter dials.
    var supervisionTimeout: UInt16

    /// What a node sets while it advertises at a pace.
    static func ofNode(_ pace: AdvertisingPace) -> Self {
        let (advertising, connection) = (pace.milliseconds, RadioLimits.dialledInterval)
        return Self(
            advertisingMin: UInt16(advertising.lowerBound * 8 / 5),
            advertisingMax: UInt16(advertising.upperBound * 8 / 5),
            connectionMin: UInt16(connection.lowerBound), connectionMax: UInt16(connection.upperBound),
            supervisionTimeout: UInt16(RadioLimits.tunedSupervision))
    }

    /// Whether a node has set it: this one, or another.
    var isOfNode: Bool { self == .ofNode(.fast) || self == .ofNode(.slow) }

    /// Whether a controller takes it (Core specification, Vol 4, Part E, 7.8.5 and 7.8.12).
    var isValid: Bool {
        (0x20...0x4000).contains(advertisingMin) && (advertisingMin...0x4000).contains(advertisingMax)
            && (6...3200).contains(connectionMin) && (connectionMin...3200).contains(connectionMax)
            && (10...3200).contains(supervisionTimeout)
    }

    /// As it is told above the radio.
    func timing(isOfNode: Bool) -> AdapterTiming {
        AdapterTiming(
            isSetByNode: isOfNode, advertising: Self.milliseconds(advertisingMin, advertisingMax, 0.625),
            connection: Self.milliseconds(connectionMin, connectionMax, 1.25),
            supervisionTimeout: Int(supervisionTimeout) * 10)
    }

    private static func milliseconds(_ least: UInt16, _ most: UInt16, _ unit: Double) -> ClosedRange<Double> {
        // The kernel takes any two values.
        Double(least) * unit...Double(max(least, most)) * unit
    }
}

/// The system calls.
extension AdapterSettings {
    /// What an adapter has; nil where the kernel does not tell.
    static func read(of index: UInt16) -> Self? {
        var defaults = cbluez_hci_defaults()
        guard withControl({ cbluez_hci_read_defaults($0, index, &defaults) }) else { return nil }
        return Self(
            advertisingMin: defaults.advertising_min, advertisingMax: defaults.advertising_max,
            connectionMin: defaults.connection_min, connectionMax: defaults.connection_max,
            supervisionTimeout: defaults.supervision_timeout)
    }

    /// Sets an adapter to it. Returns whether the kernel takes it.
    func set(on index: UInt16) -> Bool {
        var defaults = forKernel
        return Self.withControl { cbluez_hci_set_defaults($0, index, &defaults) }
    }

    /// Has the next dials of one device use it, whatever the kernel keeps of that.
    func load(for peer: RadioEndpoint, on index: UInt16) {
        var (address, defaults) = (peer.kernelAddress, forKernel)
        _ = Self.withControl { cbluez_hci_load_parameters($0, index, &address, &defaults) }
    }

    private var forKernel: cbluez_hci_defaults {
        cbluez_hci_defaults(
            advertising_min: advertisingMin, advertising_max: advertisingMax, connection_min: connectionMin,
            connection_max: connectionMax, supervision_timeout: supervisionTimeout)
    }

    /// Whether a call on the management channel, which returns 0 or a negative errno, has succeeded.
    static func withControl(_ call: (Int32) -> Int32) -> Bool {
        // Not kept open: it hears everything that the kernel tells of its adapters, and somebody would have to read that.
        let control = cbluez_hci_open_control()
        guard control >= 0 else { return false }
        defer { Glibc.close(control) }
        return call(control) == 0
    }
}
