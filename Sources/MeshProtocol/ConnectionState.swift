// SPDX-License-Identifier: Apache-2.0

/// The state of a connection.
public enum ConnectionState: Hashable, Sendable {
    /// The node is not connected.
    case disconnected
    /// The node is looking for a host or dialling one.
    case connecting
    /// The other side is connected.
    case connected
    /// The host was lost and is being dialled again; `attempt` counts the dials since. A single session never has this
    /// state. A `ReconnectPolicy` derives it from several.
    case reconnecting(attempt: Int)
    /// The connection could not be made.
    case failed(MeshTransportError)
}
