// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

extension NodeDecisions {
    /// A guest that is there becomes a driver, and stays one over every start until it is dismissed.
    mutating func appoint(_ name: String, _ context: inout Context) -> [Act] {
        guard let host = app.host else { return [] }
        let meant = host.state.connectedPeers.meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(.noSuchGuest(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        let others = drivers.filter { $0.id != peer.id }
        guard others.count < NodeLimits.drivers else { return [.tell(Notice(CommandProblem.tooManyDrivers))] }
        return note(others + [peer], &context)
    }

    /// It need not be there.
    mutating func dismiss(_ name: String, _ context: inout Context) -> [Act] {
        guard app.isHosting else { return [] }
        let meant = drivers.meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(CommandProblem.noDriver(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        return note(drivers.filter { $0.id != peer.id }, &context)
    }

    private mutating func note(_ new: [Peer], _ context: inout Context) -> [Act] {
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        drivers = new
        context.memory.note(drivers: new)
        return [.show(.drivers(new))] + ask(.host(.drivers(new.map(\.id))), &context)
    }
}
