// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import MeshProtocol

@Suite("Noise")
struct NoiseTests {
    // MARK: Published vectors

    @Test("a handshake and its link are the published ones, byte for byte", arguments: NoiseVector.all)
    func published(vector: NoiseVector) throws {
        var pair = try Pair(vector.pattern)
        #expect(pair.writer.remoteStatic == (vector.pattern == .ik ? NoiseVector.responderPublic : nil))
        for message in vector.handshakeMessages {
            #expect(!pair.writer.isComplete && !pair.reader.isComplete)
            #expect(pair.writer.write(payload: message.payload) == message.ciphertext)
            #expect(pair.reader.read(message.ciphertext[...]) == message.payload)
            pair.turn()
        }
        for side in [pair.writer, pair.reader] {
            #expect(side.isComplete)
            #expect(side.handshakeHash == vector.handshakeHash)
        }
        #expect(
            Set([pair.writer.remoteStatic, pair.reader.remoteStatic])
                == [NoiseVector.initiatorPublic, NoiseVector.responderPublic])

        var (sealing, opening) = (pair.writer.split(), pair.reader.split())
        for (index, message) in zip(vector.linkMessages.indices, vector.linkMessages) {
            if index.isMultiple(of: 2) {
                #expect(sealing.initiatorToResponder.seal(message.payload) == message.ciphertext)
                #expect(opening.initiatorToResponder.open(message.ciphertext[...]) == message.payload)
            } else {
                #expect(sealing.responderToInitiator.seal(message.payload) == message.ciphertext)
                #expect(opening.responderToInitiator.open(message.ciphertext[...]) == message.payload)
            }
        }
    }

    // MARK: Refused handshakes

    @Test("a change of any bit of a handshake is detected", arguments: NoiseVector.all)
    func changedBits(vector: NoiseVector) throws {
        for (index, message) in zip(vector.handshakeMessages.indices, vector.handshakeMessages) {
            let sent = try Pair(vector, onItsWay: index)
            for bit in 0..<message.ciphertext.count * 8 {
                var changed = message.ciphertext
                changed[bit / 8] ^= 1 << (bit % 8)
                #expect(sent.refuses(changed), "bit \(bit) of message \(index)")
            }
        }
    }

    @Test("a handshake message that is cut or extended is refused", arguments: NoiseVector.all)
    func changedLengths(vector: NoiseVector) throws {
        for (index, message) in zip(vector.handshakeMessages.indices, vector.handshakeMessages) {
            let sent = try Pair(vector, onItsWay: index)
            for count in message.ciphertext.indices {
                #expect(sent.refuses(Array(message.ciphertext.prefix(count))), "\(count) bytes of message \(index)")
            }
            #expect(sent.refuses(message.ciphertext + [0]), "message \(index)")
        }
    }

    @Test("a handshake that has refused a message refuses the correct one too", arguments: NoiseVector.all)
    func overIsOver(vector: NoiseVector) throws {
        for (index, message) in zip(vector.handshakeMessages.indices, vector.handshakeMessages) {
            var reader = try Pair(vector, onItsWay: index).reader
            let known = reader.remoteStatic
            #expect(reader.read([]) == nil)
            #expect(reader.read(message.ciphertext[...]) == nil)
            #expect(reader.write(payload: []) == nil)
            #expect(!reader.isComplete)
            #expect(reader.remoteStatic == known)
        }
    }

    @Test("a key from a refused message is not kept", arguments: [(NoiseVector.xx, 1), (.xx, 2), (.ik, 0)])
    func refusedKey(vector: NoiseVector, index: Int) throws {
        var reader = try Pair(vector, onItsWay: index).reader
        var message = vector.messages[index].ciphertext
        message[message.count - 1] ^= 1
        #expect(reader.read(message[...]) == nil)
        #expect(reader.remoteStatic == nil)
    }

    @Test("a message out of order returns nothing and changes nothing", arguments: NoiseVector.all)
    func outOfTurn(vector: NoiseVector) throws {
        var pair = try Pair(vector.pattern)
        for message in vector.handshakeMessages {
            #expect(pair.writer.read(message.ciphertext[...]) == nil)
            #expect(pair.writer.write(payload: message.payload) == message.ciphertext)
            #expect(pair.reader.read(message.ciphertext[...]) == message.payload)
            pair.turn()
        }
        let last = try #require(vector.handshakeMessages.last)
        #expect(pair.reader.read(last.ciphertext[...]) == nil && pair.reader.isComplete)
        #expect(pair.writer.read(last.ciphertext[...]) == nil && pair.writer.isComplete)
    }

    @Test("a handshake between different prologues fails", arguments: NoiseVector.all)
    func prologues(vector: NoiseVector) throws {
        for prologue in [[], NoiseVector.prologue + [0], NoiseVector.prologue.dropLast()] {
            var pair = try Pair(vector.pattern, initiatorPrologue: prologue)
            let first = pair.writer.write(payload: []) ?? []
            #expect(!first.isEmpty && pair.refuses(first))
        }
    }

    @Test("a responder other than the intended one cannot read the message")
    func anotherResponder() throws {
        var pair = try Pair(.ik, responderPublic: NoiseVector.initiatorPublic)
        let first = pair.writer.write(payload: []) ?? []
        #expect(!first.isEmpty && pair.refuses(first))
    }

    @Test("a handshake needs valid keys")
    func badKeys() {
        let key = NoiseVector.initiatorStatic
        for bad in [[], key.dropLast(), key + [0]] {
            #expect(NoiseHandshake(.xx, as: .initiator, prologue: [], staticKey: bad, ephemeralKey: key) == nil)
            #expect(NoiseHandshake(.xx, as: .responder, prologue: [], staticKey: key, ephemeralKey: bad) == nil)
            let handshake = NoiseHandshake(
                .ik, as: .initiator, prologue: [], staticKey: key, ephemeralKey: key, remoteStatic: bad)
            #expect(handshake == nil)
        }
    }

    @Test("only the initiator of IK knows the other side's key before the handshake")
    func knownKeys() {
        let key = NoiseVector.initiatorStatic
        for (pattern, role) in [(.xx, .initiator), (.xx, .responder), (.ik, .initiator), (.ik, .responder)]
            as [(NoiseHandshake.Pattern, NoiseHandshake.Role)]
        {
            let knowing = NoiseHandshake(
                pattern, as: role, prologue: [], staticKey: key, ephemeralKey: key,
                remoteStatic: NoiseVector.responderPublic)
            let unknowing = NoiseHandshake(pattern, as: role, prologue: [], staticKey: key, ephemeralKey: key)
            #expect((knowing != nil) == (pattern == .ik && role == .initiator))
            #expect((unknowing == nil) == (pattern == .ik && role == .initiator))
        }
    }

    // MARK: Points of low order

    /// Every key agreement with these results in zero: 0, 1, the two points of order 8, and p - 1, p and p + 1.
    static let lowOrderPoints: [[UInt8]] =
        [
            [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
            Hex.bytes("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800") ?? [],
            Hex.bytes("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157") ?? [],
        ] + [0xEC, 0xED, 0xEE].map { [$0] + [UInt8](repeating: 0xFF, count: 30) + [0x7F] }

    @Test("an ephemeral key of low order is refused", arguments: lowOrderPoints)
    func lowOrderEphemeral(point: [UInt8]) throws {
        // The first message of XX contains no key agreement yet; its answer does.
        var responder = try Pair(.xx).reader
        #expect(responder.read(point[...]) == [])
        #expect(responder.write(payload: []) == nil)
        #expect(responder.write(payload: []) == nil && responder.read(point[...]) == nil && !responder.isComplete)

        for (vector, index) in [(NoiseVector.xx, 1), (.ik, 0), (.ik, 1)] {
            let sent = try Pair(vector, onItsWay: index)
            #expect(sent.refuses(point + vector.messages[index].ciphertext.dropFirst(32)))
        }
    }

    @Test("a responder with a static key of low order is not called", arguments: lowOrderPoints)
    func lowOrderResponder(point: [UInt8]) throws {
        var initiator = try Pair(.ik, responderPublic: point).writer
        #expect(initiator.write(payload: []) == nil)
        #expect(initiator.write(payload: []) == nil && !initiator.isComplete)
    }

    @Test("a static key of low order is refused in an otherwise correct message", arguments: lowOrderPoints)
    func lowOrderStatic(point: [UInt8]) throws {
        let sent = try Pair(.xx, onItsWay: 1)
        let ephemeral = try Curve25519.KeyAgreement.PublicKey(
            rawRepresentation: NoiseVector.xx.messages[0].ciphertext.prefix(32))
        let agreed = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: NoiseVector.responderStatic)
            .sharedSecretFromKeyAgreement(with: ephemeral).withUnsafeBytes { Array($0) }
        let genuine = try secondMessage(staticKey: NoiseVector.responderPublic, agreed: agreed)
        #expect(genuine == NoiseVector.xx.messages[1].ciphertext)
        #expect(!sent.refuses(genuine))
        // The result of an agreement with such a key is known, so any attacker could write this message.
        #expect(sent.refuses(try secondMessage(staticKey: point, agreed: [UInt8](repeating: 0, count: 32))))
    }

    /// The second message of XX, built step by step.
    private func secondMessage(staticKey: [UInt8], agreed: [UInt8]) throws -> [UInt8] {
        let first = NoiseVector.xx.messages[0].ciphertext
        let ephemeral = try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: NoiseVector.responderEphemeral)
        var symmetric = NoiseSymmetricState(protocolName: "Noise_XX_25519_ChaChaPoly_SHA256")
        symmetric.mixHash(NoiseVector.prologue[...])
        symmetric.mixHash(first.prefix(32))
        symmetric.mixHash(first.dropFirst(32))
        var message = Array(ephemeral.publicKey.rawRepresentation)
        symmetric.mixHash(message[...])
        try ephemeral.sharedSecretFromKeyAgreement(
            with: Curve25519.KeyAgreement.PublicKey(rawRepresentation: first.prefix(32))
        ).withUnsafeBytes { symmetric.mixKey($0) }
        message += symmetric.encryptAndHash(staticKey)
        agreed.withUnsafeBytes { symmetric.mixKey($0) }
        return message + symmetric.encryptAndHash(NoiseVector.xx.messages[1].payload)
    }

    // MARK: The link's ciphers

    private func cipher() -> NoiseCipher { NoiseCipher(key: SymmetricKey(data: NoiseVector.initiatorStatic)) }

    @Test("a sealed message opens once, in order")
    func replay() {
        var (sealing, opening) = (cipher(), cipher())
        let sealed = (0..<3).map { sealing.seal([$0]) }
        #expect(opening.open(sealed[1][...]) == nil)
        #expect(opening.open(sealed[0][...]) == [0])
        #expect(opening.open(sealed[0][...]) == nil)
        #expect(opening.open(sealed[2][...]) == nil)
        #expect(opening.open(sealed[1][...]) == [1])
        #expect(opening.open(sealed[2][...]) == [2])
    }

    @Test("a change of any bit of sealed or authenticated data is detected")
    func changedSealed() {
        var sealing = cipher()
        let opening = cipher()
        let sealed = sealing.seal(Array("A vote".utf8), authenticating: [7])
        for bit in 0..<sealed.count * 8 {
            var (changed, opening) = (sealed, opening)
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(opening.open(changed[...], authenticating: [7]) == nil)
            #expect(opening.open(sealed[...], authenticating: []) == nil)
            #expect(opening.open(sealed[...], authenticating: [7]) == Array("A vote".utf8))
        }
        for count in sealed.indices {
            var opening = opening
            #expect(opening.open(sealed.prefix(count), authenticating: [7]) == nil)
        }
    }

    @Test("an empty message can be sealed: it is only a tag")
    func empty() {
        var (sealing, opening) = (cipher(), cipher())
        let sealed = sealing.seal([])
        #expect(sealed.count == NoiseCipher.tagBytes)
        #expect(opening.open(sealed[...]) == [])
    }

    @Test(
        "after 65,536 messages both sides use the key that Noise derives, as in the other implementation"
    )
    func rekey() throws {
        var (sealing, opening) = (cipher(), cipher())
        for number in 0..<NoiseCipher.messagesPerKey {
            let sealed = sealing.seal([])
            #expect(opening.open(sealed[...]) == [], "\(number)")
        }
        let next = sealing.seal(Array("A vote".utf8))
        // Written by Tests/Interop (test_document.py), which has its own implementation.
        #expect(Hex.text(next) == Self.firstAfterRekey)
        var damaged = next
        damaged[0] ^= 1
        #expect(opening.open(damaged[...]) == nil)
        #expect(opening.open(next[...]) == Array("A vote".utf8))
    }

    private static let firstAfterRekey = "b20ef0b54ca71d3a8e9c4d796dfb082b9109205fcf5b"

    @Test("the counter is little-endian")
    func counter() throws {
        var sealing = cipher()
        let key = SymmetricKey(data: NoiseVector.initiatorStatic)
        let sealed = (0..<259).map { _ in sealing.seal([5]) }
        let nonce = try ChaChaPoly.Nonce(data: [0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0])
        let box = try ChaChaPoly.SealedBox(
            nonce: nonce, ciphertext: sealed[258].prefix(1), tag: sealed[258].dropFirst(1))
        #expect(try Array(ChaChaPoly.open(box, using: key)) == [5])
    }
}

