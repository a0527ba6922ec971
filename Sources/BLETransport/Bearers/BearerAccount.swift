// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides which of two radios carries a peer: the air, or a network beside it.
///
/// The same peer that is heard on both is one peer, and it is told of as it is heard on the better one, which is the network: an
/// answer takes a millisecond there, and leaves the air to others. Where a link goes is decided when it is dialled, by what
/// answers; what was better all the time is told again while the lesser one carries the link (`RadioEvent.better`).
struct BearerAccount: Sendable {
    /// One of the two.
    enum Side: Int, Hashable, Sendable, CaseIterable {
        /// The better one.
        case network
        case air
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

    // MARK: What is heard

    /// What is told when one of the two has told this.
    mutating func told(_ event: RadioEvent, by side: Side, now: MeshInstant) -> RadioEvent? {
        switch event {
        case .heard(let result): heard(result, side, now: now)
        case .lost(let endpoint): lost(endpoint, side)
        // What the network is like, is told by who is found there.
        case .failed, .recovered, .repaired, .timing: side == .air ? event : nil
        case .better, .reached, .accepted: event
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
        if side == .network, known.links[.network] == nil, known.links[.air] != nil {
            guard now >= known.quietUntil else { return nil }
            peers[head]?.quietUntil = now + RadioLimits.betterPause
            return .better(result)
        }
        guard isScanning, side == .network || known.heard[.network] == nil else { return nil }
        return .heard(result)
    }

    private mutating func lost(_ endpoint: RadioEndpoint, _ side: Side) -> RadioEvent? {
        guard let head = head(of: endpoint), peers[head]?.heard[side]?.endpoint == endpoint else { return nil }
        peers[head]?.heard[side] = nil
        // It goes on being heard on the other side, or was told of as that.
        if side == .air, peers[head]?.heard[.network] != nil { return nil }
        if let other = peers[head]?.heard[.air] { return isScanning ? .heard(other) : nil }
        return .lost(endpoint)
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
        if known.links[.air] != nil, known.links[.network] == nil, let network = known.last[.network] {
            return [Attempt(side: .network, endpoint: network, delay: .zero)]
        }
        let sides = Side.allCases.filter { known.last[$0] != nil }
        let isSure = known.heard[.network] != nil && !known.isNetworkInDoubt
        return sides.compactMap { side in
            guard let place = known.last[side] else { return nil }
            let waits = side == .air && isSure && sides.contains(.network)
            return Attempt(side: side, endpoint: place, delay: waits ? RadioLimits.networkFirst : .zero)
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
        guard isLost, Side(endpoint) == .network else { return }
        peers[head]?.isNetworkInDoubt = true
        peers[head]?.quietUntil = now + RadioLimits.betterPause
    }
}

extension BearerAccount.Side {
    /// The side that an endpoint is of.
    init(_ endpoint: RadioEndpoint) { self = endpoint.bearer == .lan ? .network : .air }
}
