// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ
import Glibc
import MeshProtocol

/// Whether a node may change the kernel's default parameters of its adapter.
public enum AdapterSettingsChoice: String, Sendable, CaseIterable {
    /// Changes the settings if this process has CAP_NET_ADMIN, and restores the former values.
    case set
    /// Leaves the settings unchanged.
    case leave
}

/// The kernel's default parameters of an adapter, in the kernel's own units (BlueZ's mgmt-api.txt, Default System
/// Configuration).
struct AdapterSettings: Hashable, Sendable, Codable {
    /// Advertising interval in 0.625 ms.
    var advertisingMin: UInt16
    var advertisingMax: UInt16
    /// Connection interval of links that this adapter dials, in units of 1.25 ms. An adapter that is dialled also
    /// requests it if the link's interval is outside this range.
    var connectionMin: UInt16
    var connectionMax: UInt16
    /// Supervision timeout of links that this adapter dials, in units of 10 ms.
    var supervisionTimeout: UInt16

    /// The settings of a node that advertises at a pace.
    static func ofNode(_ pace: AdvertisingPace) -> Self {
        let (advertising, connection) = (pace.milliseconds, RadioLimits.dialledInterval)
        return Self(
            advertisingMin: UInt16(advertising.lowerBound * 8 / 5),
            advertisingMax: UInt16(advertising.upperBound * 8 / 5),
            connectionMin: UInt16(connection.lowerBound), connectionMax: UInt16(connection.upperBound),
            supervisionTimeout: UInt16(RadioLimits.tunedSupervision))
    }

    /// Whether a node has made these settings, this node or another one.
    var isOfNode: Bool { self == .ofNode(.fast) || self == .ofNode(.slow) }

    /// Whether a controller accepts these settings (Core specification, Vol 4, Part E, 7.8.5 and 7.8.12).
    var isValid: Bool {
        (0x20...0x4000).contains(advertisingMin) && (advertisingMin...0x4000).contains(advertisingMax)
            && (6...3200).contains(connectionMin) && (connectionMin...3200).contains(connectionMax)
            && (10...3200).contains(supervisionTimeout)
    }

    /// The form that the radio reports.
    func timing(isOfNode: Bool) -> AdapterTiming {
        AdapterTiming(
            isSetByNode: isOfNode, advertising: Self.milliseconds(advertisingMin, advertisingMax, 0.625),
            connection: Self.milliseconds(connectionMin, connectionMax, 1.25),
            supervisionTimeout: Int(supervisionTimeout) * 10)
    }

    private static func milliseconds(_ least: UInt16, _ most: UInt16, _ unit: Double) -> ClosedRange<Double> {
        // The kernel accepts any two values.
        Double(least) * unit...Double(max(least, most)) * unit
    }
}

/// The system calls.
extension AdapterSettings {
    /// An adapter's current settings. Nil if the kernel does not report them.
    static func read(of index: UInt16) -> Self? {
        var defaults = cbluez_hci_defaults()
        guard withControl({ cbluez_hci_read_defaults($0, index, &defaults) }) else { return nil }
        return Self(
            advertisingMin: defaults.advertising_min, advertisingMax: defaults.advertising_max,
            connectionMin: defaults.connection_min, connectionMax: defaults.connection_max,
            supervisionTimeout: defaults.supervision_timeout)
    }

    /// Sets an adapter to these settings. Returns whether the kernel accepts them.
    func set(on index: UInt16) -> Bool {
        var defaults = forKernel
        return Self.withControl { cbluez_hci_set_defaults($0, index, &defaults) }
    }

    /// Makes the next dials of one device use these settings, whatever the kernel has stored for it.
    func load(for peer: BearerEndpoint, on index: UInt16) {
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
        // The socket is not kept open: it receives all events of the kernel's adapters, and they would have to be read.
        let control = cbluez_hci_open_control()
        guard control >= 0 else { return false }
        defer { Glibc.close(control) }
        return call(control) == 0
    }
}
