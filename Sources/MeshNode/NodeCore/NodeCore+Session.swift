// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// The end of a session, and the goodbyes on all links.

extension NodeCore {
    /// A host's session is over, and the next one has begun. Its guests hear a goodbye, and join the new session.
    mutating func sessionEnded() {
        keepOut()
        leaveAll(saying: .ended)
        show(.bans(decisions.shownBans, isAnswer: false))
        guard let host = decisions.app.host else { return }
        stateFeed = StateFeed(host.snapshot, now: context.now)
        emit(.fetchCovers(host.snapshot.items.map(\.song)))
        show(.snapshot(host.snapshot, isStale: false))
        perform(CoverServer.Event.stateChanged)
    }

    /// Says goodbye on every link.
    mutating func leaveAll(saying reason: GoodbyeReason) {
        // Those in circuits first: what they go over takes their goodbyes along.
        for id in circuits.inner + context.mesh.allLinks { apply(context.mesh.leave(id, saying: reason)) }
        for (id, _) in links.vouched {
            waiting.removeAll(saidOn: id)
            held.removeAll(saidOn: id)
            emit(.end(id, .goodbye(reason)))
            left(id, .goodbye(reason))
        }
    }
}
