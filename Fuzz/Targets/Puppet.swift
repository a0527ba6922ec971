// SPDX-License-Identifier: Apache-2.0

@testable import MeshProtocol

/// The other end of a handshake. It has a valid key, follows Noise correctly, and puts any content into its packets and
/// records.
struct Puppet {
    private let identity: Identity
    private let role: LinkRole
    private let prologue: [UInt8]
    private let hostKey: [UInt8]
    private var pattern = NoiseHandshake.Pattern.xx
    private var handshake: NoiseHandshake?
    private var isMyTurn = false
    private var sealed: SealedChannel?

    let id: Peer.ID

    /// The peer of a node. As a host it has the key that the guest expects.
    init(_ role: LinkRole, of node: LinkedNode) throws {
        self.role = role
        identity = try LinkedNode.identity(role == .responder ? 7 : 3)
        id = identity.peerID
        prologue = HandshakePacket.prologue(of: .democracyDJ)
        hostKey = node.publicKey
    }

    /// A guest's first packet.
    mutating func hello(_ pattern: NoiseHandshake.Pattern, payload: [UInt8]) -> [UInt8]? {
        guard role == .initiator else { return nil }
        self.pattern = pattern
        sealed = nil
        handshake = make(pattern, as: .initiator)
        isMyTurn = true
        return next(payload: payload)
    }

    /// The next packet of the handshake, with this payload.
    mutating func next(payload: [UInt8]) -> [UInt8]? {
        // XX-1 carries its payload in cleartext, so a first packet is valid even without room for its payload.
        guard isMyTurn, let noise = handshake?.write(payload: payload) else { return nil }
        isMyTurn = false
        split()
        return packet(noise[...]).bytes
    }

    mutating func record(_ plaintext: [UInt8]) -> [UInt8]? {
        sealed?.seal(plaintext)
    }

    /// Reads the node's answer.
    mutating func hear(_ sdu: [UInt8]) {
        guard sealed == nil, let packet = HandshakePacket(sdu[...]) else { return }
        switch packet {
        case .unknownHello(_, let noise): begin(.xx, noise)
        case .knownHello(_, let noise): begin(.ik, noise)
        case .unknownReply(let noise), .unknownFinish(let noise), .knownReply(let noise): read(noise)
        case .clearRefusal, .rejoinHello: break
        }
    }

    // MARK: Parts

    private mutating func begin(_ pattern: NoiseHandshake.Pattern, _ noise: ArraySlice<UInt8>) {
        self.pattern = pattern
        handshake = make(pattern, as: .responder)
        read(noise)
    }

    private mutating func read(_ noise: ArraySlice<UInt8>) {
        guard !isMyTurn, handshake?.read(noise) != nil else { return }
        isMyTurn = true
        split()
    }

    private mutating func split() {
        guard let handshake, handshake.isComplete else { return }
        sealed = SealedChannel(handshake, role: role)
        isMyTurn = false
    }

    private func make(_ pattern: NoiseHandshake.Pattern, as role: NoiseHandshake.Role) -> NoiseHandshake? {
        NoiseHandshake(
            pattern, as: role, prologue: prologue, staticKey: identity.stored,
            ephemeralKey: [UInt8](repeating: 21, count: 32),
            remoteStatic: pattern == .ik && role == .initiator ? hostKey : nil)
    }

    private func packet(_ noise: ArraySlice<UInt8>) -> HandshakePacket {
        switch (role, pattern, sealed == nil) {
        case (.initiator, .xx, true): .unknownHello(major: ProtocolVersion.major, noise: noise)
        case (.initiator, .xx, false): .unknownFinish(noise: noise)
        case (.initiator, .ik, _): .knownHello(major: ProtocolVersion.major, noise: noise)
        case (.responder, .xx, _): .unknownReply(noise: noise)
        case (.responder, .ik, _): .knownReply(noise: noise)
        }
    }
}
