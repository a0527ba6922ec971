// SPDX-License-Identifier: Apache-2.0

import BLETransport
import MeshProtocol

/// Every limit of the broker, each with its reason. Those of the wire are `Limits`, and those of the air, which hold here as well
/// where nothing else is said, are `RadioLimits`.
public enum BrokerLimits {
    // MARK: The connection

    /// Time for a connection to be taken by the broker: name, TCP, TLS and MQTT, over a slow mobile network.
    static let connect: Duration = .seconds(10)
    /// Where there is another server, and a connection was lost a moment ago, it may take four times as long as that one took, but so
    /// long at least: a server of a cluster that has no leader says nothing for four seconds and then closes (NATS 2.9), and forgets
    /// what it was asked meanwhile.
    static let leastPatience: Duration = .seconds(2)
    /// How long that holds: a cluster has new leaders in some ten seconds. After that the network may be another one, and slower.
    static let hurry: Duration = .seconds(20)
    /// Servers of one broker.
    static let servers = 8
    /// Silence after which a ping is sent to the broker, and after one and a half of which the broker takes this node for gone (MQTT
    /// 3.1.1, 3.1.2.10). A ping costs some 170 bytes with all headers: 40 kilobytes an hour.
    static let keepAlive: Duration = .seconds(15)
    /// How long a connection that waits for nothing sleeps: its thread would wake a sleeping machine else. What arrives or is said wakes
    /// it, and libmosquitto's pings are on time; only what this side finds wrong with a connection waits for so long.
    static let sleep: Duration = .seconds(5)
    /// The same while the broker owes an answer.
    static let look: Duration = .seconds(1)
    /// The longest pause before the first try after a connection that worked: a thousand cars do not come back at one moment.
    static let firstPause: Duration = .milliseconds(500)
    /// The longest pause between two tries: a broker that is back is not kept waiting longer.
    static let longestPause: Duration = .seconds(15)
    /// A connection that has worked this long makes the next pause the first again.
    static let settled: Duration = .seconds(10)
    /// Nobody is told that the broker is out of reach before this has passed: a tunnel is none of its faults.
    static let patience: Duration = .seconds(10)
    /// Messages of a recording that may wait in libmosquitto for their acknowledgement at a time; others wait for these.
    static let underWay = 64
    /// What was said before the end may take so long to leave.
    static let farewell: Duration = .seconds(2)
    /// Events of a connection that wait to be dealt with: what all channels may have under way, and as much again.
    static let events = 2 * 32 * accepted

    /// Where nothing has arrived for so long, this node sends something to itself: each ten seconds somebody says something in a channel,
    /// and a host without guests sends 20 kilobytes an hour like that.
    static let quiet: Duration = .seconds(40)
    /// Where that does not arrive either for so long, the broker has forgotten what this node listens to, and is connected to again.
    static let echo: Duration = .seconds(10)

    // MARK: Channels

    /// Channels that others have opened, in all: every guest twice, as when all move from one link to another, and as many whose
    /// handshake is not finished as the protocol takes.
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
    /// How long what is retained may take to arrive at a new connection to a cluster. After that those who were there before are called
    /// although nothing is told of them: at one of some twenty clusters that lost a server votes took 52 s, up to the time at which the
    /// host published again, as if a guest had been told nothing until then.
    static let retained: Duration = .seconds(2)
    /// How often a node's own advertisement is published again, whether it is there or not: clusters lose retained messages, or keep them
    /// from who subscribes at the wrong moment. 12 kilobytes an hour for each who hears it.
    static let published: Duration = .seconds(60)

    // MARK: The bill

    /// How often the bytes are told.
    static let billTold: Duration = .seconds(60)
    /// The bill's time.
    static let bill: Duration = .seconds(3_600)
}
