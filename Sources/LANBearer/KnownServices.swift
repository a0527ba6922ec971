// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol
import NIOCore

/// The services that were found, by name, and the events to report about them.
struct KnownServices: Sendable {
    private struct Service: Sendable {
        var places: [ServicePlace: SocketAddress] = [:]
        var advertisement: Advertisement
        /// When the service was last reported. Nil if it was not reported.
        var told: MeshInstant?
        /// The time until which the service is not reported, because it did not answer.
        var doubtfulUntil: MeshInstant?
        /// The position in the order of changes. A full table drops the entry with the lowest position.
        var order: Int
    }

    private var services: [String: Service] = [:]
    private var lastOrder = 0
    /// The head of the identifier in this node's own record, which is not reported.
    var own: [UInt8]?
    /// The service type to report. Nil while the node does not scan.
    private var scanned: ServiceUUID?
    /// Services that are gone. After a gap, a host may be reachable again before the directory finds it.
    private var former: [String: Former] = [:]

    /// The head of a former service's node, and its addresses.
    private struct Former: Sendable {
        var head: [UInt8]
        var places: [ServicePlace: SocketAddress] = [:]
    }

    // MARK: Scanning

    /// Starts reporting services of this type. Nil stops reporting.
    mutating func scan(for service: ServiceUUID?, now: MeshInstant) -> [BearerEvent] {
        scanned = service
        for name in services.keys { services[name]?.told = nil }
        return tick(now: now)
    }

    /// Time has passed. Existing services are reported again.
    mutating func tick(now: MeshInstant) -> [BearerEvent] {
        services.keys.sorted().compactMap { tell($0, now: now) }
    }

    // MARK: Found services

    /// A service was found on an interface, or has changed.
    mutating func found(_ service: FoundService, now: MeshInstant) -> [BearerEvent] {
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
        // A service with a new address or new data counts as heard again.
        if known.places[service.place] != address || known.advertisement != advertisement { known.doubtfulUntil = nil }
        known.advertisement = advertisement
        if known.places[service.place] != nil || known.places.count < LANLimits.addresses {
            known.places[service.place] = address
        }
        services[name] = known
        return [tell(name, now: now)].compactMap(\.self)
    }

    /// The service is gone.
    mutating func gone(_ place: ServicePlace) -> [BearerEvent] {
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

    /// The addresses to dial for a service, link-local IPv6 last. A service that is gone keeps its former addresses. A
    /// host that restarts within a second finds its own name still taken and gets another name. This host is dialled
    /// under the new name as soon as the old name is gone.
    func addresses(of name: String) -> [(place: ServicePlace, address: SocketAddress)] {
        let places = services[name]?.places ?? successor(of: name)?.value.places ?? former[name]?.places ?? [:]
        return places.map { ($0.key, $0.value) }.sorted {
            Self.rank($0.1) != Self.rank($1.1)
                ? Self.rank($0.1) < Self.rank($1.1) : ($0.0.interface, "\($0.1)") < ($1.0.interface, "\($1.1)")
        }
    }

    /// Whether the newly found service `name` is a reason to try the dial of `dialled` again.
    func found(_ name: String, helps dialled: String) -> Bool {
        name == dialled || services[dialled] == nil && successor(of: dialled)?.key == name
    }

    /// The newest service of the node whose former service name is gone.
    private func successor(of name: String) -> (key: String, value: Service)? {
        guard let head = former[name]?.head else { return nil }
        return services.filter { $0.value.advertisement.idPrefix == head }.max { $0.value.order < $1.value.order }
    }

    /// The service did not answer, so its data may be out of date.
    mutating func unanswered(_ name: String, now: MeshInstant) -> [BearerEvent] {
        guard let known = services[name], known.doubtfulUntil == nil else { return [] }
        services[name]?.doubtfulUntil = now + LANLimits.doubt
        services[name]?.told = nil
        return known.told == nil ? [] : [.lost(Self.endpoint(name))]
    }

    /// The service has answered.
    mutating func answered(_ name: String, now: MeshInstant) -> [BearerEvent] {
        services[name]?.doubtfulUntil = nil
        return [tell(name, now: now)].compactMap(\.self)
    }

    private static func rank(_ address: SocketAddress) -> Int {
        guard case .v6 = address, let bytes = LocalNetworks.bytes(of: address) else { return 0 }
        return bytes[0] == 0xFE ? 2 : 1
    }

    private static func endpoint(_ name: String) -> BearerEndpoint {
        BearerEndpoint(address: name, psm: ServiceRecord.psm, bearer: .lan)
    }

    private mutating func tell(_ name: String, now: MeshInstant) -> BearerEvent? {
        guard let known = services[name], known.advertisement.service == scanned else { return nil }
        if let until = known.doubtfulUntil, now < until { return nil }
        if let told = known.told, now - told < BearerLimits.scanResultRepeat { return nil }
        services[name]?.told = now
        services[name]?.doubtfulUntil = nil
        return .heard(
            ScanResult(endpoint: Self.endpoint(name), advertisement: known.advertisement, rssi: nil))
    }

    private mutating func remember(_ place: ServicePlace, _ address: SocketAddress?, of head: [UInt8]) {
        guard let address else { return }
        // Drop an arbitrary entry, because few services are dialled again after a gap.
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
