// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

extension NodeDecisions {
    /// A host's session is over, and the next one begins at once. Without a disk it goes on: the end could be undone.
    mutating func endSession(_ context: inout Context) -> [Act] {
        guard let host = app.host else { return [] }
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let next = host.nextSession(epoch: context.memory.nextEpoch(), now: context.now)
        return ask(.endSession, &context) + ask(.startHosting(next), &context)
            + [.sessionEnded, .tell(Notice(CommandProblem.sessionEnded))]
    }
}
