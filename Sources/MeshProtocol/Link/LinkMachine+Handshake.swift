// SPDX-License-Identifier: Apache-2.0

/// The handshake (`docs/protocol.md`, "Handshake"). It has three packets with an unknown responder, and two with a
/// known one. A peer that was linked just before resumes without a key agreement.
extension LinkMachine {
    /// The channel has opened. An initiator that knows the responder's key sends its hello at once.
    mutating func opened(as hello: Hello?) -> [Action] {
        guard role == .initiator else { return [] }
        if let rejoin = keys.rejoin, let hello { return comeBack(with: rejoin, as: hello) }
        return introduce(as: hello)
    }

    private mutating func introduce(as hello: Hello?) -> [Action] {
        guard let key = keys.expectedKey, let hello else { return greet() }
        guard var handshake = handshake(.ik, as: .initiator, remote: key),
            let noise = handshake.write(payload: Self.payload(.appStart(hello)))
        else { return end(.misbehaved(.badHandshake)) }
        phase = .recognising(handshake)
        return send(.knownHello(major: ProtocolVersion.major, noise: noise[...]))
    }

    /// The initiator sends its hello to the responder that it has identified.
    mutating func present(as hello: Hello) -> [Action] {
        guard case .presenting(var handshake) = phase,
            let noise = handshake.write(payload: Self.payload(.appStart(hello))),
            let key = handshake.remoteStatic
        else { return end(.misbehaved(.badHandshake)) }
        seal(handshake)
        remoteKey = key
        phase = .answering(Identity.peerID(publicKey: key))
        return send(.unknownFinish(noise: noise[...]))
    }

    /// The responder has no room for another handshake.
    mutating func turnAway() -> [Action] {
        _ = send(.clearRefusal(major: ProtocolVersion.major, .busy))
        return end(.busy, afterFinalFrame: true)
    }

    /// A packet has arrived.
    mutating func receivedPacket(_ sdu: ArraySlice<UInt8>, now: MeshInstant) -> [Action] {
        guard let packet = HandshakePacket(sdu) else { return end(.misbehaved(.badHandshake)) }
        switch (phase, packet) {
        case (.listening, .unknownHello(let major, _)) where takesKnownOnly: return hello(major: major) ?? turnAway()
        case (.listening, .unknownHello(let major, let noise)): return hello(major: major) ?? identify(with: noise)
        case (.listening, .knownHello(let major, let noise)):
            if takesKnownOnly { handshakeDeadline = now + Limits.handshakeTimeout }
            return hello(major: major) ?? recognise(noise)
        case (.listening(again: false), .rejoinHello(let major, let id, let attempt, let record)):
            return hello(major: major) ?? [.returning(id, attempt: attempt, record: Array(record))]
        case (.rejoining(let hello), .clearRefusal(_, .unknownKey)):
            (sealed, keys.rejoin) = (nil, nil)
            return introduce(as: hello)
        case (.identifying(let handshake), .unknownFinish(let noise)): return finish(handshake, noise)
        case (.greeting(let handshake), .unknownReply(let noise)): return identified(handshake, noise)
        case (.recognising(let handshake), .knownReply(let noise)): return recognised(handshake, noise, now: now)
        // A responder with the head of a known one but another key is a different responder or an attacker.
        case (.recognising, .clearRefusal(_, .unknownKey)): return end(.misbehaved(.changedIdentity))
        case (.greeting, .clearRefusal(_, .version)), (.recognising, .clearRefusal(_, .version)),
            (.rejoining, .clearRefusal(_, .version)):
            return end(.refused(.version))
        case (.greeting, .clearRefusal(_, .busy)), (.recognising, .clearRefusal(_, .busy)),
            (.rejoining, .clearRefusal(_, .busy)):
            return end(.busy)
        default: return end(.misbehaved(.badHandshake))
        }
    }

    // MARK: The initiator's side

    /// This side has a secret of its last handshake with the responder, and resumes with it.
    private mutating func comeBack(with rejoin: Rejoin, as hello: Hello) -> [Action] {
        var (channel, hash) = rejoin.secret.keys(ofAttempt: rejoin.attempt, as: .initiator)
        let record = channel.seal(Self.payload(.appStart(hello.brief)))
        (sealed, handshakeHash, remoteKey) = (channel, hash, rejoin.publicKey)
        phase = .rejoining(hello)
        return send(
            .rejoinHello(
                major: ProtocolVersion.major, rejoin.secret.id, attempt: rejoin.attempt, record: record[...]))
    }

    /// Whether the responder may still answer that it has no stored secret.
    var isRejoining: Bool { if case .rejoining = phase { true } else { false } }

    private mutating func greet() -> [Action] {
        guard var handshake = handshake(.xx, as: .initiator),
            let noise = handshake.write(payload: [])
        else { return end(.misbehaved(.badHandshake)) }
        phase = .greeting(handshake)
        return send(.unknownHello(major: ProtocolVersion.major, noise: noise[...]))
    }

    private mutating func identified(_ handshake: NoiseHandshake, _ noise: ArraySlice<UInt8>) -> [Action] {
        var handshake = handshake
        guard handshake.read(noise) != nil, let key = handshake.remoteStatic else {
            return end(.misbehaved(.badHandshake))
        }
        let id = Identity.peerID(publicKey: key)
        guard keys.expected.map({ id.hasPrefix($0) }) != false, keys.joined.isEmpty || keys.joined.contains(id) else {
            return end(.misbehaved(.changedIdentity))
        }
        phase = .presenting(handshake)
        return [.identified(id)]
    }

