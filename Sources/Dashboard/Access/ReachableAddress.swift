// SPDX-License-Identifier: Apache-2.0

/// Decides which of this device's addresses is in the page's URL, its codes and its invitations: one that phones can open.
///
/// Nobody can know for certain where the phones are. The best sign is an address that a browser of another device has
/// opened; then a Wi-Fi without a way out, which is the device's own; then the network of the default route, since phones and
/// the device get it from the same router.
struct ReachableAddress: Hashable, Sendable {
    /// An address of this device.
    struct Candidate: Hashable, Sendable {
        /// The name of its interface.
        var interface: String
        /// As text, without a zone.
        var address: String
        /// A Wi-Fi.
        var isWireless = false
        /// A modem's or a tunnel's, which no phone is on.
        var isPointToPoint = false
    }

    var candidates: [Candidate]
    /// Interfaces that a default route leads through, the best first.
    var waysOut: [String] = []
    /// The address that a browser of another device has opened last.
    var opened: String?

    /// What is in the URL of a page that listens at `host`. Nil where no phone can open any.
    func chosen(for host: String) -> String? {
        switch host {
        case "0.0.0.0": useful.first { !$0.contains(":") }
        case "::": useful.first
        default: host
        }
    }

    /// Addresses that another device can use, the best first.
    var useful: [String] {
        candidates.filter(isUseful).enumerated()
            .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element.address)
    }

    /// No loopback, none that means something on one link only, and none in a network of this device's own programs.
    private func isUseful(_ candidate: Candidate) -> Bool {
        !DashboardAddress.isLoopback(candidate.address) && !candidate.isPointToPoint
            && !candidate.address.hasPrefix("169.254.") && !candidate.address.lowercased().hasPrefix("fe80:")
            && !Self.virtual.contains { candidate.interface.hasPrefix($0) }
    }

    /// Bridges to containers and virtual machines, as their programs name them.
    private static let virtual = ["docker", "br-", "virbr", "lxc", "lxd", "podman", "cni", "veth"]

    private func rank(_ candidate: Candidate) -> Int {
        if candidate.address == opened { return 0 }
        let wayOut = waysOut.firstIndex(of: candidate.interface)
        let isIPv6 = candidate.address.contains(":") ? 1_000 : 0
        if candidate.isWireless, wayOut == nil { return 100 + isIPv6 + network(candidate) }
        return 200 + isIPv6 + min(wayOut ?? Self.manyWays, Self.manyWays) * 10 + network(candidate)
    }

    private static let manyWays = 50

    /// Those of home and car networks before others.
    private func network(_ candidate: Candidate) -> Int {
        if candidate.address.hasPrefix("192.168.") { return 0 }
        return candidate.address.hasPrefix("10.") ? 1 : 2
    }
}
