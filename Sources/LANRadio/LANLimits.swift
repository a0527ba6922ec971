// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol

/// Every limit of the LAN, each with its reason. Those of the wire are `Limits`, and those of the air, which hold here as well
/// where nothing else is said, are `RadioLimits`.
public enum LANLimits {
    // MARK: Links

    /// A connection ends when data that were sent again stay unacknowledged for this long (TCP_USER_TIMEOUT, tcp(7)). A
    /// lost network reports nothing, and a guest with another bearer must be linked there within a second. Linux sends
    /// again after 200 ms and after about 400 more, later in a slow network, and counts from then. So a connection that
    /// has carried nothing for about 600 ms ends, and one or two lost packets in a row do not end it.
    public static let silence: Duration = .milliseconds(200)
    /// Time for a connection to open, to one address. The next address is tried in parallel.
    public static let connect: Duration = .seconds(2)
    /// Pause between two addresses of one host: the first one, over the kind of network that has worked, mostly answers within
    /// some milliseconds (RFC 8305 has 250 ms for servers that are far away).
    public static let nextAddress: Duration = .milliseconds(100)
    /// Pause before a host's addresses are tried again, since a host that has just come is known by its answer alone: a guest
    /// is back within this time after a gap. It costs one packet for each address.
    public static let dialPause: Duration = .milliseconds(250)
    /// Bytes that wait in a connection, each way, as on the air: votes do not wait long behind what is in it. The kernel
    /// takes twice as many for its own accounting.
    public static let bufferBytes = RadioLimits.channelBufferBytes
    /// Bytes that are read at once: two SDUs.
    static let readBytes = 4_096
    /// How long what was sent before a channel was closed may take to leave.
    static let farewell: Duration = .seconds(1)

    // MARK: Callers

    /// Connections that others have opened, in all: two for each guest, for the case that all change links at once, and
    /// as many as the protocol allows with an unfinished handshake.
    public static let accepted = 2 * Limits.guests + Limits.halfOpenLinks
    /// Those of one address: a phone that shares its connection stands before the few that are behind it.
    public static let acceptedOfAddress = 16
    /// Callers a second, as on the virtual radio. Others are closed at once.
    static let callersPerSecond = RadioLimits.virtualCallersPerSecond
    /// Callers at once before that counts, as on the virtual radio.
    static let callerBurst = RadioLimits.virtualCallerBurst
    /// Connections that the kernel accepts before they are looked at.
    static let backlog = Limits.halfOpenLinks
    /// For how long it is known which networks this device is on.
    static let networksKnown: Duration = .seconds(2)

    // MARK: Services

    /// Services that are remembered: hosts and relays in one network, as many as on the air.
    public static let services = RadioLimits.scanResults
    /// Addresses of one service: two kinds on each of four interfaces.
    public static let addresses = 8
    /// A service that did not answer is reported again after this long: Avahi keeps a switched-off host for up to two
    /// minutes.
    static let doubt: Duration = .seconds(10)
    /// Bytes of one string of a service's TXT record: ours have at most about 70.
    static let stringBytes = 255
    /// Names that a node tries where its own is taken: two of the same identifier are one at most.
    static let names = 4
    /// Services that wait for Avahi to tell where they are: objects of ours in the daemon, which takes 1,024 of a client.
    static let resolvers = services * 2
    /// What the directory tells that waits for the radio, which reads it at once.
    static let directoryEvents = 1_024
    /// How often it is tried to reach the message bus again.
    static let busPause: Duration = .seconds(5)
}