    private mutating func recognised(
        _ handshake: NoiseHandshake, _ noise: ArraySlice<UInt8>, now: MeshInstant
    ) -> [Action] {
        var handshake = handshake
        guard let payload = handshake.read(noise), let key = handshake.remoteStatic else {
            return end(.misbehaved(.badHandshake))
        }
        seal(handshake)
        remoteKey = key
        phase = .answering(Identity.peerID(publicKey: key))
        return receivedFrames(payload[...], now: now)
    }

    // MARK: The responder's side

    private mutating func hello(major: UInt8) -> [Action]? {
        guard major != ProtocolVersion.major else { return nil }
        _ = send(.clearRefusal(major: ProtocolVersion.major, .version))
        return end(.refused(.version), afterFinalFrame: true)
    }

    /// An initiator resumes. Nil if no secret of the initiator is stored, so that it must start with a normal
    /// handshake.
    mutating func rejoin(_ rejoined: Rejoined?) -> [Action] {
        guard case .listening(again: false) = phase else { return [] }
        guard let rejoined else {
            phase = .listening(again: true)
            return send(.clearRefusal(major: ProtocolVersion.major, .unknownKey))
        }
        (sealed, handshakeHash) = (rejoined.channel, rejoined.hash)
        var frames = FrameReader(rejoined.plaintext[...])
        guard case .frame(.appStart(let hello)) = frames.next() else { return end(.misbehaved(.badHandshake)) }
        return introduce(
            Initiator(id: rejoined.peer, hello: hello.completed(with: rejoined.kept), mayBeLate: true),
            key: rejoined.kept.publicKey)
    }

    private mutating func identify(with noise: ArraySlice<UInt8>) -> [Action] {
        if isBusy { return turnAway() }
        guard var handshake = handshake(.xx, as: .responder),
            handshake.read(noise) != nil, let reply = handshake.write(payload: [])
        else { return end(.misbehaved(.badHandshake)) }
        phase = .identifying(handshake)
        return send(.unknownReply(noise: reply[...]))
    }

    private mutating func recognise(_ noise: ArraySlice<UInt8>) -> [Action] {
        if isBusy { return turnAway() }
        guard var handshake = handshake(.ik, as: .responder) else { return end(.misbehaved(.badHandshake)) }
        guard let payload = handshake.read(noise) else {
            _ = send(.clearRefusal(major: ProtocolVersion.major, .unknownKey))
            return end(.misbehaved(.badHandshake), afterFinalFrame: true)
        }
        return introduce(handshake, payload, isFinished: false)
    }

    private mutating func finish(_ handshake: NoiseHandshake, _ noise: ArraySlice<UInt8>) -> [Action] {
        var handshake = handshake
        guard let payload = handshake.read(noise) else { return end(.misbehaved(.badHandshake)) }
        seal(handshake)
        return introduce(handshake, payload, isFinished: true)
    }

    private mutating func introduce(_ handshake: NoiseHandshake, _ payload: [UInt8], isFinished: Bool) -> [Action] {
        var frames = FrameReader(payload[...])
        guard let key = handshake.remoteStatic, case .frame(.appStart(let hello)) = frames.next() else {
            return end(.misbehaved(.badHandshake))
        }
        let id = Identity.peerID(publicKey: key)
        return introduce(Initiator(id: id, hello: hello, handshake: isFinished ? nil : handshake), key: key)
    }

    private mutating func introduce(_ initiator: Initiator, key: [UInt8]) -> [Action] {
        remoteKey = key
        phase = .admitting(initiator)
        // An initiator that requires an unknown feature gets this answer.
        if initiator.hello.unknownPart != nil { return refuse(.version) }
        return [.introduced(initiator.id, initiator.hello)]
    }

    mutating func reply(to initiator: Initiator, with answer: Frame) -> [Action] {
        guard var handshake = initiator.handshake, let noise = handshake.write(payload: Self.payload(answer)) else {
            return end(.misbehaved(.badHandshake))
        }
        seal(handshake)
        return send(.knownReply(noise: noise[...]))
    }

    /// The initiator is proved, and messages flow.
    mutating func connect(_ initiator: Initiator) -> [Action] {
        connect(to: initiator.id, initiator.hello)
    }

    mutating func connect(to id: Peer.ID, _ hello: Hello) -> [Action] {
        let peer = Peer(id: id, name: hello.name)
        self.peer = peer
        phase = .connected(peer)
        liveness.bear(silence: hello.silence)
        return [.connected(peer, hello)]
    }

    // MARK: Parts

    private func handshake(
        _ pattern: NoiseHandshake.Pattern, as role: NoiseHandshake.Role, remote: [UInt8]? = nil
    ) -> NoiseHandshake? {
        NoiseHandshake(
            pattern, as: role, prologue: keys.prologue, staticKey: keys.local.stored, ephemeralKey: keys.ephemeral,
            remoteStatic: remote)
    }

    private mutating func seal(_ handshake: NoiseHandshake) {
        sealed = SealedChannel(handshake, role: role)
        handshakeHash = handshake.handshakeHash
        if keys.mayRejoin { rejoinSecret = RejoinSecret(handshake) }
    }

    private mutating func send(_ packet: HandshakePacket) -> [Action] {
        packets.append(packet.bytes)
        return [.wake]
    }

    private static func payload(_ frame: Frame) -> [UInt8] {
        var writer = WireWriter()
        frame.write(into: &writer)
        return writer.bytes
    }
}
