// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The host that a guest joins.
enum WantedHost: Sendable {
    case any
    /// The host with this full identifier.
    case key(Peer.ID)
    /// The host with an identifier that begins with these digits.
    case digits(Peer.ID)
    /// The host with this name.
    case name(String)

    init(_ text: String?) {
        guard let text else {
            self = .any
            return
        }
        let digits = Identity.digits(in: text)
        switch digits?.utf8.count {
        case 2 * Identity.idBytes: self = .key(digits ?? text)
        case .some: self = .digits(digits ?? text)
        case nil: self = .name(text)
        }
    }

    /// Whether no host was named.
    var isAny: Bool { if case .any = self { true } else { false } }

    /// The full identifier of the wanted host, which the handshake must prove. Nil in other cases.
    var key: Peer.ID? { if case .key(let key) = self { key } else { nil } }

    /// Whether this host was named by its identifier, or its first digits.
    func isKey(of peer: Peer) -> Bool {
        switch self {
        case .any, .name: false
        case .key(let digits), .digits(let digits): Identity.head(of: digits) == Identity.head(of: peer.id)
        }
    }

    /// Whether a heard host may be the wanted one. An advertisement has room for the head of an identifier, a scan
    /// response for the beginning of a name, and neither proves anything.
    func isPerhaps(_ heard: Peer) -> Bool {
        switch self {
        case .any: true
        case .key, .digits: isKey(of: heard)
        case .name(let text): isExactly(heard) || Self.isPerhaps(heard.name, typed: text)
        }
    }

    /// Whether a host is heard under the wanted name as it was typed, or that name cut as an advertisement cuts it.
    func isExactly(_ heard: Peer) -> Bool {
        guard case .name(let text) = self else { return false }
        return heard.name == text || (try? NodeName(text))?.isPerhaps(heard: heard.name) == true
    }

    /// Whether a heard name, which may be cut, matches the typed name except for its spelling. An advertisement cuts
    /// bytes, and a letter with an accent has more of them than the same letter without.
    private static func isPerhaps(_ heard: String, typed: String) -> Bool {
        let (heardName, wanted) = (TypedName.folded(heard), TypedName.folded(typed))
        let differInBytes = [heard, typed].contains { $0.utf8.count != $0.count }
        let mayBeCut = differInBytes && heard.utf8.count > Limits.relayedNameBytes - 5
        return KnownHosts.isName(heard, of: typed) || mayBeCut && wanted.hasPrefix(heardName)
    }

    /// Whether a host has proved its identifier and has sent its full name.
    func isProved(by peer: Peer) -> Bool {
        switch self {
        case .any: true
        case .key(let key): peer.id == key
        case .digits(let digits): peer.id.hasPrefix(digits)
        case .name(let text): TypedName.isMeant(peer.name, by: (try? NodeName(text))?.text ?? text)
        }
    }
}
