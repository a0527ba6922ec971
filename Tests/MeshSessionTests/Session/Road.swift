// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol
import TestSupport

@testable import Bearers
@testable import MeshSession

/// A host and the guests that dial it, as sessions over one air: a virtual one, or two adapters.
struct Road {
    let air: VirtualAir
    let host: BearerManager
    let guest: BearerManager
    let hostEvents: EventQueue<BearerManagerEvent>
    let identity = Identity.make()
    /// The peripheral that a guest dials.
    let peripheral: Peripheral

    init() async throws {
        air = try VirtualAir(directory: newFolder())
        host = BearerManager(
            radio: try VirtualBearer(air: air, address: "car"), local: Peer(id: identity.peerID, name: "Dad's Car"))
        guest = BearerManager(
            radio: try VirtualBearer(air: air, address: "ana"), local: Peer(id: Identity.make().peerID, name: "Ana"))
        hostEvents = EventQueue(host.events)
        let heard = EventQueue(guest.events)
        try await host.startHosting()
        try await guest.startBrowsing()
        peripheral = try await heard.first { if case .discovered(let peripheral) = $0 { peripheral } else { nil } }
        await guest.stopBrowsing()
    }

    /// The next accepted channel of the host.
    func accepted() async throws -> BLETransport {
        try await hostEvents.first { if case .accepted(let transport) = $0 { transport } else { nil } }
    }

    /// The host's side of the next link.
    func hostSession(
        remembered: [ConversationKey: MeshCore.Remembered] = [:], acceptsByItself: Bool = true
    ) async throws -> MeshCoreSession {
        MeshCoreSession(
            transport: try await accepted(),
            configuration: .init(
                identity: identity, name: "Dad's Car", role: .responder, remembered: remembered,
                acceptsByItself: acceptsByItself))
    }

    /// Both sides of a link that is up.
    func linked(
        _ configuration: MeshCoreSession.Configuration = .init(),
        remembered: [ConversationKey: MeshCore.Remembered] = [:],
        acceptsByItself: Bool = true
    ) async throws -> (guest: MeshCoreSession, host: MeshCoreSession) {
        let guest = MeshCoreSession(
            transport: BLETransport(peripheral: peripheral), configuration: configuration)
        async let started: Void = guest.start()
        let host = try await hostSession(remembered: remembered, acceptsByItself: acceptsByItself)
        try await host.start()
        try await started
        return (guest, host)
    }

    func close() async {
        await guest.close()
        await host.close()
    }
}

extension EventQueue where Event == MeshEvent {
    /// The next message.
    func message() async throws -> ReceivedMessage {
        try await first { if case .messageReceived(let message) = $0 { message } else { nil } }
    }
}
