// SPDX-License-Identifier: Apache-2.0

extension NodeEvent {
    /// The event as a log may contain it: without the PIN and without the tokens in links. Nil for invitations, which
    /// are entirely secret.
    package var withoutSecrets: NodeEvent? {
        switch self {
        case .ready(var node):
            node.http = node.http.map(Self.withoutToken)
            (node.passengers, node.pin) = (nil, nil)
            return .ready(node)
        case .page(let url, _): return .page(Self.withoutToken(url), passengers: nil)
        case .invitation, .invitations: return nil
        default: return self
        }
    }

    /// Returns a link without its query.
    private static func withoutToken(_ url: String) -> String { String(url.prefix { $0 != "?" }) }
}
