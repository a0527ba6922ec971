// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol
import MeshSession

/// Opens a room, and passes on what each member writes.
func hostChat(as name: String, on radio: any Bearer, show: @Sendable (String) -> Void) async throws {
    let service = try ServiceType("road-chat")
    let identity = Identity.make()
    let manager = BearerManager(radio: radio, local: Peer(id: identity.peerID, name: name), service: service)
    let room = MeshEndpoint(core: MeshCore(identity: identity, name: name, service: service))
    try await room.host(on: manager)
    try await room.executeThenClose { events in
        for await event in events {
            switch event {
            case .joined(let member): show("\(member.name) has joined")
            case .message(let message, let member):
                let line = "\(member.name): \(String(decoding: message.body, as: UTF8.self))"
                show(line)
                try await room.send(Array(line.utf8), to: .allBut(member.id))
            case .left(let member): show("\(member.name) has left")
            }
        }
    }
}

/// Joins the room in range, sends lines, and shows those of the others. It returns when the host leaves.
func joinChat(
    as name: String, on radio: any Bearer, lines: AsyncStream<String>, show: @Sendable (String) -> Void
) async throws {
    let service = try ServiceType("road-chat")
    let manager = BearerManager(radio: radio, local: Peer(id: "", name: name), service: service)
    try await withGuest(on: manager, configuration: .init(name: name, service: service)) { guest, messages in
        let writing = Task { for await line in lines { try await guest.send(Array(line.utf8)) } }
        defer { writing.cancel() }
        for try await message in messages { show(String(decoding: message.body, as: UTF8.self)) }
    }
}
