// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which links have to go, since there is no channel of ours on them: an event goes in, the links to let go come out.
///
/// The kernel would let a link go when its last channel has closed, but bluetoothd looks for GATT services on each new link,
/// and holds on to it for as long as the other side is there. Devices that only connect would fill the controller, which has
/// room for some eight to twenty links, and keep every guest out.
struct UnusedLinks: Sendable {
    /// A link by the address of the device at its other end.
    private struct Link: Sendable {
        var channels = 0
        /// When it goes; nil while there is a channel.
        var end: MeshInstant?
        /// Since when it is up, where nobody has opened a channel on it so far.
        var emptySince: MeshInstant?
    }

    private var links: [String: Link] = [:]

    /// When `due` has something.
    var deadline: MeshInstant? { links.values.compactMap(\.end).min() }

    /// A link has come up, with no channel on it yet.
    mutating func linked(_ address: String, now: MeshInstant) {
        guard links[address] == nil else { return }
        links[address] = Link(end: now + RadioLimits.emptyLink, emptySince: now)
        let empty = links.compactMap { address, link in link.emptySince.map { (since: $0, address: address) } }
        // The oldest go first, and none before a guest would have opened its channel: a bus of guests links all at once.
        for (since, address) in empty.sorted(by: <).dropLast(RadioLimits.emptyLinks) {
            links[address]?.end = since + RadioLimits.firstChannel
        }
    }

    /// Whether there is a link that is not to go yet.
    func knows(_ address: String) -> Bool { links[address] != nil }

    /// A link that was to go is still there: it is told again.
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

    /// Those without a channel that are to go before their time: not one that has just come up, whose device is about to open
    /// its first. They are not told again.
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

    /// The links that are to go now, and whether a channel was ever on them. They are not told again.
    mutating func due(now: MeshInstant) -> [(address: String, wasUsed: Bool)] {
        let due = links.filter { $0.value.end.map { $0 <= now } ?? false }
        for address in due.keys { links[address] = nil }
        return due.map { ($0.key, $0.value.emptySince == nil) }.sorted { $0.address < $1.address }
    }
}
