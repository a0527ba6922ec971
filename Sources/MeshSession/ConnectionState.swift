// SPDX-License-Identifier: Apache-2.0

/// Where a guest's connection to its host stands.
public enum ConnectionState: Hashable, Sendable {
    /// No host, and none is looked for.
    case disconnected
    /// A host is looked for or dialled.
    case connecting
    /// A host is there.
    case connected
    /// The host was lost and is dialled again, for the nth time since.
    case reconnecting(attempt: Int)
    /// It did not work out.
    case failed(MeshTransportError)
}

/// Why a connection could not be made or kept.
public enum MeshTransportError: Error, Hashable, Sendable {
    /// No connection, for this reason.
    case connectionFailed(reason: String)
}
