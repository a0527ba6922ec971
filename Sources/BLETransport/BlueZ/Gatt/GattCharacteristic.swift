// SPDX-License-Identifier: Apache-2.0

import CBlueZ

/// The characteristics of the service by which phones find a host (`docs/protocol.md`, "GATT").
enum GattCharacteristic: Hashable, Sendable {
    /// The PSM on which phones open streams.
    case psm
    /// The host's advertisement.
    case payload
    /// The slot that is reserved for the device that reads this.
    case place
    /// Chunks from the guest in this slot (`toHost`), and chunks to this guest (`toGuest`).
    case toHost(Int)
    case toGuest(Int)

    /// All characteristics of a service, in the order of their registration. A service for bonded devices only has no
    /// slots.
    static func all(withPlaces hasPlaces: Bool) -> [Self] {
        [.psm, .payload] + (hasPlaces ? [.place] + placeUUIDs.indices.flatMap { [.toHost($0), .toGuest($0)] } : [])
    }

    /// The UUID in the form of bluetoothd.
    var uuid: String {
        switch self {
        case .psm: "abdd3056-28fa-441d-a470-55a75a52553a"
        case .payload: "96f27698-e130-57f4-ae0c-796604e74777"
        case .place: "7cf82a25-8ad1-55a7-a1cc-d184568e163e"
        case .toHost(let place): Self.placeUUIDs[place].toHost
        case .toGuest(let place): Self.placeUUIDs[place].toGuest
        }
    }

    private static let placeUUIDs: [(toHost: String, toGuest: String)] = [
        ("edc64e2f-9207-5b62-8b20-0eba080e62f6", "9278e80d-3e26-5f04-ab0d-a9e1fbd54f68"),
        ("6dc2895e-f67f-5896-a2bc-b4385294883d", "1c277efa-9116-588c-b723-df76750da6d2"),
        ("f0cdcccf-6542-50d9-9be3-9c7c1a30190c", "06deb9e0-c7b7-5a0a-a378-2b098cda3573"),
        ("6918ff41-e047-58f7-be8c-ef37a4d668bf", "f7317e7e-8895-595a-bfbd-5b9967049c33"),
    ]

    /// The operation that the characteristic allows, in the shim's numbers.
    var kind: Int32 {
        switch self {
        case .psm, .payload, .place: Int32(CBLUEZ_CHARACTERISTIC_READ)
        case .toHost: Int32(CBLUEZ_CHARACTERISTIC_WRITE)
        case .toGuest: Int32(CBLUEZ_CHARACTERISTIC_NOTIFY)
        }
    }

    /// Limit of the bytes of values that this node has not read yet.
    var buffer: Int32 { Int32(RadioLimits.gattBufferBytes) }
}

/// A request of bluetoothd about a characteristic: for its value, or for a descriptor.
struct GattQuestion: Hashable, Sendable {
    /// The device that reads, writes or has subscribed.
    var device: String
    /// The characteristic's index in the service.
    var characteristic: Int
    /// The ATT MTU of the device's link.
    var mtu: Int
    /// The number for the answer.
    var request: UInt32
}
