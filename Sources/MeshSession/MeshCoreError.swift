// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// An error of a session, an endpoint or a guest.
public enum MeshCoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The channel opened, but the peer sent no hello in time.
    case timeout
    /// No host was found or reached within the guest's patience.
    case unreachable
    /// The host has refused this node.
    case refused(RefusalReason)
    /// The other side has violated the protocol, or is not the expected peer.
    case misbehaved(Misbehaviour)
    /// The session or guest was started before. It can be started only once.
    case alreadyStarted
    /// The session has ended: create a new one.
    case sessionOver
    /// The stream has a listener, and it can have only one.
    case alreadyListening
    /// The transport is not connected. Call its `connect` first.
    case transportNotConnected
    /// There is no peer to send to.
    case notConnected
    /// The other side does not read, and too many messages wait for it. `send` waits for room instead.
    case outboxFull
    /// The message exceeds the size limit, so it can never be sent.
    case tooLong(bytes: Int, limit: Int)

    /// The meaning of the error, and what to do.
    public var description: String {
        switch self {
        case .timeout: "No node answers on this link; make a new session to try again."
        case .unreachable: "No host is in range; try again later."
        case .refused(let reason): "The host rejects this node (\(reason))."
        case .misbehaved(let how): "The other side broke the protocol (\(how)), so the link was closed."
        case .alreadyStarted: "It was started before; start it once."
        case .sessionOver: "This session is over and cannot be used again; make a new one over a new transport."
        case .alreadyListening: "This stream has a listener already; share what that one reads."
        case .transportNotConnected: "The transport is not connected; call connect first."
        case .notConnected: "There is no peer to send to; start the session first."
        case .outboxFull: "Too much waits for the other side already; wait for acknowledgements."
        case .tooLong(let bytes, let limit):
            "The message has \(bytes) bytes, and at most \(limit) are possible; send it in parts."
        }
    }

    /// The error for a message that was not accepted. Nil for an accepted one.
    init?(_ sending: Conversation.Sending, bytes: Int) {
        switch sending {
        case .queued: return nil
        case .noLink: self = .notConnected
        case .full: self = .outboxFull
        case .tooLong: self = .tooLong(bytes: bytes, limit: Limits.messageBytes)
        }
    }

    /// The error of a failed start, from the end of its link.
    static func ofStart(_ end: LinkEnd) -> any Error {
        switch end {
        case .handshakeTimeout, .silent: MeshCoreError.timeout
        case .refused(let reason): MeshCoreError.refused(reason)
        case .misbehaved(let how): MeshCoreError.misbehaved(how)
        case .left: MeshCoreError.sessionOver
        case .busy: MeshTransportError.failed(.busy, "the host is busy with others")
        case .goodbye: MeshTransportError.failed(.left, "the other side left")
        case .replaced: MeshTransportError.failed(.replaced, "a newer link took the place of this one")
        case .circuit(let end): MeshTransportError.failed(.unreachable, "the relay has no way to the host: \(end)")
        case .linkLost: MeshTransportError.failed(.unreachable, "the link broke during the handshake")
        }
    }
}
