// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Where a connection stands.
public enum ConnectionState: Hashable, Sendable {
    /// There is none.
    case disconnected
    /// A host is looked for or dialled.
    case connecting
    /// The other side is there.
    case connected
    /// The host was lost and is dialled again, for the nth time since. A session never says so of itself: it is what a
    /// `ReconnectPolicy` makes of several.
    case reconnecting(attempt: Int)
    /// It did not work out.
    case failed(MeshTransportError)
}
