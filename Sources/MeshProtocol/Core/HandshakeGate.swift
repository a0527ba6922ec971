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

        /// How long a handshake may take after this answer.
        var time: Duration { self == .known ? Limits.knownHelloTimeout : Limits.handshakeTimeout }
    }

    private struct Rates: Sendable {
        var strangers: RateLimit
        var known: RateLimit
    }

    private var rates: [Entrance: Rates] = [:]
    private var inCircuits = RateLimit(
        perSecond: Limits.circuitHandshakesPerSecond, burst: Limits.circuitHandshakeBurst, now: .zero)

    /// An accepted link begins at an entrance, or in a circuit.
    mutating func opened(
        in place: CircuitPlace?, at entrance: Entrance, _ links: LinkSlots, now: MeshInstant
    ) -> Answer {
        guard let place else { return opened(at: entrance, halfOpen: links.halfOpen(at: entrance), now: now) }
        // One relay must not take the slots of nodes behind another.
        let isFull =
            links.halfOpen(inCircuits: true) >= Limits.halfOpenCircuits
            || links.halfOpen(over: place.carrier) >= Limits.halfOpenCircuitsOfRelay
        return isFull ? .busy : .open
    }

    /// Whether a key agreement is allowed on a link in a circuit.
    mutating func mayAgreeInCircuit(now: MeshInstant) -> Bool { inCircuits.allows(now: now) }

    /// A link in a circuit needs no key agreement.
    mutating func giveBackInCircuit() { inCircuits.giveBack() }

    private mutating func opened(at entrance: Entrance, halfOpen: Int, now: MeshInstant) -> Answer {
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
