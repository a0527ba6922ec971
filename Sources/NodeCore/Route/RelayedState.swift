// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides when a guest behind relays asks its host for the state: when no relay has brought it in time.
struct RelayedState: Sendable {
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

    /// Whether a state is expected.
    var isWaiting: Bool { request != nil || announced != nil }

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

    /// The host announces a state that has not come yet. Its message waits for the state.
    mutating func announced(_ message: ReceivedMessage, on id: MeshCore.LinkID, now: MeshInstant) {
        announced = Announced(
            link: id, message: message, until: announced?.until ?? now + NodeLimits.relayedState,
            latest: announced?.latest ?? now + NodeLimits.longestRelayedState)
    }

    /// Parts of the state arrive from the relay. The guest does not ask the host during that time: the answers, one for
    /// each guest, would come over the same links and delay the state.
    mutating func comes(now: MeshInstant) {
        let patience = now + NodeLimits.relayedState
        if let request { self.request?.at = max(request.at, min(patience, request.latest)) }
        if let announced { self.announced?.until = max(announced.until, min(patience, announced.latest)) }
    }

    /// The host's message that has waited long enough for its state.
    mutating func takeAnnounced(now: MeshInstant) -> (link: MeshCore.LinkID, message: ReceivedMessage)? {
        guard let announced, announced.until <= now else { return nil }
        self.announced = nil
        return (announced.link, announced.message)
    }

    /// Returns the link on which the host must be asked now. `isCurrent`: the state has arrived. `isSettled`: no failed
    /// write can undo it.
    mutating func takeRequest(isCurrent: Bool, isSettled: Bool, now: MeshInstant) -> MeshCore.LinkID? {
        guard let due = request, due.at <= now else { return nil }
        if isCurrent {
            let later = now + NodeLimits.relayedState
            request = isSettled ? nil : Request(link: due.link, at: later, latest: later, asked: due.asked)
            return nil
        }
        let next = now + NodeLimits.relayedStateAgain * (1 << min(due.asked, 3))
        request = Request(link: due.link, at: next, latest: next, asked: due.asked + 1)
        return due.link
    }
}
