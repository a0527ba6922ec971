// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import MeshProtocol
import NIOCore

/// The dashboard's connections on all event loops.
final class Connections: Sendable {
    private struct State {
        var table: ConnectionTable
        var channels: [ConnectionTable.ID: any Channel] = [:]
        var ids: [ObjectIdentifier: ConnectionTable.ID] = [:]
        var isClosed = false

        mutating func take(_ id: ConnectionTable.ID) -> (any Channel)? {
            let channel = channels.removeValue(forKey: id)
            if let channel { ids[ObjectIdentifier(channel)] = nil }
            return channel
        }
    }

    private let state: NIOLockedValueBox<State>
    private let origin = ContinuousClock.now

    init(limit: Int) {
        state = NIOLockedValueBox(State(table: ConnectionTable(limit: limit)))
    }

    var now: MeshInstant { ContinuousClock.now - origin }

    var count: Int { state.withLockedValue { $0.table.count } }

    /// Admits a connection, and closes another one if the table is full. Nil if the connection must be closed.
    func open(_ channel: any Channel) -> ConnectionTable.ID? {
        let address = channel.remoteAddress?.ipAddress ?? ""
        let (id, evicted) = state.withLockedValue { state -> (ConnectionTable.ID?, (any Channel)?) in
            guard !state.isClosed, case .admit(let id, let closing) = state.table.opened(from: address) else {
                return (nil, nil)
            }
            state.channels[id] = channel
            state.ids[ObjectIdentifier(channel)] = id
            return (id, closing.flatMap { state.take($0) })
        }
        evicted?.close(promise: nil)
        return id
    }

    func changed(_ id: ConnectionTable.ID, isBusy: Bool) {
        state.withLockedValue { $0.table.changed(id, isBusy: isBusy) }
    }

    func closed(_ id: ConnectionTable.ID) {
        state.withLockedValue { state in
            state.table.closed(id)
            _ = state.take(id)
        }
    }

    /// Whether to serve a request, now that its sender is known.
    func serves(_ channel: any Channel, asDriver: Bool) -> Bool {
        state.withLockedValue { state in
            state.ids[ObjectIdentifier(channel)].map { state.table.serves($0, asDriver: asDriver) } ?? false
        }
    }

    /// Closes all connections and admits no others.
    func closeAll() {
        let channels = state.withLockedValue { state in
            state.isClosed = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.close(promise: nil) }
    }
}
