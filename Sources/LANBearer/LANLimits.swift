// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// All limits of the LAN, each with its reason. The limits of the wire are in `Limits`. The limits in `BearerLimits`
/// also apply here, unless this file has another value.
public enum LANLimits {
    // MARK: Links

    /// A connection ends when repeated data stay unacknowledged for this time (TCP_USER_TIMEOUT, tcp(7)). A lost
    /// network reports nothing, and a guest with another bearer must be linked there within a second. Linux repeats
    /// after 200 ms and after about 400 ms more, later in a slow network, and counts from the first repetition. So a
    /// connection that has carried nothing for about 600 ms ends, and one or two lost packets in a row do not end it.
    public static let silence: Duration = .milliseconds(200)
    /// Time for a connection to open, to one address. The next address is tried in parallel.
    public static let connect: Duration = .seconds(2)
    /// Pause between two addresses of one host. The first address uses the kind of network that has worked, and usually
    /// answers within some milliseconds (RFC 8305 has 250 ms for servers that are far away).
    public static let nextAddress: Duration = .milliseconds(100)
    /// Pause before a host's addresses are tried again, since only an answer shows that a host is back. A guest
    /// reconnects within this time after a gap. Each attempt costs one packet per address.
    public static let dialPause: Duration = .milliseconds(250)
    /// Frames per second that are read from one link, unless the program chooses another number. The largest SDUs have
    /// two each, so this is 20 MB per second.
    public static let framesPerSecond = 20_000
    /// Bytes that wait in a connection in each direction, as over Bluetooth, so votes do not wait long behind them. The
    /// kernel uses twice as many for its own accounting.
    public static let bufferBytes = BearerLimits.channelBufferBytes
    /// Bytes that are read at once: two SDUs.
    static let readBytes = 4_096
    /// Time that sent data have to leave after a channel was closed.
    static let farewell: Duration = .seconds(1)

    // MARK: Callers

    /// Accepted connections in all: two for each guest, in case all guests change links at once, and as many as the
    /// protocol allows with an unfinished handshake.
    public static let accepted = 2 * Limits.guests + Limits.halfOpenLinks
    /// Accepted connections of one address. A phone that shares its connection has a few devices behind it.
    public static let acceptedOfAddress = 16
    /// Connections accepted per second, as on the virtual radio. Others are closed at once.
    static let callersPerSecond = BearerLimits.virtualCallersPerSecond
    /// Connections at once before the rate applies, as on the virtual radio.
    static let callerBurst = BearerLimits.virtualCallerBurst
    /// Connections that the kernel accepts before the node does.
    static let backlog = Limits.halfOpenLinks
    /// Time that the list of this device's networks stays valid.
    static let networksKnown: Duration = .seconds(2)

    // MARK: Services

    /// Services that are remembered: hosts and relays in one network, as many as over Bluetooth.
    public static let services = BearerLimits.scanResults
    /// Addresses of one service: two kinds on each of four interfaces.
    public static let addresses = 8
    /// A service that did not answer is reported again after this long: Avahi keeps a switched-off host for up to two
    /// minutes.
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
