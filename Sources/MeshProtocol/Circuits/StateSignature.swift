// SPDX-License-Identifier: Apache-2.0

import Crypto
import Synchronization

/// Signs the host's updates for all guests, so that relays can forward them but not change them (`docs/protocol.md`,
/// "The state, once for each link"; Ed25519, RFC 8032).
struct StateSignature: Sendable {
    /// Bytes of a private or public key.
    static let keyBytes = 32
    /// Bytes of a signature, which precedes the signed bytes.
    static let byteCount = 64

    /// Prefix of all signed bytes. So no other data that this key may sign one day can pass as a state.
    private let context: [UInt8]
    /// A cache of checked signatures, if it is shared.
    var checked: CheckedSignatures?

    init(_ service: ServiceType) {
        context = Array("RoadMesh state".utf8) + [ProtocolVersion.major] + service.uuid.bytes
    }

    private func message(_ sharing: MessageUnit.Sharing, _ body: some Collection<UInt8>) -> [UInt8] {
        context + [MessageUnit.flags(.latest, sharing)] + body
    }

    /// The body of a shared unit: the signature and the signed bytes, which are the name of the state and the
    /// application's bytes.
    func signed(_ body: [UInt8], as state: SharedState, by key: Curve25519.Signing.PrivateKey) -> [UInt8]? {
        var writer = WireWriter(reserving: StateName.byteCount + body.count)
        writer.stateNames([state.name])
        writer.append(body)
        return (try? key.signature(for: message(state.sharing, writer.bytes))).map { Array($0) + writer.bytes }
    }

    /// The content of a shared unit's body. Nil if this key has not signed it.
    func opened(
        _ signed: ArraySlice<UInt8>, as sharing: MessageUnit.Sharing, by key: [UInt8]
    ) -> (name: StateName, body: ArraySlice<UInt8>)? {
        guard signed.count >= Self.byteCount,
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key)
        else { return nil }
        let body = signed.dropFirst(Self.byteCount)
        let message = message(sharing, body)
        func isValid() -> Bool { key.isValidSignature(signed.prefix(Self.byteCount), for: message) }
        let check = Array(key.rawRepresentation) + Array(signed.prefix(Self.byteCount)) + message
        let isRight = checked?.isRight(check, isValid)
        guard isRight ?? isValid() else { return nil }
        var reader = WireReader(body)
        return reader.stateName().map { ($0, reader.rest) }
    }
}

/// A cache of valid signatures for simulations: a state that a thousand nodes get is checked once, not a thousand
/// times. Outside a simulation a node checks each signature itself.
package final class CheckedSignatures: Sendable {
    /// Entries at a time. A state reaches all nodes within some hundred others.
    private static let most = 1_024
    private let right = Mutex<Set<[UInt8]>>([])

    package init() {}

    fileprivate func isRight(_ signed: some Sequence<UInt8>, _ isValid: () -> Bool) -> Bool {
        let signed = Array(signed)
        return right.withLock { right in
            if right.contains(signed) { return true }
            guard isValid() else { return false }
            if right.count >= Self.most { right = [] }
            right.insert(signed)
            return true
        }
    }
}
