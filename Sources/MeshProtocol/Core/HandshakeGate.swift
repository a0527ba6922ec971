// SPDX-License-Identifier: Apache-2.0

/// Decides who may begin a handshake on a channel that has opened: a number of strangers at once and a second,
/// at each entrance separately, and some more known nodes.
struct HandshakeGate: Sendable {
    /// Who may begin on a link.
    enum Answer: Hashable, Sendable {
        /// Everybody.
        case open
        /// Initiators whose first packet proves that they have joined before.
        case known
        /// The link is one too many.
        case busy
    }

    private struct Rates: Sendable {
        var strangers: RateLimit
        var known: RateLimit
    }

    private var rates: [Entrance: Rates] = [:]

    /// A channel has opened at an entrance where so many handshakes are under way.
    mutating func opened(at entrance: Entrance, halfOpen: Int, now: MeshInstant) -> Answer {
        var rates = rates[entrance] ?? Self.full(entrance)
        defer { self.rates[entrance] = rates }
        if halfOpen < Limits.halfOpenLinks, rates.strangers.allows(now: now) { return .open }
        return halfOpen < Limits.halfOpenLinks + Limits.halfOpenLinksOfKnown ? .known : .busy
    }

    /// An IK-1 has arrived on a link for known nodes only. Whether it may cost a key agreement.
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
