// SPDX-License-Identifier: Apache-2.0

/// Decides which initiators may begin a handshake on a new channel. It limits the number of unfinished handshakes of
/// strangers and their rate, separately for each entrance, and admits some more known nodes.
struct HandshakeGate: Sendable {
    /// The initiators that may begin on a link.
    enum Answer: Hashable, Sendable {
        /// All initiators.
        case open
        /// Initiators whose first packet proves that they have joined before.
        case known
        /// There are too many links.
        case busy
    }

    private struct Rates: Sendable {
        var strangers: RateLimit
        var known: RateLimit
    }

    private var rates: [Entrance: Rates] = [:]
    /// The handshakes in circuits.
    var inCircuits = RateLimit(
        perSecond: Limits.circuitHandshakesPerSecond, burst: Limits.circuitHandshakeBurst, now: .zero)

    /// A channel has opened at an entrance with this many unfinished handshakes.
    mutating func opened(at entrance: Entrance, halfOpen: Int, now: MeshInstant) -> Answer {
        var rates = rates[entrance] ?? Self.full(entrance)
        defer { self.rates[entrance] = rates }
        if halfOpen < Limits.halfOpenLinks, rates.strangers.allows(now: now) { return .open }
        return halfOpen < Limits.halfOpenLinks + Limits.halfOpenLinksOfKnown ? .known : .busy
    }

    /// An IK-1 has arrived on a link for known nodes only. Returns whether a key agreement is allowed for it.
    mutating func mayRecognise(at entrance: Entrance, now: MeshInstant) -> Bool {
        var rates = rates[entrance] ?? Self.full(entrance)
        defer { self.rates[entrance] = rates }
        return rates.known.allows(now: now)
    }

    private static func full(_ entrance: Entrance) -> Rates {
        let perSecond = entrance == .air ? Limits.handshakesPerSecond : Limits.handshakesPerSecondBesideAir
        return Rates(
            strangers: RateLimit(perSecond: perSecond, burst: Limits.handshakeBurst, now: .zero),
            known: RateLimit(perSecond: Limits.handshakesPerSecondOfKnown, burst: Limits.guests, now: .zero))
    }
}
