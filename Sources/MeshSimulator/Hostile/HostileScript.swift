// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// An attacker at one end of a channel: what it sends when the channel opens, and what it answers.
struct HostileScript {
    enum Part {
        /// Sends these SDUs and nothing more: none, random bytes, half a handshake, or a recording.
        case says([[UInt8]])
        /// Joins with its own key, and then sends these frames.
        case joins(frames: [[UInt8]])
        /// Answers a guest with these SDUs instead of the host.
        case answers([[UInt8]])
        /// Sends back what it receives.
        case echoes
        /// Answers a guest as a host with another key.
        case poses
    }

    private let part: Part
    private let identity: Identity
    private let hello: [UInt8]
    private var handshake: NoiseHandshake?
    private var cipher: NoiseCipher?
    private var hasSpoken = false

    init(_ part: Part, identity: Identity, ephemeral: [UInt8], hello: [UInt8] = []) {
        self.part = part
        self.identity = identity
        self.hello = hello
        let role: NoiseHandshake.Role
        switch part {
        case .joins: role = .initiator
        case .poses: role = .responder
        case .says, .answers, .echoes: return
        }
        handshake = NoiseHandshake(
            .xx, as: role, prologue: Self.prologue, staticKey: identity.stored, ephemeralKey: ephemeral)
    }

    private static let prologue = HandshakePacket.prologue(of: .democracyDJ)

    mutating func opened() -> [[UInt8]] {
        switch part {
        case .says(let sdus): return sdus
        case .joins:
            guard let noise = handshake?.write(payload: []) else { return [] }
            return [HandshakePacket.unknownHello(major: ProtocolVersion.major, noise: noise[...]).bytes]
        case .answers, .echoes, .poses: return []
        }
    }

    mutating func received(_ sdu: [UInt8]) -> [[UInt8]] {
        switch part {
        case .says: return []
        case .joins(let frames): return join(sdu, frames)
        case .answers(let sdus):
            defer { hasSpoken = true }
            return hasSpoken ? [] : sdus
        case .echoes: return [sdu]
        case .poses: return pose(sdu)
        }
    }

    private mutating func join(_ sdu: [UInt8], _ frames: [[UInt8]]) -> [[UInt8]] {
        if cipher != nil {
            // The host's first record means that it has admitted the attacker.
            guard !hasSpoken else { return [] }
            hasSpoken = true
            return frames.compactMap { cipher?.seal($0) }
        }
        guard case .unknownReply(let noise) = HandshakePacket(sdu[...]), handshake?.read(noise) != nil,
            let answer = handshake?.write(payload: hello)
        else { return [] }
        cipher = handshake?.split().initiatorToResponder
        return [HandshakePacket.unknownFinish(noise: answer[...]).bytes]
    }

    private mutating func pose(_ sdu: [UInt8]) -> [[UInt8]] {
        switch HandshakePacket(sdu[...]) {
        case .knownHello: return [HandshakePacket.clearRefusal(major: ProtocolVersion.major, .unknownKey).bytes]
        case .unknownHello(_, let noise):
            guard handshake?.read(noise) != nil, let reply = handshake?.write(payload: []) else { return [] }
            return [HandshakePacket.unknownReply(noise: reply[...]).bytes]
        default: return []
        }
    }
}
