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
    /// This listener fell `SessionLimits.sessionEvents` behind the fastest listener. It gets no further events.
    case listenerTooSlow
}
