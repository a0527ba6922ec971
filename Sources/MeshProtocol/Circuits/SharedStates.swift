// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The host's state for all guests: the signed updates that a relay stores, and the keys of the signatures.
struct SharedStates: Sendable {
    /// The updates that this node has stored for others.
    var log = SharedLog()
    private let key: Curve25519.Signing.PrivateKey?
    private var signature: StateSignature
    /// The last signed update. Most relays get the same update.
    private var last: (entry: SharedLog.Entry, body: [UInt8])?

    /// `key` signs the updates of a host. A node without a key signs nothing.
    init(_ service: ServiceType, key: Curve25519.Signing.PrivateKey?) {
        self.key = key
        signature = StateSignature(service)
    }

    /// The public key of this node's signatures.
    var publicKey: [UInt8]? { key.map { Array($0.publicKey.rawRepresentation) } }

    /// Shares the results of checks with other nodes of a simulation.
    mutating func share(_ checked: CheckedSignatures) { signature.checked = checked }

    /// A signed state update for all guests.
    mutating func signed(_ body: [UInt8], as state: SharedState) -> SharedLog.Entry? {
        if let last, last.body == body, last.entry.name == state.name, last.entry.sharing == state.sharing {
            return last.entry
        }
        guard let key, let signed = signature.signed(body, as: state, by: key) else { return nil }
        let entry = SharedLog.Entry(sharing: state.sharing, name: state.name, signed: signed)
        last = (entry, body)
        return entry
    }

    /// The content of a shared unit's body. Nil if this key has not signed it.
    func opened(
        _ signed: ArraySlice<UInt8>, as sharing: MessageUnit.Sharing, by key: [UInt8]
    ) -> (name: StateName, body: ArraySlice<UInt8>)? {
        signature.opened(signed, as: sharing, by: key)
    }
}
