// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides whether this node's radio works: an event goes in, actions come out. Reads no clock; `now` is an argument.
public struct NetworkMonitor: Sendable {
    /// What happens.
    public enum Event: Hashable, Sendable {
        /// The radio says that it does not work, and why.
        case radioFailed(NetworkError)
        /// The radio says that it works again.
        case radioRecovered
        /// A link to a peer is up.
        case linked(Peer.ID)
        /// A link to a peer broke.
        case linkLost(Peer.ID)
        /// A link to a peer ended as somebody wanted: a goodbye, a refusal.
        case unlinked(Peer.ID)
        /// The person wants to have it tried again.
        case retry
        /// Time has passed: see `deadline`.
        case tick
    }

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// The network is gone. It comes once for each outage.
        case networkUnavailable(NetworkError)
        /// The network is still gone, for another cause than was said: tell that one in its place.
        case causeChanged(NetworkError)
        /// The network is back.
        case networkAvailable
        /// Ask the radio again.
        case tryAgain
    }

    /// Why the network is out, and who says so.
    private enum Outage: Hashable, Sendable {
        /// The radio. It is over when the radio says so.
        case reported(NetworkError)
        /// Nobody: everybody was lost at once. The radio is asked, and may say what it is; it is over as well when
        /// somebody is linked, and when the radio has said nothing for long enough.
        case inferred(since: MeshInstant)
    }

    private var outage: Outage?
    private var linked: Set<Peer.ID> = []
    /// Who was lost a moment ago, and when.
    private var justLost: [Peer.ID: MeshInstant] = [:]

    /// A network that works, without links.
    public init() {}

    /// What a request is to be refused with now; nil where the network works.
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

    /// Takes an event.
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
            // One that is lost alone was most often left behind; the radio, if it is that, says so.
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
