// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol
import NIOCore

/// The services that were found, by their names, and what is told of them.
struct KnownServices: Sendable {
    private struct Service: Sendable {
        var places: [ServicePlace: SocketAddress] = [:]
        var advertisement: Advertisement
        /// When it was told of; nil where it was not.
        var told: MeshInstant?
        /// Nobody has answered there: until then it is not told of.
        var doubtfulUntil: MeshInstant?
        /// Found last, for a table that is full.
        var order: Int
    }

    private var services: [String: Service] = [:]
    private var lastOrder = 0
    /// The head that this node registers itself: it is told of nowhere.
    var own: [UInt8]?
    /// The service that is looked for; nil where nothing is told.
    private var scanned: ServiceUUID?
    /// The services that are gone: a host that is dialled after a gap may be there again before it is found.
    private var former: [String: Former] = [:]

    /// Whose service it was, and where.
    private struct Former: Sendable {
        var head: [UInt8]
        var places: [ServicePlace: SocketAddress] = [:]
    }

    // MARK: What is looked for

    /// Others of this service are told of, or nobody.
    mutating func scan(for service: ServiceUUID?, now: MeshInstant) -> [RadioEvent] {
        scanned = service
        for name in services.keys { services[name]?.told = nil }
        return tick(now: now)
    }

    /// Time has passed: those who are there are told of again.
    mutating func tick(now: MeshInstant) -> [RadioEvent] {
        services.keys.sorted().compactMap { tell($0, now: now) }
    }

    // MARK: What is found

    /// A service is at a place, or has changed.
    mutating func found(_ service: FoundService, now: MeshInstant) -> [RadioEvent] {
        guard let advertisement = ServiceRecord.advertisement(in: service.txt), let address = service.socketAddress,
            advertisement.idPrefix != own
        else {
            return []
        }
        let name = service.place.name
        if services[name] == nil, services.count >= LANLimits.services { forgetOldest() }
        lastOrder += 1
        var known = services[name] ?? Service(advertisement: advertisement, order: lastOrder)
        if known.advertisement != advertisement { known.told = nil }
        // What has another place, or says something else, was heard anew.
        if known.places[service.place] != address || known.advertisement != advertisement { known.doubtfulUntil = nil }
        known.advertisement = advertisement
        if known.places[service.place] != nil || known.places.count < LANLimits.addresses {
            known.places[service.place] = address
        }
        services[name] = known
        return [tell(name, now: now)].compactMap(\.self)
    }

    /// It is there no more.
    mutating func gone(_ place: ServicePlace) -> [RadioEvent] {
        guard var known = services[place.name] else { return [] }
        remember(place, known.places.removeValue(forKey: place), of: known.advertisement.idPrefix)
        guard known.places.isEmpty else {
            services[place.name] = known
            return []
        }
        services[place.name] = nil
        return known.told == nil ? [] : [.lost(Self.endpoint(place.name))]
    }

    // MARK: Dialling

    /// Where a service is dialled, link-local IPv6 last; where it was where it is not known any more. A host that starts again within a
    /// second finds its name taken by itself and gets another one: there it is dialled as soon as the old name is gone.
    func addresses(of name: String) -> [(place: ServicePlace, address: SocketAddress)] {
        let places = services[name]?.places ?? successor(of: name)?.value.places ?? former[name]?.places ?? [:]
        return places.map { ($0.key, $0.value) }.sorted {
            Self.rank($0.1) != Self.rank($1.1)
                ? Self.rank($0.1) < Self.rank($1.1) : ($0.0.interface, "\($0.1)") < ($1.0.interface, "\($1.1)")
        }
    }

    /// Whether what is found by this name is worth another try for who dials that one.
    func found(_ name: String, helps dialled: String) -> Bool {
        name == dialled || services[dialled] == nil && successor(of: dialled)?.key == name
    }

    /// The newest service of who had a name that is gone.
    private func successor(of name: String) -> (key: String, value: Service)? {
        guard let head = former[name]?.head else { return nil }
        return services.filter { $0.value.advertisement.idPrefix == head }.max { $0.value.order < $1.value.order }
    }

    /// Nobody has answered there: what is known of it may be old.
    mutating func unanswered(_ name: String, now: MeshInstant) -> [RadioEvent] {
        guard let known = services[name], known.doubtfulUntil == nil else { return [] }
        services[name]?.doubtfulUntil = now + LANLimits.doubt
        services[name]?.told = nil
        return known.told == nil ? [] : [.lost(Self.endpoint(name))]
    }

    /// Somebody has.
    mutating func answered(_ name: String, now: MeshInstant) -> [RadioEvent] {
        services[name]?.doubtfulUntil = nil
        return [tell(name, now: now)].compactMap(\.self)
    }

    private static func rank(_ address: SocketAddress) -> Int {
        guard case .v6 = address, let bytes = LocalNetworks.bytes(of: address) else { return 0 }
        return bytes[0] == 0xFE ? 2 : 1
    }

    private static func endpoint(_ name: String) -> RadioEndpoint {
        RadioEndpoint(address: name, psm: ServiceRecord.psm, bearer: .lan)
    }

    private mutating func tell(_ name: String, now: MeshInstant) -> RadioEvent? {
        guard let known = services[name], known.advertisement.service == scanned else { return nil }
        if let until = known.doubtfulUntil, now < until { return nil }
        if let told = known.told, now - told < RadioLimits.scanResultRepeat { return nil }
        services[name]?.told = now
        services[name]?.doubtfulUntil = nil
        return .heard(
            ScanResult(endpoint: Self.endpoint(name), advertisement: known.advertisement, rssi: nil))
    }

    private mutating func remember(_ place: ServicePlace, _ address: SocketAddress?, of head: [UInt8]) {
        guard let address else { return }
        // It does not matter which one goes: few are dialled again after a gap.
        if former.count >= LANLimits.services, former[place.name] == nil, let any = former.keys.first {
            former[any] = nil
        }
        var gone = former[place.name] ?? Former(head: head)
        if gone.head != head || gone.places.count >= LANLimits.addresses { gone = Former(head: head) }
        gone.places[place] = address
        former[place.name] = gone
    }

    private mutating func forgetOldest() {
        guard let oldest = services.min(by: { $0.value.order < $1.value.order })?.key else { return }
        services[oldest] = nil
    }
}
