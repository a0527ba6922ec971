// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol
import MeshSession
import TestSupport

/// Endpoints and guests of one application on one virtual air.
struct Town {
    let air: VirtualAir
    let service: ServiceType

    init() throws {
        air = try VirtualAir(directory: newFolder())
        service = try ServiceType("road-town")
    }

    /// An endpoint with this name, and with a new identity unless another is given.
    func endpoint(
        _ name: String, _ identity: Identity = .make(), remembered: [ConversationKey: MeshCore.Remembered] = [:]
    ) -> MeshEndpoint {
        MeshEndpoint(core: MeshCore(identity: identity, name: name, service: service, remembered: remembered))
    }

    /// A manager on a radio with this address.
    func manager(_ address: String, as peer: Peer = Peer(id: "", name: "")) throws -> BearerManager {
        BearerManager(radio: try VirtualBearer(air: air, address: address), local: peer, service: service)
    }

    /// The manager of an endpoint that hosts.
    func manager(_ address: String, of host: MeshEndpoint) async throws -> BearerManager {
        try manager(address, as: await host.local)
    }

    /// A guest that has not started.
    func guest(_ name: String, patience: Duration? = nil) throws -> MeshGuest {
        MeshGuest(
            on: try manager(name.lowercased()),
            configuration: .init(name: name, service: service, patience: patience))
    }
}
