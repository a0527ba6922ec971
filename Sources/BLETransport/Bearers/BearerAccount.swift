// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which of several radios carries a peer: the air, a network beside it, or a broker.
///
/// The same peer that is heard on several is one peer, and it is told of as it is heard on the best one. That is the network: an
/// answer takes a millisecond there, and leaves the air to others. A broker comes last: it is far, and its bytes cost money. Where
/// a link goes is decided when it is dialled, by what answers; what was better all the time is told again while a lesser one carries the
/// link (`RadioEvent.better`).
struct BearerAccount: Sendable {
    /// One of them, the best first.
    enum Side: Int, Hashable, Sendable, CaseIterable, Comparable {
        case network
        case air
        case broker

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    /// An attempt to dial: on which side, where, and after how much time.
    struct Attempt: Hashable, Sendable {
        var side: Side
        var endpoint: RadioEndpoint
        var delay: Duration
    }

    private struct Known: Sendable {
        var heard: [Side: ScanResult] = [:]
        /// Where it was heard last, on each side.
        var last: [Side: RadioEndpoint] = [:]
        /// Open links that this node has dialled, on each side.
        var links: [Side: Int] = [:]
        /// A link in the network was lost, and none has opened there since.
        var isNetworkInDoubt = false
        /// Before this nobody is told that the network is better.
        var quietUntil = MeshInstant.zero
        /// Changed last, for a table that is full.
        var order = 0

        /// The best side that it is heard on.
        var best: Side? { heard.keys.min() }
        /// The best side that carries a link to it.
        var linked: Side? { links.keys.min() }

        /// How long an attempt waits for better ones to lead to something.
        func delay(of side: Side, beside sides: [Side]) -> Duration {
            switch side {
            case .network: .zero
            case .air:
                sides.contains(.network) && heard[.network] != nil && !isNetworkInDoubt
                    ? RadioLimits.networkFirst : .zero
            case .broker: sides == [.broker] ? .zero : RadioLimits.brokerLast
            }
        }
    }

    /// By the head of the identifier that is advertised.
    private var peers: [[UInt8]: Known] = [:]
    private var lastOrder = 0
    /// Who is remembered.
    var count: Int { peers.count }
    /// Whether others are looked for: who is heard meanwhile is not told.
    var isScanning = false
    /// What is advertised, and heard by ourselves.
    var advertised: Advertisement?
    /// A peer is linked through the broker alone: it may come near.
    var isFar: Bool { peers.values.contains { $0.linked == .broker } }

    // MARK: What is heard

    /// What is told when one of them has told this.
    mutating func told(_ event: RadioEvent, by side: Side, now: MeshInstant) -> RadioEvent? {
        switch event {
        case .heard(let result): heard(result, side, now: now)
        case .lost(let endpoint): lost(endpoint, side)
        // What the network is like, is told by who is found there.
        case .failed, .recovered, .repaired, .timing: side == .air ? event : nil
        case .better, .reached, .accepted, .broker: event
        }
    }

    private mutating func heard(_ result: ScanResult, _ side: Side, now: MeshInstant) -> RadioEvent? {
        let head = result.advertisement.idPrefix
        guard head != advertised?.idPrefix else { return nil }
        if peers[head] == nil, peers.count >= RadioLimits.scanResults { forgetOldest() }
        lastOrder += 1
        peers[head, default: Known()].order = lastOrder
        peers[head]?.heard[side] = result
        peers[head]?.last[side] = result.endpoint
        guard let known = peers[head] else { return nil }
        if let linked = known.linked, side < linked {
            guard now >= known.quietUntil else { return nil }
            peers[head]?.quietUntil = now + RadioLimits.betterPause
            return .better(result)
        }
        guard isScanning, known.best == side else { return nil }
        return .heard(result)
    }

    private mutating func lost(_ endpoint: RadioEndpoint, _ side: Side) -> RadioEvent? {
        guard let head = head(of: endpoint), peers[head]?.heard[side]?.endpoint == endpoint else { return nil }
        peers[head]?.heard[side] = nil
        guard let best = peers[head]?.best, let other = peers[head]?.heard[best] else { return .lost(endpoint) }
        // It was told of as that, or goes on being heard on a lesser side.
        return best > side && isScanning ? .heard(other) : nil
    }

    private func head(of endpoint: RadioEndpoint) -> [UInt8]? {
        peers.first { $0.value.last.values.contains(endpoint) }?.key
    }

    private mutating func forgetOldest() {
        let idle = peers.filter { $0.value.links.isEmpty }
        guard let oldest = idle.min(by: { $0.value.order < $1.value.order })?.key else { return }
        peers[oldest] = nil
    }

    // MARK: Dialling

    /// How a peer is dialled that was told of at this endpoint: on every side where it is heard, the better one first. While a
    /// link of the lesser one is up, the better one alone is.
    func attempts(for endpoint: RadioEndpoint) -> [Attempt] {
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

    /// Whether nothing would be lost if a dial were given up: a link is up.
    func isLinked(_ endpoint: RadioEndpoint) -> Bool {
        head(of: endpoint).map { peers[$0]?.links.isEmpty == false } ?? false
    }

    /// Whether two endpoints are one peer's.
    func isSame(_ one: RadioEndpoint, _ other: RadioEndpoint) -> Bool {
        one == other || head(of: one).map { $0 == head(of: other) } ?? false
    }

    /// A dial to this endpoint has led to a link.
    mutating func opened(_ endpoint: RadioEndpoint) {
        guard let head = head(of: endpoint) else { return }
        let side = Side(endpoint)
        peers[head]?.links[side, default: 0] += 1
        if side == .network { peers[head]?.isNetworkInDoubt = false }
    }

    /// It is over. `isLost`: this node has not ended it.
    mutating func closed(_ endpoint: RadioEndpoint, isLost: Bool, now: MeshInstant) {
        guard let head = head(of: endpoint), let count = peers[head]?.links[Side(endpoint)] else { return }
        peers[head]?.links[Side(endpoint)] = count > 1 ? count - 1 : nil
        guard isLost, Side(endpoint) != .broker else { return }
        if Side(endpoint) == .network { peers[head]?.isNetworkInDoubt = true }
        peers[head]?.quietUntil = now + RadioLimits.betterPause
    }
}

extension BearerAccount.Side {
    /// The side that an endpoint is of.
    init(_ endpoint: RadioEndpoint) {
        switch endpoint.bearer {
        case .lan: self = .network
        case .broker: self = .broker
        case .l2cap, .virtual: self = .air
        }
    }
}
