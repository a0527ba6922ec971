// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Signs what a host tells everybody, so that relays can pass it on and not change it (`docs/protocol.md`, "The state, once
/// for each link"; Ed25519, RFC 8032).
struct StateSignature: Sendable {
    /// Bytes of a key, private or public.
    static let keyBytes = 32
    /// Bytes of a signature, which is in front of what it signs.
    static let byteCount = 64

    /// What is signed in front of everything else: nothing else that this key may sign one day is taken for a state.
    private let context: [UInt8]

    init(_ service: ServiceType) {
        context = Array("RoadMesh state".utf8) + [ProtocolVersion.major] + service.uuid.bytes
    }

    private func message(_ sharing: MessageUnit.Sharing, _ body: some Collection<UInt8>) -> [UInt8] {
        context + [MessageUnit.flags(.latest, sharing)] + body
    }

    /// A shared unit's body: the signature, and what it signs.
    func signed(_ body: [UInt8], as sharing: MessageUnit.Sharing, by key: Curve25519.Signing.PrivateKey) -> [UInt8]? {
        (try? key.signature(for: message(sharing, body))).map { Array($0) + body }
    }

    /// What a shared unit's body says, or nil where this key has not signed it.
    func opened(_ signed: ArraySlice<UInt8>, as sharing: MessageUnit.Sharing, by key: [UInt8]) -> ArraySlice<UInt8>? {
        guard signed.count >= Self.byteCount,
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key)
        else { return nil }
        let body = signed.dropFirst(Self.byteCount)
        return key.isValidSignature(signed.prefix(Self.byteCount), for: message(sharing, body)) ? body : nil
    }
}
