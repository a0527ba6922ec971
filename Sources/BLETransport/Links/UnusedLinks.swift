// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which links must end because no channel of ours uses them: an event goes in, the links to end come out.
///
/// The kernel would end a link when its last channel has closed. But bluetoothd reads the GATT services on each new
/// link and keeps it while the other side is in range. Devices that only connect would fill the controller, which has
/// room for eight to twenty links, and lock out all guests.
struct UnusedLinks: Sendable {
    /// A link, by the address of the other device.
    private struct Link: Sendable {
        var channels = 0
        /// When the link must end. Nil while it has a channel.
        var end: MeshInstant?
        /// The time since which the link is up. Nil after a channel has opened on it.
        var emptySince: MeshInstant?
    }

    private var links: [String: Link] = [:]

    /// The next time at which `due` returns links.
    var deadline: MeshInstant? { links.values.compactMap(\.end).min() }

    /// A link has come up, with no channel on it yet.
    mutating func linked(_ address: String, now: MeshInstant) {
        guard links[address] == nil else { return }
        links[address] = Link(end: now + RadioLimits.emptyLink, emptySince: now)
        let empty = links.compactMap { address, link in link.emptySince.map { (since: $0, address: address) } }
        // The oldest links end first. No link ends before a guest would have opened its channel, since all guests on a
        // bus link at once.
        for (since, address) in empty.sorted(by: <).dropLast(RadioLimits.emptyLinks) {
            links[address]?.end = since + RadioLimits.firstChannel
        }
    }

    /// Whether the link exists and need not end yet.
    func knows(_ address: String) -> Bool { links[address] != nil }

    /// A link that should have ended still exists. It becomes due again later.
    mutating func kept(_ address: String, wasUsed: Bool, now: MeshInstant) {
        guard links[address] == nil else { return }
        links[address] = Link(end: now + RadioLimits.unusedLink, emptySince: wasUsed ? nil : now)
    }

    /// A link is gone.
    mutating func unlinked(_ address: String) {
        if links[address]?.channels == 0 { links[address] = nil }
    }

    /// A channel has opened.
    mutating func opened(_ address: String) {
        var link = links[address] ?? Link()
        link.channels += 1
        (link.end, link.emptySince) = (nil, nil)
        links[address] = link
    }

    /// A channel has closed.
    mutating func closed(_ address: String, now: MeshInstant) {
        guard var link = links[address], link.channels > 0 else { return }
        link.channels -= 1
        if link.channels == 0 { link.end = now + RadioLimits.unusedLink }
        links[address] = link
    }

    /// Links without a channel that must end early. A link that has just come up is not among them, because its device
    /// is about to open its first channel. A link is returned only once.
    mutating func vacate(
        now: MeshInstant, where isInTheWay: (String) -> Bool
    ) -> [(address: String, wasUsed: Bool)] {
        let unused = links.filter { address, link in
            link.channels == 0 && link.emptySince.map { $0 + RadioLimits.firstChannel <= now } ?? true
                && isInTheWay(address)
        }
        for address in unused.keys { links[address] = nil }
        return unused.map { ($0.key, $0.value.emptySince == nil) }.sorted { $0.address < $1.address }
    }

    /// The links that must end now, and whether a channel was ever on them. A link is returned only once.
    mutating func due(now: MeshInstant) -> [(address: String, wasUsed: Bool)] {
        let due = links.filter { $0.value.end.map { $0 <= now } ?? false }
        for address in due.keys { links[address] = nil }
        return due.map { ($0.key, $0.value.emptySince == nil) }.sorted { $0.address < $1.address }
    }
}
