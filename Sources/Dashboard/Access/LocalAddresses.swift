// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import NIOCore

/// Reads this device's addresses from the system.
enum LocalAddresses {
    /// The form of an address in a URL.
    static func inURL(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    /// The addresses of interfaces that have a carrier (getifaddrs(3)), and the interfaces of the default routes.
    static func now() -> ReachableAddress {
        ReachableAddress(candidates: candidates(), waysOut: waysOut())
    }

    private static func candidates() -> [ReachableAddress.Candidate] {
        var list: UnsafeMutablePointer<ifaddrs>?
        // Without any address the page still works on this device.
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [ReachableAddress.Candidate] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            let wanted = UInt32(IFF_UP | IFF_RUNNING)
            guard entry.ifa_flags & wanted == wanted, entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
                let address = text(of: entry.ifa_addr)
            else { continue }
            let name = String(cString: entry.ifa_name)
            found.append(
                ReachableAddress.Candidate(
                    interface: name, address: address,
                    isWireless: access("/sys/class/net/\(name)/phy80211", F_OK) == 0,
                    isPointToPoint: entry.ifa_flags & UInt32(IFF_POINTOPOINT) != 0))
        }
        return found
    }

    private static func text(of address: UnsafeMutablePointer<sockaddr>?) -> String? {
        guard let address else { return nil }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                SocketAddress($0.pointee).ipAddress
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                SocketAddress($0.pointee).ipAddress
            }
        default: return nil
        }
    }

    /// The interfaces of the IPv4 default routes, lowest metric first (proc_net(5)). They are read from this process's
    /// own folder, because a service with `ProcSubset=pid` cannot see other files of /proc.
    private static func waysOut() -> [String] {
        guard let table = FileManager.default.contents(atPath: "/proc/self/net/route") else { return [] }
        let rows = String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst().map { row in
            row.split { $0 == "\t" || $0 == " " }
        }
        return rows.filter { $0.count > 7 && $0[1] == "00000000" && $0[7] == "00000000" }
            .map { (name: String($0[0]), metric: Int($0[6]) ?? 0) }
            .sorted { $0.metric < $1.metric }.map(\.name)
    }
}
