// SPDX-License-Identifier: Apache-2.0

/// The two ciphers of a link after its handshake. One SDU is one encrypted record (`docs/protocol.md`, "Records").
struct SealedChannel: Sendable {
    private var outgoing: NoiseCipher
    private var incoming: NoiseCipher

    init(_ handshake: NoiseHandshake, role: LinkRole) {
        self.init(handshake.split(), role: role)
    }

    init(_ ciphers: (initiatorToResponder: NoiseCipher, responderToInitiator: NoiseCipher), role: LinkRole) {
        outgoing = role == .initiator ? ciphers.initiatorToResponder : ciphers.responderToInitiator
        incoming = role == .initiator ? ciphers.responderToInitiator : ciphers.initiatorToResponder
    }

    mutating func seal(_ plaintext: [UInt8]) -> [UInt8] {
        outgoing.seal(plaintext)
    }

    /// The plaintext. Nil if the record is not the next one of this link.
    mutating func open(_ record: ArraySlice<UInt8>) -> [UInt8]? {
        incoming.open(record)
    }
}
