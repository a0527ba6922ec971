// SPDX-License-Identifier: Apache-2.0

import Bearers
import CBlueZ

/// An event of bluetoothd, in Swift types.
enum BusEvent: Sendable {
    /// The message bus has answered.
    case ready
    /// org.bluez is on the bus, or has left it.
    case serviceAppeared
    case serviceVanished
    /// An adapter exists, has changed, or is gone.
    case adapter(path: String, AdapterProperties)
    case adapterRemoved(path: String)
    /// A remote device exists, has changed, or is gone.
    case device(path: String, DeviceChange)
    case deviceRemoved(path: String)
    /// Everything that existed at the call of `listObjects` has been reported.
    case objectsListed
    /// bluetoothd has dropped our advertisement.
    case advertisementReleased
    /// Does the device at this path show the same number? `request` identifies the answer.
    case agentQuestion(path: String, passkey: UInt32, request: UInt32)
    /// This question is cancelled.
    case agentCancelled(request: UInt32)
    /// bluetoothd has dropped our agent.
    case agentReleased
    /// A device reads or writes our characteristic, or has subscribed to it and needs a descriptor.
    case gattQuestion(GattQuestion)
    /// The message bus is gone. No event follows.
    case closed
}

/// An adapter's properties (`org.bluez.Adapter1`, `LEAdvertisingManager1`), or the changed ones. Nil means that
/// bluetoothd has not reported the value.
public struct AdapterProperties: Hashable, Sendable {
    /// Whether the adapter is switched on.
    public var isPowered: Bool?
    /// Number of registered advertisements. Reported when adapters are listed.
    public var activeAdvertisements: Int?
    /// Number of further advertisements that the adapter accepts. Reported when adapters are listed.
    public var freeAdvertisements: Int?
    /// Whether any program scans with the adapter.
    public var isDiscovering: Bool?

    /// Properties of an adapter of which nothing is known.
    public init() {}
}

/// Changed properties of a device.
struct DeviceChange: Sendable {
    var address: BearerEndpoint?
    var rssi: Int?
    var isOutOfRange = false
    var name: String?
    var payload: [UInt8]?
    var services: [String]?
    var isConnected: Bool?
    var isPaired: Bool?
    /// The kind of device, as desktops name their icons.
    var icon: String?
    var isBonded: Bool?
    var alias: String?
}

/// A failed call to bluetoothd: the error's D-Bus name and text.
struct BusFailure: Error, Sendable {
    var name: String
    var text: String

    /// The same as a `BearerError`.
    var radioError: BearerError {
        BearerError(code, name == Self.notPermitted ? Self.advertisingFull : text.isEmpty ? name : text)
    }

    /// The message bus, or our connection to it, is gone.
    static func disconnected(_ text: String) -> Self { Self(name: lost, text: text) }

    private static let lost = "org.freedesktop.DBus.Error.Disconnected"
    private static let notPermitted = "org.bluez.Error.NotPermitted"
    /// If a program is killed while it registers an advertisement, bluetoothd counts that advertisement until
    /// bluetoothd itself ends (`docs/bluez.md`).
    private static let advertisingFull =
        "bluetoothd has no free advertisement; \"sudo systemctl restart bluetooth\" frees those of programs that were killed"

    private var code: BearerError.Code {
        switch name {
        case "org.bluez.Error.NotReady": .radioOff
        case "org.freedesktop.DBus.Error.AccessDenied", "org.bluez.Error.NotAuthorized": .notPermitted
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
            Self.lost, "org.freedesktop.DBus.Error.NoReply":
            .serviceNotRunning
        case "org.freedesktop.DBus.Error.UnknownObject": .noAdapter
        case Self.notPermitted, "org.bluez.Error.NotSupported",
            "org.freedesktop.DBus.Error.UnknownMethod":
            .unsupported
        default: .failed
        }
    }
}

