// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Decides when a guest behind relays asks its host for the state: when no relay has brought it in time. Messages that
/// refer to a state wait for it.
struct RelayedState: Sendable {
    /// An output.
    enum Action: Sendable {
        /// Decide on the host's message, which has waited long enough for its state.
        case release(ReceivedMessage, on: MeshCore.LinkID)
        /// Ask the host for the state.
        case request(on: MeshCore.LinkID)
    }

    /// The host is asked on this link at `at`.
    private struct Request: Sendable {
        var link: MeshCore.LinkID
        var at: MeshInstant
        /// The latest time, even if parts of the state keep arriving.
        var latest: MeshInstant
        /// How often the state was requested before.
        var asked = 0
    }

    /// The host's message about a state that has not come yet.
    private struct Announced: Sendable {
        var link: MeshCore.LinkID
        var message: ReceivedMessage
        var until: MeshInstant
        var latest: MeshInstant
    }

    private var request: Request?
    private var announced: Announced?

    /// How often the host was asked for the expected state. Nil if none is expected.
    var asked: Int? { request?.asked }

    /// When `tick` is due.
    var deadline: MeshInstant? { earliest(request?.at, announced?.until) }

    /// A link in a circuit is up.
    mutating func linkUp(_ id: MeshCore.LinkID, now: MeshInstant) {
        request = Request(link: id, at: now + NodeLimits.relayedState, latest: now + NodeLimits.longestRelayedState)
    }

    mutating func linkClosed(_ id: MeshCore.LinkID) {
        if request?.link == id { request = nil }
        if announced?.link == id { announced = nil }
    }

    /// Whether a message that the host has sent in a circuit must wait for the state that it refers to. That state
    /// arrives over another link.
    mutating func holdsBack(
        _ message: ReceivedMessage, _ content: MeshMessage?, on id: MeshCore.LinkID, _ app: AppFeature,
        now: MeshInstant
    ) -> Bool {
        switch content {
        case .stateHeartbeat(let epoch, let revision, _):
            // Without a state, the message says which revision the first state must have.
            guard app.isCurrent, let state = app.hostSnapshot else { return false }
            guard (state.epoch, state.revision) != (epoch, revision) else { return false }
            // A message that is older than the state on view says nothing about it, unless that state came over an
            // earlier link.
            guard state.epoch != epoch || revision > state.revision else { return false }
            announced = Announced(
                link: id, message: message, until: announced?.until ?? now + NodeLimits.relayedState,
                latest: announced?.latest ?? now + NodeLimits.longestRelayedState)
            return true
        case .stateChange:
            comes(now: now)
            return false
        default: return false
        }
    }

    /// Time has passed. `isComing`: part of the state has arrived from the relay. `isCurrent`: the state has arrived.
    /// `isSettled`: no failed write can undo it.
    mutating func tick(isComing: Bool, isCurrent: Bool, isSettled: Bool, now: MeshInstant) -> [Action] {
        if isComing { comes(now: now) }
        var actions: [Action] = []
        if let announced, announced.until <= now {
            self.announced = nil
            actions.append(.release(announced.message, on: announced.link))
        }
        // The state is requested if no relay has brought it, or only an older state. A decision that is not on the disk
        // may be undone, so only a settled one counts.
        guard let due = request, due.at <= now else { return actions }
        if isCurrent {
            let later = now + NodeLimits.relayedState
            request = isSettled ? nil : Request(link: due.link, at: later, latest: later, asked: due.asked)
            return actions
        }
        let next = now + NodeLimits.relayedStateAgain * (1 << min(due.asked, 3))
        request = Request(link: due.link, at: next, latest: next, asked: due.asked + 1)
        return actions + [.request(on: due.link)]
    }

    /// Parts of the state arrive from the relay. The guest does not ask the host during that time: the answers, one for
    /// each guest, would come over the same links and delay the state.
    private mutating func comes(now: MeshInstant) {
        let patience = now + NodeLimits.relayedState
        if let request { self.request?.at = max(request.at, min(patience, request.latest)) }
        if let announced { self.announced?.until = max(announced.until, min(patience, announced.latest)) }
    }
}
