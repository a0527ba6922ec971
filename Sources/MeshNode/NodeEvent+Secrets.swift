// SPDX-License-Identifier: Apache-2.0

extension NodeEvent {
    /// The event as a log may have it: without the tokens in links and without the PIN. Nil for invitations, which are
    /// secrets as a whole.
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

    /// A link without its query.
    private static func withoutToken(_ url: String) -> String { String(url.prefix { $0 != "?" }) }
}