extension NoiseTests {
    /// Both sides of a handshake, with the vectors' keys.
    struct Pair {
        /// The side that writes the next message.
        var writer: NoiseHandshake
        var reader: NoiseHandshake

        init(
            _ pattern: NoiseHandshake.Pattern, initiatorPrologue: [UInt8] = NoiseVector.prologue,
            responderPublic: [UInt8] = NoiseVector.responderPublic
        ) throws {
            writer = try #require(
                NoiseHandshake(
                    pattern, as: .initiator, prologue: initiatorPrologue, staticKey: NoiseVector.initiatorStatic,
                    ephemeralKey: NoiseVector.initiatorEphemeral,
                    remoteStatic: pattern == .ik ? responderPublic : nil))
            reader = try #require(
                NoiseHandshake(
                    pattern, as: .responder, prologue: NoiseVector.prologue, staticKey: NoiseVector.responderStatic,
                    ephemeralKey: NoiseVector.responderEphemeral))
        }

        /// A vector's handshake with this message written and not yet read.
        init(_ vector: NoiseVector, onItsWay index: Int) throws {
            try self.init(vector.pattern)
            for message in vector.messages.prefix(index) {
                #expect(writer.write(payload: message.payload) != nil)
                #expect(reader.read(message.ciphertext[...]) != nil)
                turn()
            }
            #expect(writer.write(payload: vector.messages[index].payload) != nil)
        }

        mutating func turn() {
            swap(&writer, &reader)
        }

        /// Whether a message other than the written one ends the handshake: at once, or with the answer if the pattern
        /// cannot detect it earlier (the first message of XX).
        func refuses(_ message: [UInt8]) -> Bool {
            var (writer, reader) = (writer, reader)
            guard reader.read(message[...]) != nil else { return !reader.isComplete }
            guard !reader.isComplete else { return false }
            guard let answer = reader.write(payload: []) else { return true }
            return writer.read(answer[...]) == nil && !writer.isComplete
        }
    }
}
