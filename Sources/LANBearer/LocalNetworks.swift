// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore

/// The networks of this device. The node neither dials nor accepts peers in other networks. Multicast DNS does not
/// reach those peers. In addition, anyone on the Internet may be able to dial the address of a car's mobile network.
struct LocalNetworks: Sendable {
    private struct Network: Sendable {
        var address: [UInt8]
        var mask: [UInt8]
    }

    private var networks: [Network] = []
    /// Interfaces with a carrier.
    private var running: Set<UInt32> = []

    /// The current networks (getifaddrs(3)).
    init() {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            let wanted = UInt32(IFF_UP | IFF_RUNNING)
            guard entry.ifa_flags & wanted == wanted else { continue }
            let interface = if_nametoindex(entry.ifa_name)
            running.insert(interface)
            guard let address = Self.bytes(entry.ifa_addr), let mask = Self.bytes(entry.ifa_netmask) else { continue }
            networks.append(Network(address: address, mask: mask))
        }
    }

    /// Creates networks for tests, from addresses with the bytes of their masks.
    init(_ networks: [(address: [UInt8], mask: [UInt8])]) {
        self.networks = networks.map { Network(address: $0.address, mask: $0.mask) }
    }

    /// Whether an interface has a carrier.
    func isRunning(_ interface: Int) -> Bool { running.contains(UInt32(clamping: interface)) }

    /// Whether an address is in one of these networks.
    func contains(_ address: SocketAddress) -> Bool {
        guard let bytes = Self.bytes(of: address) else { return false }
        return networks.contains { network in
            guard network.address.count == bytes.count else { return false }
            return zip(zip(bytes, network.address), network.mask).allSatisfy { ($0.0 ^ $0.1) & $1 == 0 }
        }
    }

    /// An address's bytes in network order. An IPv4 peer on a dual-stack socket counts as IPv4.
    static func bytes(of address: SocketAddress) -> [UInt8]? {
        switch address {
        case .v4(let address): return withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address.sin6_addr) { Array($0) }
            let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
            return bytes.starts(with: mapped) ? Array(bytes.dropFirst(12)) : bytes
        case .unixDomainSocket: return nil
        }
    }

    private static func bytes(_ address: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
        guard let address else { return nil }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
            }
        default: return nil
        }
    }
}

extension FoundService {
    /// The address to dial. A link-local address needs its interface (RFC 4007).
    var socketAddress: SocketAddress? {
        guard (1...65_535).contains(port), let parsed = try? SocketAddress(ipAddress: address, port: port) else {
            return nil
        }
        guard case .v6(let v6) = parsed else { return parsed }
        var whole = v6.address
        let bytes = withUnsafeBytes(of: whole.sin6_addr) { Array($0) }
        if bytes[0] == 0xFE, bytes[1] & 0xC0 == 0x80 { whole.sin6_scope_id = UInt32(clamping: place.interface) }
        return SocketAddress(whole)
    }
}
