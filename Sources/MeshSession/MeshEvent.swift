// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// An event of a session.
public enum MeshEvent: Hashable, Sendable {
    /// The connection state has changed. `.disconnected` is the last event of a lost session.
    case connectionStateChanged(ConnectionState)
    /// A message has arrived.
    case messageReceived(ReceivedMessage)
    /// The other side has stored every reliable message up to this number.
    case acknowledged(upTo: UInt64)
    /// The condition of the link, about once a second.
    case linkReport(LinkReport)
}

/// An error of a session.
public enum MeshCoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The channel opened, but the peer sent no hello in time.
    case timeout
    /// The host has refused this node.
    case refused(RefusalReason)
    /// The other side has violated the protocol, or is not the expected peer.
    case misbehaved(Misbehaviour)
    /// The session was started or stopped before: create a new one.
    case sessionOver
    /// There is no peer to send to.
    case notConnected
    /// The other side does not read, and too many messages wait for it.
    case outboxFull

    /// The meaning of the error, and what to do.
    public var description: String {
        switch self {
        case .timeout: "Nobody answers on this link; make a new session to try again."
        case .refused(let reason): "The host rejects this node (\(reason))."
        case .misbehaved(let how): "The other side broke the protocol (\(how)), so the link was closed."
        case .sessionOver: "This session is over and cannot be used again; make a new one over a new transport."
        case .notConnected: "There is nobody to send to; start the session first."
        case .outboxFull: "Too much waits for the other side already; wait for acknowledgements."
        }
    }

    /// The error of a failed start, from the end of its link.
    static func ofStart(_ end: LinkEnd) -> any Error {
        switch end {
        case .handshakeTimeout, .silent: MeshCoreError.timeout
        case .refused(let reason): MeshCoreError.refused(reason)
        case .misbehaved(let how): MeshCoreError.misbehaved(how)
        case .left: MeshCoreError.sessionOver
        case .busy: MeshTransportError.connectionFailed(reason: "the host is busy with others")
        case .goodbye: MeshTransportError.connectionFailed(reason: "the other side left")
        case .replaced: MeshTransportError.connectionFailed(reason: "a newer link took the place of this one")
        case .circuit(let end): MeshTransportError.connectionFailed(reason: "the relay has no way to the host: \(end)")
        case .linkLost: MeshTransportError.connectionFailed(reason: "the link broke during the handshake")
        }
    }
}
