// SPDX-License-Identifier: Apache-2.0

/// Decides which of this device's addresses to use in the page's URL, codes and invitations. Phones must be able to
/// open it.
///
/// The device cannot know which network the phones are on. The best sign is an address that a browser of another device
/// has opened. The second is a Wi-Fi without a default route, which is the device's own access point. The third is the
/// network of the default route, because the phones and the device use the same router.
struct ReachableAddress: Hashable, Sendable {
    /// An address of this device.
    struct Candidate: Hashable, Sendable {
        /// The name of the interface.
        var interface: String
        /// The address as text, without a zone.
        var address: String
        /// Whether the interface is a Wi-Fi.
        var isWireless = false
        /// Whether the interface is a modem or a tunnel, which phones do not use.
        var isPointToPoint = false
    }

    var candidates: [Candidate]
    /// The interfaces of the default routes, best first.
    var waysOut: [String] = []
    /// The address that a browser of another device opened last.
    var opened: String?

    /// The address for the URL of a page that listens at `host`. Nil if phones cannot open any address.
    func chosen(for host: String) -> String? {
        switch host {
        case "0.0.0.0": useful.first { !$0.contains(":") }
        case "::": useful.first
        default: host
        }
    }

    /// Addresses that another device can open, best first.
    var useful: [String] {
        candidates.filter(isUseful).enumerated()
            .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element.address)
    }

    /// Whether other devices can open an address. This excludes loopback, link-local and point-to-point addresses, and
    /// networks of containers and virtual machines.
    private func isUseful(_ candidate: Candidate) -> Bool {
        !DashboardAddress.isLoopback(candidate.address) && !candidate.isPointToPoint
            && !candidate.address.hasPrefix("169.254.") && !candidate.address.lowercased().hasPrefix("fe80:")
            && !Self.virtual.contains { candidate.interface.hasPrefix($0) }
    }

    /// The interface name prefixes of container and virtual machine bridges.
    private static let virtual = ["docker", "br-", "virbr", "lxc", "lxd", "podman", "cni", "veth"]

    private func rank(_ candidate: Candidate) -> Int {
        if candidate.address == opened { return 0 }
        let wayOut = waysOut.firstIndex(of: candidate.interface)
        let isIPv6 = candidate.address.contains(":") ? 1_000 : 0
        if candidate.isWireless, wayOut == nil { return 100 + isIPv6 + network(candidate) }
        return 200 + isIPv6 + min(wayOut ?? Self.manyWays, Self.manyWays) * 10 + network(candidate)
    }

    private static let manyWays = 50

    /// The rank of an address's network. The private ranges that home and car networks use come first.
    private func network(_ candidate: Candidate) -> Int {
        if candidate.address.hasPrefix("192.168.") { return 0 }
        return candidate.address.hasPrefix("10.") ? 1 : 2
    }
}
