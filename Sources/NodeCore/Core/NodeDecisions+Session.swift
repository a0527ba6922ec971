// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

extension NodeDecisions {
    /// Ends the host's session and begins the next one at once. Without a disk the session continues, because a restart
    /// could undo the end.
    mutating func endSession(_ context: inout Context) -> [StepAction] {
        guard let host = app.host else { return [] }
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        let next = host.nextSession(epoch: context.memory.nextEpoch(), now: context.now)
        return ask(.endSession, &context) + ask(.startHosting(next), &context)
            + [.sessionEnded, .tell(Notice(CommandProblem.sessionEnded))]
    }
}
