// SPDX-License-Identifier: Apache-2.0

extension MeshCore {
    /// The settings of a node. They are fixed before its first link.
    struct Settings: Sendable {
        let local: Peer
        let identity: Identity
        let service: ServiceType
        let holdsUntilStored: Bool
        /// How long this node may have to be silent.
        let silence: Duration
        let relays: Bool
        private let prologues: [HandshakePacket.Medium: [UInt8]]

        init(
            _ identity: Identity, name: String, _ service: ServiceType, holdsUntilStored: Bool, silence: Duration,
            relays: Bool
        ) {
            local = Peer(id: identity.peerID, name: name)
            (self.identity, self.service, self.holdsUntilStored) = (identity, service, holdsUntilStored)
            (self.silence, self.relays) = (silence, relays)
            prologues = [
                .direct: HandshakePacket.prologue(of: service),
                .circuit: HandshakePacket.prologue(of: service, on: .circuit),
            ]
        }

        /// The prologue of a handshake in a circuit, or on a channel of its own.
        func prologue(inCircuit: Bool) -> [UInt8] { prologues[inCircuit ? .circuit : .direct] ?? [] }
    }
}