extension BusEvent {
    /// Reads the shim's event. Nil for a reply, which goes to its caller.
    init?(_ event: cbluez_bus_event) {
        switch Int(event.kind) {
        case CBLUEZ_EVENT_READY: self = .ready
        case CBLUEZ_EVENT_BLUEZ_APPEARED: self = .serviceAppeared
        case CBLUEZ_EVENT_BLUEZ_VANISHED: self = .serviceVanished
        case CBLUEZ_EVENT_ADAPTER:
            self = .adapter(path: text(event.path), AdapterProperties(event))
        case CBLUEZ_EVENT_ADAPTER_REMOVED: self = .adapterRemoved(path: text(event.path))
        case CBLUEZ_EVENT_DEVICE: self = .device(path: text(event.path), DeviceChange(event))
        case CBLUEZ_EVENT_DEVICE_REMOVED: self = .deviceRemoved(path: text(event.path))
        case CBLUEZ_EVENT_ADVERTISEMENT_RELEASED: self = .advertisementReleased
        case CBLUEZ_EVENT_AGENT_QUESTION:
            self = .agentQuestion(path: text(event.path), passkey: event.passkey, request: event.request)
        case CBLUEZ_EVENT_AGENT_CANCELLED: self = .agentCancelled(request: event.request)
        case CBLUEZ_EVENT_AGENT_RELEASED: self = .agentReleased
        case CBLUEZ_EVENT_GATT_READ, CBLUEZ_EVENT_GATT_WRITE, CBLUEZ_EVENT_GATT_ACQUIRE_NOTIFY:
            self = .gattQuestion(
                GattQuestion(
                    device: text(event.path), characteristic: Int(event.characteristic), mtu: Int(event.mtu),
                    request: event.request))
        case CBLUEZ_EVENT_CLOSED: self = .closed
        default: return nil
        }
    }
}

extension AdapterProperties {
    fileprivate init(_ event: cbluez_bus_event) {
        if event.has(CBLUEZ_FIELD_POWERED) { isPowered = event.powered }
        if event.has(CBLUEZ_FIELD_DISCOVERING) { isDiscovering = event.discovering }
        if event.has(CBLUEZ_FIELD_ACTIVE_INSTANCES) { activeAdvertisements = Int(event.active_instances) }
        if event.has(CBLUEZ_FIELD_FREE_INSTANCES) { freeAdvertisements = Int(event.free_instances) }
    }
}

extension DeviceChange {
    fileprivate init(_ event: cbluez_bus_event) {
        if event.has(CBLUEZ_FIELD_ADDRESS) { address = BearerEndpoint(event.address) }
        if event.has(CBLUEZ_FIELD_RSSI) { rssi = Int(event.rssi) }
        isOutOfRange = event.has(CBLUEZ_FIELD_RSSI_GONE)
        if event.has(CBLUEZ_FIELD_NAME) { name = text(event.name) }
        if event.has(CBLUEZ_FIELD_MANUFACTURER) {
            let bytes = withUnsafeBytes(of: event.manufacturer_data) { Array($0) }
            payload =
                event.company == Advertisement.company ? Array(bytes.prefix(Int(event.manufacturer_count))) : []
        }
        if event.has(CBLUEZ_FIELD_UUIDS) {
            services = withUnsafeBytes(of: event.uuids) { bytes in
                (0..<Int(event.uuid_count)).map { index in
                    let start = index * Int(CBLUEZ_UUID_TEXT)
                    let digits = bytes[start..<(start + Int(CBLUEZ_UUID_TEXT))].prefix { $0 != 0 }
                    return String(decoding: digits, as: UTF8.self).lowercased()
                }
            }
        }
        if event.has(CBLUEZ_FIELD_CONNECTED) { isConnected = event.connected }
        if event.has(CBLUEZ_FIELD_PAIRED) { isPaired = event.paired }
        if event.has(CBLUEZ_FIELD_ICON) { icon = text(event.icon) }
        if event.has(CBLUEZ_FIELD_BONDED) { isBonded = event.bonded }
        if event.has(CBLUEZ_FIELD_ALIAS) { alias = text(event.alias) }
    }
}

extension cbluez_bus_event {
    fileprivate func has(_ field: Int) -> Bool { fields & UInt32(field) != 0 }
}

extension BearerEndpoint {
    /// An endpoint from the kernel's address.
    init(_ address: cbluez_address, psm: UInt8 = 0) {
        var address = address
        let digits = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CBLUEZ_ADDRESS_TEXT)) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            cbluez_address_format(&address, base)
            return String(cString: base)
        }
        self.init(address: digits, addressKind: address.kind, psm: psm)
    }

    /// This endpoint's address in the kernel's form.
    var kernelAddress: cbluez_address {
        var result = cbluez_address()
        let status = cbluez_address_parse(address, &result)
        precondition(status == 0, "an endpoint that no BlueZ radio made: \(address)")
        result.kind = addressKind
        return result
    }
}
