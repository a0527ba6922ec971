// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which device has which place of those that are linked in chunks: an event goes in, what it may comes out
/// (`docs/protocol.md`, "GATT"). Devices are known by bluetoothd's paths.
struct GattPlaces: Sendable {
    private enum Place: Sendable {
        case free
        /// A device has asked for it, or has subscribed as well: it has until then to go on.
        case kept(device: String, until: MeshInstant, isSubscribed: Bool)
        /// It carries a link, of this number.
        case taken(device: String, link: Int)
    }

    private var places = [Place](repeating: .free, count: RadioLimits.gattGuests)
    private var links = 0

    /// A device asks for a place. That which it has not used yet, or else a free one; nil where there is none. What was left of it,
    /// such as an older subscription, has to go.
    mutating func ask(_ device: String, now: MeshInstant) -> Int? {
        let place =
            places.firstIndex { if case .kept(device, _, _) = $0 { true } else { false } }
            ?? places.firstIndex { Self.isFree($0, now: now) }
        if let place {
            places[place] = .kept(device: device, until: now + RadioLimits.gattPlace, isSubscribed: false)
        }
        return place
    }

    /// A device wants to hear what is sent to a place. Whether it may.
    mutating func subscribe(_ device: String, to place: Int, now: MeshInstant) -> Bool {
        guard case .kept(device, let end, _) = places[place], now < end else { return false }
        places[place] = .kept(device: device, until: now + RadioLimits.gattPlace, isSubscribed: true)
        return true
    }

    /// A device writes to a place for the first time. The number of the link that begins with it, if it may.
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

    /// A device is not connected any more. The places that it had.
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
