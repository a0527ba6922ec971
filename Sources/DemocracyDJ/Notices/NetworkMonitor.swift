// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides whether this node's radio works: an event goes in, actions come out. It reads no clock; `now` is an
/// argument.
public struct NetworkMonitor: Sendable {
    /// An input.
    public enum Event: Hashable, Sendable {
        /// The radio reports a failure, with its cause.
        case radioFailed(NetworkError)
        /// The radio reports that it works again.
        case radioRecovered
        /// A link to a peer is up.
        case linked(Peer.ID)
        /// A link to a peer broke.
        case linkLost(Peer.ID)
        /// A link to a peer ended intentionally: a goodbye or a refusal.
        case unlinked(Peer.ID)
        /// The person has asked for a retry.
        case retry
        /// Time has passed: see `deadline`.
        case tick
    }

    /// An output that the owner performs.
    public enum Action: Hashable, Sendable {
        /// The network has failed. It comes once for each outage.
        case networkUnavailable(NetworkError)
        /// The network is still down, but for another cause. The new cause replaces the old one.
        case causeChanged(NetworkError)
        /// The network is back.
        case networkAvailable
        /// Query the radio again.
        case tryAgain
    }

    /// The cause of an outage, and its source.
    private enum Outage: Hashable, Sendable {
        /// The radio has reported the outage, and will report its end.
        case reported(NetworkError)
        /// The outage is inferred, since all peers were lost at once. The radio is queried and may report a cause. The
        /// outage also ends when a peer is linked, and when the radio has not answered for long enough.
        case inferred(since: MeshInstant)
    }

    private var outage: Outage?
    private var linked: Set<Peer.ID> = []
    /// Recently lost peers, and when each was lost.
    private var justLost: [Peer.ID: MeshInstant] = [:]

    /// Creates a monitor of a working network without links.
    public init() {}

    /// The error for requests during an outage; nil if the network works.
    public var refusal: NetworkError? {
        switch outage {
        case nil: nil
        case .reported(let error): error
        case .inferred: .networkUnavailable
        }
    }

    /// When `tick` is due.
    public var deadline: MeshInstant? {
        if case .inferred(let since)? = outage { since + DJLimits.inferredOutage } else { nil }
    }

    /// Handles an event.
    public mutating func handle(_ event: Event, now: MeshInstant) -> [Action] {
        justLost = justLost.filter { now - $0.value <= DJLimits.lostTogether }
        switch event {
        case .radioFailed(let error): return fail(.reported(error))
        case .radioRecovered: return recover()
        case .linked(let peer):
            linked.insert(peer)
            justLost[peer] = nil
            return isInferred ? recover() : []
        case .linkLost(let peer):
            guard linked.remove(peer) != nil else { return [] }
            justLost[peer] = now
            // A peer that is lost alone was most likely left behind. If the radio is the cause, the radio reports it.
            return linked.isEmpty && justLost.count > 1 && outage == nil
                ? fail(.inferred(since: now)) + [.tryAgain] : []
        case .unlinked(let peer):
            linked.remove(peer)
            return []
        case .retry: return outage == nil ? [] : [.tryAgain]
        case .tick: return deadline.map { $0 <= now } == true ? recover() : []
        }
    }

    private var isInferred: Bool { if case .inferred? = outage { true } else { false } }

    private mutating func fail(_ cause: Outage) -> [Action] {
        let before = refusal
        outage = cause
        guard let refusal, refusal != before else { return [] }
        return [before == nil ? .networkUnavailable(refusal) : .causeChanged(refusal)]
    }

    private mutating func recover() -> [Action] {
        guard outage != nil else { return [] }
        outage = nil
        justLost = [:]
        return [.networkAvailable]
    }
}
