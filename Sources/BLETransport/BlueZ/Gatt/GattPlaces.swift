// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which device gets which slot for a link over chunks: an event goes in, a permission comes out
/// (`docs/protocol.md`, "GATT"). Devices are identified by bluetoothd's paths.
struct GattPlaces: Sendable {
    private enum Place: Sendable {
        case free
        /// A device has requested the slot, and may have subscribed. It must take the next step before `until`.
        case kept(device: String, until: MeshInstant, isSubscribed: Bool)
        /// The slot carries the link with this number.
        case taken(device: String, link: Int)
    }

    private var places = [Place](repeating: .free, count: RadioLimits.gattGuests)
    private var links = 0

    /// A device requests a slot. Returns the slot that it has not used yet, or a free one; nil if all are in use. The
    /// caller must remove what an earlier use has left, such as a subscription.
    mutating func ask(_ device: String, now: MeshInstant) -> Int? {
        let place =
            places.firstIndex { if case .kept(device, _, _) = $0 { true } else { false } }
            ?? places.firstIndex { Self.isFree($0, now: now) }
        if let place {
            places[place] = .kept(device: device, until: now + RadioLimits.gattPlace, isSubscribed: false)
        }
        return place
    }

    /// A device subscribes to a slot. Returns whether it may.
    mutating func subscribe(_ device: String, to place: Int, now: MeshInstant) -> Bool {
        guard case .kept(device, let end, _) = places[place], now < end else { return false }
        places[place] = .kept(device: device, until: now + RadioLimits.gattPlace, isSubscribed: true)
        return true
    }

    /// A device writes to a slot for the first time. Returns the number of the new link; nil if the device may not
    /// write.
    mutating func write(_ device: String, to place: Int, now: MeshInstant) -> Int? {
        guard case .kept(device, let end, isSubscribed: true) = places[place], now < end else { return nil }
        links += 1
        places[place] = .taken(device: device, link: links)
        return links
    }

    /// A link has ended.
    mutating func ended(_ link: Int) {
        for place in places.indices {
            if case .taken(_, link) = places[place] { places[place] = .free }
        }
    }

    /// A device has disconnected. Returns the slots that it had.
    mutating func lost(_ device: String) -> [Int] {
        let had = places.indices.filter { place in
            switch places[place] {
            case .free: false
            case .kept(let other, _, _), .taken(let other, _): other == device
            }
        }
        for place in had { places[place] = .free }
        return had
    }

    private static func isFree(_ place: Place, now: MeshInstant) -> Bool {
        switch place {
        case .free: true
        case .kept(_, let end, _): now >= end
        case .taken: false
        }
    }
}
