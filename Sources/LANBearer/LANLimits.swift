// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// All limits of the LAN, each with its reason. The limits of the wire are in `Limits`. The limits in `BearerLimits`
/// also apply here, unless this file has another value.
public enum LANLimits {
    // MARK: Links

    /// A connection ends if retransmitted data stays unacknowledged for this time (TCP_USER_TIMEOUT, tcp(7)). The
    /// system does not report the loss of a network, and a guest with another bearer must have a link there within a
    /// second. Linux retransmits after 200 ms and again about 400 ms later (later in a slow network), and counts from
    /// the first retransmission. So a connection ends after about 600 ms without data, but not after one or two lost
    /// packets in a row.
    public static let silence: Duration = .milliseconds(200)
    /// Time for a connection to one address to open. The next address is tried in parallel.
    public static let connect: Duration = .seconds(2)
    /// Pause before the next address of a host is tried. The first address uses the kind of network that has worked,
    /// and usually answers within some milliseconds. (RFC 8305 recommends 250 ms, for distant servers.)
    public static let nextAddress: Duration = .milliseconds(100)
    /// Pause before a host's addresses are tried again. Only an answer shows that a host is back, so a guest reconnects
    /// within this time after a gap. Each attempt costs one packet per address.
    public static let dialPause: Duration = .milliseconds(250)
    /// Frames per second that are read from one link, unless the program chooses another number. The largest SDUs need
    /// two frames, so this is 20 MB per second.
    public static let framesPerSecond = 20_000
    /// Bytes that wait in a connection in each direction, as over Bluetooth, so that votes do not wait long behind
    /// them. The kernel doubles the value for its own accounting.
    public static let bufferBytes = BearerLimits.channelBufferBytes
    /// Bytes that are read at once: two SDUs.
    static let readBytes = 4_096
    /// Time for pending data to leave after a channel was closed.
    static let farewell: Duration = .seconds(1)

    // MARK: Callers

    /// Accepted connections in total. Each guest may need two, in case all guests change links at once. The rest is for
    /// the unfinished handshakes that the protocol allows.
    public static let accepted = 2 * Limits.guests + Limits.halfOpenLinks
    /// Accepted connections of one address. A phone that shares its connection has a few devices behind it.
    public static let acceptedOfAddress = 16
    /// Connections accepted per second, as on the virtual radio. Further connections are closed at once.
    static let callersPerSecond = BearerLimits.virtualCallersPerSecond
    /// Connections at once before the rate applies, as on the virtual radio.
    static let callerBurst = BearerLimits.virtualCallerBurst
    /// Connections that the kernel accepts and queues before the node accepts them.
    static let backlog = Limits.halfOpenLinks
    /// Time that the list of this device's networks stays valid.
    static let networksKnown: Duration = .seconds(2)

    // MARK: Services

    /// Services that are remembered: hosts and relays in one network, as many as over Bluetooth.
    public static let services = BearerLimits.scanResults
    /// Addresses of one service: two kinds on each of four interfaces.
    public static let addresses = 8
    /// A service that did not answer is reported again only after this time, because Avahi lists a switched-off host
    /// for up to two minutes.
    static let doubt: Duration = .seconds(10)
    /// Bytes of one string of a service's TXT record: the strings of RoadMesh have at most about 70.
    static let stringBytes = 255
    /// Names that a node tries if its own is taken. At most one other node has the same identifier.
    static let names = 4
    /// Services that wait for Avahi to find their addresses. Each is an object in the daemon, which allows 1,024 per
    /// client.
    static let resolvers = services * 2
    /// Events of the directory that wait for the radio, which reads them at once.
    static let directoryEvents = 1_024
    /// Time between two attempts to reach the message bus.
    static let busPause: Duration = .seconds(5)
}
