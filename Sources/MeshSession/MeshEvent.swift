// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What happens in a session.
public enum MeshEvent: Hashable, Sendable {
    /// The connection has become another: `.disconnected` is the last event of a session that is lost.
    case connectionStateChanged(ConnectionState)
    /// A message has arrived.
    case messageReceived(ReceivedMessage)
    /// The other side has made every reliable message up to this number safe.
    case acknowledged(upTo: UInt64)
    /// What the link is like, about once a second.
    case linkReport(LinkReport)
}

/// What a session cannot do.
public enum MeshCoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The channel opened, but nobody introduced itself on it in time.
    case timeout
    /// The host said no.
    case refused(RefusalReason)
    /// The other side broke the protocol, or is not who it should be.
    case misbehaved(Misbehaviour)
    /// The session was started or stopped before: make a new one.
    case sessionOver
    /// There is no peer to send to.
    case notConnected
    /// The other side takes nothing, and too much waits for it already.
    case outboxFull

    /// What it means, and what to do.
    public var description: String {
        switch self {
        case .timeout: "Nobody answers on this link; make a new session to try again."
        case .refused(let reason): "The host does not take this node in (\(reason))."
        case .misbehaved(let how): "The other side broke the protocol (\(how)), so the link was closed."
        case .sessionOver: "This session is over and cannot be used again; make a new one over a new transport."
        case .notConnected: "There is nobody to send to; start the session first."
        case .outboxFull: "Too much waits for the other side already; wait for acknowledgements."
        }
    }

    /// Why a session could not be started, from the end of its link.
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
