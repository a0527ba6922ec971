// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol

/// Every limit of the broker, each with its reason. Those of the wire are `Limits`, and those of the air, which hold here as well
/// where nothing else is said, are `RadioLimits`.
public enum BrokerLimits {
    // MARK: The connection

    /// Time for a connection to be taken by the broker: name, TCP, TLS and MQTT, over a slow mobile network.
    static let connect: Duration = .seconds(10)
    /// Minimum time for a connection to another server of a cluster. After a recent loss it may take four times as long
    /// as the lost one took, and at least this long. A server of a cluster without a leader is silent for four seconds,
    /// then closes the connection (NATS 2.9) and forgets what it was asked.
    static let leastPatience: Duration = .seconds(2)
    /// How long that holds: a cluster has new leaders in some ten seconds. After that the network may be another one, and slower.
    static let hurry: Duration = .seconds(20)
    /// Servers of one broker.
    static let servers = 8
    /// Silence after which a ping is sent to the broker, and after one and a half of which the broker takes this node for gone (MQTT
    /// 3.1.1, 3.1.2.10). A ping costs some 170 bytes with all headers: 40 kilobytes an hour.
    static let keepAlive: Duration = .seconds(15)
    /// How long the thread of an idle connection sleeps: otherwise it would wake a sleeping machine. Received and sent
    /// messages wake it, and libmosquitto's pings are on time. Only errors that this side detects wait this long.
    static let sleep: Duration = .seconds(5)
    /// The same while the broker owes an answer.
    static let look: Duration = .seconds(1)
    /// The longest pause before the first try after a connection that worked: a thousand cars do not come back at one moment.
    static let firstPause: Duration = .milliseconds(500)
    /// The longest pause between two tries: a broker that is back is not kept waiting longer.
    static let longestPause: Duration = .seconds(15)
    /// A connection that has worked this long makes the next pause the first again.
    static let settled: Duration = .seconds(10)
    /// A person sees that the broker is out of reach only after this time: in a tunnel the broker is not at fault.
    static let patience: Duration = .seconds(10)
    /// Messages of a recording that may wait in libmosquitto for their acknowledgement at a time; others wait for these.
    static let underWay = 64
    /// How long the last messages may take to leave.
    static let farewell: Duration = .seconds(2)
    /// Events of a connection that wait to be handled: what all channels may have under way, twice.
    static let events = 2 * 32 * accepted

    /// If nothing has arrived for this long, the node sends a message to itself. Every channel carries something each
    /// ten seconds, and for a host without guests this costs 20 kilobytes an hour.
    static let quiet: Duration = .seconds(40)
    /// Where that does not arrive either for so long, the broker has forgotten what this node listens to, and is connected to again.
    static let echo: Duration = .seconds(10)

    // MARK: Channels

    /// Channels that others have opened, in all: two for each guest, for the case that all change links at once, and as
    /// many as the protocol allows with an unfinished handshake.
    static let accepted = 2 * Limits.guests + Limits.halfOpenLinks
    /// Those of one address: a node that comes back faster than its old channels end.
    static let acceptedOfAddress = 8
    /// Calls a second, as on the virtual radio. Others are refused.
    static let callsPerSecond = RadioLimits.virtualCallersPerSecond
    /// Calls at once before that counts, as on the virtual radio.
    static let callBurst = RadioLimits.virtualCallerBurst
    /// Bytes of one value: a whole SDU in one chunk.
    static let valueBytes = Limits.sduBytes + 3
    /// Values that wait to be read in a channel: `ChunkWindow` ends those that bring more.
    static let valuesWaiting = 64
    /// Bytes of a channel that have not left: twice those of the air.
    static let channelBytes = 2 * RadioLimits.channelBufferBytes
    /// Who was called answers within this time, or is called again: a round trip over two mobile networks takes a second at worst.
    static let answer: Duration = .seconds(4)

    // MARK: Who is there

    /// Nodes that are remembered: hosts at one broker, as many as on the air.
    static let places = RadioLimits.scanResults
    /// Bytes of an advertisement: run, length, payload, text.
    static let advertisementBytes = 4 + 1 + 255 + Limits.advertisementBytes
    /// Bytes of any message; longer ones are dropped.
    static let messageBytes = max(valueBytes, advertisementBytes)
    /// Bytes of a topic: a prefix and what follows it.
    static let prefixBytes = 64
    /// How often a node's own advertisement is published again where it is gone: others may have the same identity.
    static let restoresPerSecond = 1
    /// Times at once before that counts.
    static let restoreBurst = 4

    /// How long after a lost connection to a cluster an advertisement is not published for it to keep: without a leader, NATS holds up
    /// for four seconds all that a client says after that, and has a leader some ten seconds after the loss of a server.
    static let election: Duration = .seconds(12)
    /// How long retained messages may take to arrive on a new connection to a cluster. After that the node dials the
    /// peers that were there before, although no message names them. At one of about twenty clusters that lost a
    /// server, votes took 52 s, until the host published again.
    static let retained: Duration = .seconds(2)
    /// How often a node's own advertisement is published again, whether it is there or not: clusters lose retained messages, or keep them
    /// from who subscribes at the wrong moment. 12 kilobytes an hour for each who hears it.
    static let published: Duration = .seconds(60)

    // MARK: The bill

    /// How often the number of bytes is reported.
    static let billTold: Duration = .seconds(60)
    /// The bill's time.
    static let bill: Duration = .seconds(3_600)
}
