// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which of several radios carries a peer: Bluetooth, the local network, or a broker.
///
/// A peer that is heard on several radios is one peer, and is reported from the best of them. The network is the best:
/// an answer takes a millisecond there, and the air stays free for others. A broker comes last: it is far away, and its
/// bytes cost money. The radio that answers a dial decides where a link goes. While a worse radio carries the link, the
/// better one is reported again (`BearerEvent.better`).
struct BearerPolicy: Sendable {
    /// One of the radios, the best first.
    enum Side: Int, Hashable, Sendable, CaseIterable, Comparable {
        case network
        case air
        case broker

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    /// An attempt to dial: the side, the endpoint, and the delay before it.
    struct Attempt: Hashable, Sendable {
        var side: Side
        var endpoint: BearerEndpoint
        var delay: Duration
    }

    private struct Known: Sendable {
        var heard: [Side: ScanResult] = [:]
        /// The endpoint of the peer's last scan result, on each side.
        var last: [Side: BearerEndpoint] = [:]
        /// Open links that this node has dialled, on each side.
        var links: [Side: Int] = [:]
        /// A link in the network was lost, and no link has opened there since.
        var isNetworkInDoubt = false
        /// Until this time the network is not reported as better.
        var quietUntil = MeshInstant.zero
        /// The order of the last change. A full table removes the oldest.
        var order = 0

        /// The best side with a scan result.
        var best: Side? { heard.keys.min() }
        /// The best side with a link.
        var linked: Side? { links.keys.min() }

        /// How long an attempt waits for a result of the attempts on better sides.
        func delay(of side: Side, beside sides: [Side]) -> Duration {
            switch side {
            case .network: .zero
            case .air:
                sides.contains(.network) && heard[.network] != nil && !isNetworkInDoubt
                    ? BearerLimits.networkFirst : .zero
            case .broker: sides == [.broker] ? .zero : BearerLimits.brokerLast
            }
        }
    }

    /// The known peers. The key is the head of the advertised identifier.
    private var peers: [[UInt8]: Known] = [:]
    private var lastOrder = 0
    /// The number of known peers.
    var count: Int { peers.count }
    /// Whether a scan is on. Without a service, heard peers are not reported.
    var isScanning = false
    /// This node's own advertisement, which the node also hears.
    var advertised: Advertisement?
    /// A peer is linked only through the broker. It may come into range.
    var isFar: Bool { peers.values.contains { $0.linked == .broker } }

    // MARK: Scan results

    /// The event to report after one of the radios has reported `event`.
    mutating func told(_ event: BearerEvent, by side: Side, now: MeshInstant) -> BearerEvent? {
        switch event {
        case .heard(let result): heard(result, side, now: now)
        case .lost(let endpoint): lost(endpoint, side)
        // Found peers show the condition of the network.
        case .failed, .recovered, .repaired, .timing: side == .air ? event : nil
        case .better, .reached, .accepted, .broker: event
        }
    }

    private mutating func heard(_ result: ScanResult, _ side: Side, now: MeshInstant) -> BearerEvent? {
        let head = result.advertisement.idPrefix
        guard head != advertised?.idPrefix else { return nil }
        if peers[head] == nil, peers.count >= BearerLimits.scanResults { forgetOldest() }
        lastOrder += 1
        peers[head, default: Known()].order = lastOrder
        peers[head]?.heard[side] = result
        peers[head]?.last[side] = result.endpoint
        guard let known = peers[head] else { return nil }
        if let linked = known.linked, side < linked {
            guard now >= known.quietUntil else { return nil }
            peers[head]?.quietUntil = now + BearerLimits.betterPause
            return .better(result)
        }
        guard isScanning, known.best == side else { return nil }
        return .heard(result)
    }

    private mutating func lost(_ endpoint: BearerEndpoint, _ side: Side) -> BearerEvent? {
        guard let head = head(of: endpoint), peers[head]?.heard[side]?.endpoint == endpoint else { return nil }
        peers[head]?.heard[side] = nil
        guard let best = peers[head]?.best, let other = peers[head]?.heard[best] else { return .lost(endpoint) }
        // If a better side still hears the peer, it was reported from there. A worse side is reported now.
        return best > side && isScanning ? .heard(other) : nil
    }

    private func head(of endpoint: BearerEndpoint) -> [UInt8]? {
        peers.first { $0.value.last.values.contains(endpoint) }?.key
    }

    private mutating func forgetOldest() {
        let idle = peers.filter { $0.value.links.isEmpty }
        guard let oldest = idle.min(by: { $0.value.order < $1.value.order })?.key else { return }
        peers[oldest] = nil
    }

    // MARK: Dialling

    /// The attempts to dial the peer of this endpoint: on every side where it is heard, the best first. While a link on
    /// a worse side is up, only the better side is dialled.
    func attempts(for endpoint: BearerEndpoint) -> [Attempt] {
        let own = Side(endpoint)
        guard let head = head(of: endpoint), let known = peers[head] else {
            return [Attempt(side: own, endpoint: endpoint, delay: .zero)]
        }
        let better = Side.allCases.filter { side in known.last[side] != nil && known.linked.map { side < $0 } == true }
        let sides = better.isEmpty ? Side.allCases.filter { known.last[$0] != nil } : better
        return sides.compactMap { side in
            known.last[side].map { Attempt(side: side, endpoint: $0, delay: known.delay(of: side, beside: sides)) }
        }
    }

    /// Whether cancelling a dial loses nothing, because a link is up.
    func isLinked(_ endpoint: BearerEndpoint) -> Bool {
        head(of: endpoint).map { peers[$0]?.links.isEmpty == false } ?? false
    }

    /// Whether two endpoints belong to one peer.
    func isSame(_ one: BearerEndpoint, _ other: BearerEndpoint) -> Bool {
        one == other || head(of: one).map { $0 == head(of: other) } ?? false
    }

    /// A dial to this endpoint has opened a link.
    mutating func opened(_ endpoint: BearerEndpoint) {
        guard let head = head(of: endpoint) else { return }
        let side = Side(endpoint)
        peers[head]?.links[side, default: 0] += 1
        if side == .network { peers[head]?.isNetworkInDoubt = false }
    }

    /// The link has closed. `isLost` means that this node did not close it.
    mutating func closed(_ endpoint: BearerEndpoint, isLost: Bool, now: MeshInstant) {
        guard let head = head(of: endpoint), let count = peers[head]?.links[Side(endpoint)] else { return }
        peers[head]?.links[Side(endpoint)] = count > 1 ? count - 1 : nil
        guard isLost, Side(endpoint) != .broker else { return }
        if Side(endpoint) == .network { peers[head]?.isNetworkInDoubt = true }
        peers[head]?.quietUntil = now + BearerLimits.betterPause
    }
}

extension BearerPolicy.Side {
    /// The side of an endpoint.
    init(_ endpoint: BearerEndpoint) {
        switch endpoint.bearer {
        case .lan: self = .network
        case .broker: self = .broker
        case .l2cap, .virtual: self = .air
        }
    }
}
