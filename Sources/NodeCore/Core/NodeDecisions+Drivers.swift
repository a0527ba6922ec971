// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

extension NodeDecisions {
    /// Makes a connected guest a co-host. It stays one across restarts until it is dismissed.
    mutating func appoint(_ name: String, _ context: inout Context) -> [StepAction] {
        guard let host = app.host else { return [] }
        let meant = host.state.connectedPeers.meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(.noSuchGuest(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        let others = drivers.filter { $0.id != peer.id }
        guard others.count < NodeLimits.drivers else { return [.tell(Notice(CommandProblem.tooManyDrivers))] }
        if !presence.vouched(peer.id).isEmpty { browserDrivers.insert(peer.id) }
        return note(others + [peer], &context)
    }

    /// Dismisses a co-host, which need not be connected.
    mutating func dismiss(_ name: String, _ context: inout Context) -> [StepAction] {
        guard app.isHosting else { return [] }
        let meant = drivers.meant(by: name)
        guard let peer = meant.first else { return [.tell(Notice(CommandProblem.noDriver(name)))] }
        guard meant.count == 1 else { return [.tell(Notice(.severalGuests(meant)))] }
        return note(drivers.filter { $0.id != peer.id }, &context)
    }

    private mutating func note(_ new: [Peer], _ context: inout Context) -> [StepAction] {
        guard !context.isWithoutStore else { return [.tell(Notice(CommandProblem.notKept))] }
        drivers = new
        remember(&context)
        return [.show(.drivers(new))] + ask(.host(.drivers(new.map(\.id))), &context)
    }

    private mutating func remember(_ context: inout Context) {
        browserDrivers.formIntersection(drivers.map(\.id))
        context.memory.note(drivers: drivers, withBrowser: drivers.filter { browserDrivers.contains($0.id) })
    }

    /// Records that a guest joins with a browser, which sends its key in the clear.
    mutating func noteBrowser(of peer: Peer, _ context: inout Context) {
        guard drivers.contains(where: { $0.id == peer.id }), browserDrivers.insert(peer.id).inserted,
            !context.isWithoutStore
        else { return }
        remember(&context)
    }

    /// Rejects a co-host's command that arrives over the radio with the key of a browser. Returns nil for any other
    /// message.
    mutating func refuseSteering(_ message: MeshMessage, by peer: Peer, _ context: inout Context) -> [StepAction]? {
        guard case .intent(.steer(let wish)) = message, app.isHosting, browserDrivers.contains(peer.id) else {
            return nil
        }
        let intent = GuestIntent.steer(wish)
        return [.show(.intent(intent, from: peer, rejected: .driverOnly))]
            + reject(.rejection(intent, .driverOnly), to: peer.id, &context)
    }
}
