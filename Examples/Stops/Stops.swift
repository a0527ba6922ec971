// SPDX-License-Identifier: Apache-2.0

import Bearers
import Foundation
import MeshProtocol
import MeshSession

/// Keeps the board of a convoy, and sends it to all guests.
func hostStops(as name: String, on radio: any Bearer, in folder: String, show: @Sendable (String) -> Void) async throws
{
    var memory = try Memory(folder: folder)
    let service = try ServiceType("road-stops")
    let identity = try memory.identity
    let manager = BearerManager(radio: radio, local: Peer(id: identity.peerID, name: name), service: service)
    let core = MeshCore(identity: identity, name: name, service: service, remembered: memory.conversations)
    let endpoint = MeshEndpoint(core: core)
    try await endpoint.host(on: manager)
    try await endpoint.executeThenClose { events in
        for await event in events {
            switch event {
            case .joined(let guest): show("\(guest.name) has joined")
            case .left(let guest):
                show("\(guest.name) has left")
                continue
            case .message(let message, let guest):
                let stop = String(decoding: message.body, as: UTF8.self)
                memory.board.add(stop, by: guest.name)
                // The guest gets its acknowledgement when the loop asks for the next event, after this write.
                memory.conversations = await endpoint.remembered
                try memory.write(to: folder)
                show("\(guest.name) proposes \(stop)")
            }
            try await endpoint.send(Array(JSONEncoder().encode(memory.board)), as: .latest, to: .all)
        }
    }
}

/// Joins the convoy in range, proposes stops, and shows the board. It returns when the host leaves.
func joinStops(
    as name: String, on radio: any Bearer, in folder: String, stops: AsyncStream<String>,
    show: @escaping @Sendable (String) -> Void
) async throws {
    let memory = try Memory(folder: folder)
    let service = try ServiceType("road-stops")
    let manager = BearerManager(radio: radio, local: Peer(id: "", name: name), service: service)
    let configuration = MeshGuest.Configuration(
        name: name, service: service, identity: try memory.identity, host: memory.conversations.keys.first?.peer,
        remembered: memory.conversations)
    try await withGuest(on: manager, configuration: configuration) { guest, messages in
        let proposing = Task {
            for await stop in stops {
                try await guest.send(Array(stop.utf8))
                try await keep(guest, memory, in: folder)
                show("\(stop) will reach the host")
            }
        }
        defer { proposing.cancel() }
        for try await message in messages {
            try await keep(guest, memory, in: folder)
            show(try JSONDecoder().decode(Board.self, from: Data(message.body)).text)
        }
    }
}

/// Stores what the guest has sent and received.
private func keep(_ guest: MeshGuest, _ memory: Memory, in folder: String) async throws {
    var memory = memory
    memory.conversations = await guest.remembered
    try memory.write(to: folder)
}
