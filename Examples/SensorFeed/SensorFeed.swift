// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol
import MeshSession

/// Sends each reading to all guests until the readings end. A guest that was out of range gets the newest one only.
func publish(_ readings: AsyncStream<Double>, as name: String, on radio: any Bearer) async throws {
    let service = try ServiceType("road-sensor")
    let identity = Identity.make()
    let manager = BearerManager(radio: radio, local: Peer(id: identity.peerID, name: name), service: service)
    let endpoint = MeshEndpoint(core: MeshCore(identity: identity, name: name, service: service))
    try await endpoint.host(on: manager)
    try await endpoint.executeThenClose { events in
        // Guests send nothing, but their joins and leaves must be read.
        let listening = Task { for await _ in events {} }
        defer { listening.cancel() }
        for await reading in readings {
            try await endpoint.send(Array("\(reading)".utf8), as: .latest, to: .all)
        }
    }
}

/// Shows the readings of the sensor in range until it stops.
func watch(as name: String, on radio: any Bearer, show: @Sendable (Double) -> Void) async throws {
    let service = try ServiceType("road-sensor")
    let manager = BearerManager(radio: radio, local: Peer(id: "", name: name), service: service)
    try await withGuest(on: manager, configuration: .init(name: name, service: service)) { _, messages in
        for try await message in messages {
            if let reading = Double(String(decoding: message.body, as: UTF8.self)) { show(reading) }
        }
    }
}
