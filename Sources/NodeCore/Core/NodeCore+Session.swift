// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// The end of a session, and goodbyes on all links.

extension NodeCore {
    /// A host's session has ended, and the next one has begun. Its guests get a goodbye and join the new session.
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

    mutating func leaveAll(saying reason: GoodbyeReason) {
        // Links in circuits come first, because their carriers transport the goodbyes.
        for id in links.inCircuits + context.mesh.allLinks { apply(context.mesh.leave(id, saying: reason)) }
        for (id, _) in links.vouched {
            steps.removeAll(saidOn: id)
            endVouched(id, .goodbye(reason))
        }
    }
}
