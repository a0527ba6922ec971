// SPDX-License-Identifier: Apache-2.0

import Crypto

/// Number of runs with one secret in which this node has sent its tag and got no valid tag back. In each of them the
/// other side could check one guess.
public struct UnansweredProof: Hashable, Sendable {
    /// A hash of the secret with this node's key, so that the stored value does not reveal the PIN.
    public var secret: [UInt8]
    /// Number of these runs.
    public var count: Int

    /// Creates a row from stored values.
    public init(secret: [UInt8], count: Int) { (self.secret, self.count) = (secret, count) }
}

/// Counts how often hosts could check a guess of this node's PIN, over all hosts and restarts.
///
/// An initiator sends its tag first, so the receiver can compare it with one guess and close the link. A host with the
/// right PIN answers with its own tag, which resets the count.
public struct UnansweredProofs: Hashable, Sendable {
    /// The secret that was used last is the last element.
    public private(set) var rows: [UnansweredProof]

    /// The stored counts.
    public init(_ rows: [UnansweredProof] = []) { self.rows = Array(rows.suffix(Limits.countedSecrets)) }

    /// Whether this node may send another tag without a person's permission.
    func hasRoom(for secret: [UInt8]) -> Bool { count(of: secret) < Limits.unansweredProofs }

    /// A tag is sent.
    mutating func left(_ secret: [UInt8]) { set(secret, min(count(of: secret) + 1, Limits.unansweredProofs)) }

    /// The host has proved that it knows the secret. Returns whether there was a count.
    mutating func answered(_ secret: [UInt8]) -> Bool {
        defer { rows.removeAll { $0.secret == secret } }
        return count(of: secret) > 0
    }

    /// A person allows another attempt. Returns whether this changes anything.
    mutating func allowOne(_ secret: [UInt8]) -> Bool {
        guard !hasRoom(for: secret) else { return false }
        set(secret, Limits.unansweredProofs - 1)
        return true
    }

    private func count(of secret: [UInt8]) -> Int { rows.first { $0.secret == secret }?.count ?? 0 }

    private mutating func set(_ secret: [UInt8], _ count: Int) {
        rows.removeAll { $0.secret == secret }
        if rows.count >= Limits.countedSecrets { rows.removeFirst() }
        rows.append(UnansweredProof(secret: secret, count: count))
    }
}

extension JoiningSecret {
    /// Identifies this secret in stored data.
    func hash(keyed identity: Identity) -> [UInt8] {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("RoadMesh unanswered".utf8) + bytes, using: SymmetricKey(data: identity.stored))
        return Array(code.prefix(Limits.countedSecretBytes))
    }
}
