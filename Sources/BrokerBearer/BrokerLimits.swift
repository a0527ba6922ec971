// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol

/// The limits of the broker bearer, each with its reason. `Limits` has the limits of the wire. `BearerLimits` has the
/// limits of all bearers, which also apply here unless stated otherwise.
public enum BrokerLimits {
    // MARK: The connection

    /// Time for a connection to the broker: name lookup, TCP, TLS and MQTT, over a slow mobile network.
    static let connect: Duration = .seconds(10)
    /// Least time limit for an attempt to connect to another server of a cluster soon after a loss. The limit is
    /// otherwise four times the duration of the last successful attempt. The attempt must end early: a server of a
    /// cluster without a leader is silent for four seconds, then closes the connection (NATS 2.9) and forgets the
    /// requests.
    static let leastPatience: Duration = .seconds(2)
    /// How long after a loss `leastPatience` applies. A cluster has new leaders after about ten seconds. Later the node
    /// may be in another, slower network.
    static let hurry: Duration = .seconds(20)
    /// Servers of one broker.
    static let servers = 8
    /// Silence after which the node sends a ping to the broker. After one and a half times as long the broker considers
    /// the node gone (MQTT 3.1.1, 3.1.2.10). A ping costs about 170 bytes with all headers: 40 kilobytes an hour.
    static let keepAlive: Duration = .seconds(15)
    /// How long the thread of an idle connection sleeps, so that it does not keep the processor awake. Received and
    /// sent messages wake the thread, and libmosquitto's pings are on time. Only the handling of errors that this side
    /// detects may be late by this much.
    static let sleep: Duration = .seconds(5)
    /// How long the thread sleeps while an answer of the broker is outstanding.
    static let look: Duration = .seconds(1)
    /// The longest random pause before the first attempt after a connection that worked. The pause keeps a thousand
    /// cars from reconnecting at once.
    static let firstPause: Duration = .milliseconds(500)
    /// The longest pause between two attempts. It bounds the time until a restarted broker is used again.
    static let longestPause: Duration = .seconds(15)
    /// After a connection that worked for this long, the next pause is at most `firstPause` again.
    static let settled: Duration = .seconds(10)
    /// A person sees that the broker is unreachable only after this time, because in a tunnel the broker is not at
    /// fault.
    static let patience: Duration = .seconds(10)
    /// Messages of a recording that may await their acknowledgement in libmosquitto. Further messages wait for these.
    static let underWay = 64
    /// Time for sending the last messages.
    static let farewell: Duration = .seconds(2)
    /// Events of a connection that wait to be processed: twice as many as all channels may have in transit.
    static let events = 2 * 32 * accepted

    /// If no message has arrived for this long, the node sends a message to itself. Every channel carries a message at
    /// least each ten seconds. For a host without guests the messages cost 20 kilobytes an hour.
    static let quiet: Duration = .seconds(40)
    /// If the node's message to itself does not arrive within this time, the broker has lost the node's subscriptions,
    /// and the node reconnects.
    static let echo: Duration = .seconds(10)

    // MARK: Channels

    /// Channels that other nodes have opened, in total. Each guest may need two, in case all guests change links at
    /// once. The rest is for the unfinished handshakes that the protocol allows.
    static let accepted = 2 * Limits.guests + Limits.halfOpenLinks
    /// Channels that one address has opened. A node may reconnect faster than its old channels end.
    static let acceptedOfAddress = 8
    /// Calls accepted per second, as on the virtual radio. Further calls are refused.
    static let callsPerSecond = BearerLimits.virtualCallersPerSecond
    /// Calls accepted at once before `callsPerSecond` applies, as on the virtual radio.
    static let callBurst = BearerLimits.virtualCallerBurst
    /// Bytes of one value: a full SDU in one chunk.
    static let valueBytes = Limits.sduBytes + 3
    /// Unread values of a channel. `ChunkWindow` ends a channel that exceeds its limit.
    static let valuesWaiting = 64
    /// Unsent bytes of a channel: twice the limit of the air.
    static let channelBytes = 2 * BearerLimits.channelBufferBytes
    /// Time for an answer before the node repeats a call. A round trip over two mobile networks takes at most a second.
    static let answer: Duration = .seconds(4)

    // MARK: Presence

    /// Nodes that are remembered: as many hosts at a broker as on the air.
    static let places = BearerLimits.scanResults
    /// Bytes of an advertisement: run, length, payload, text.
    static let advertisementBytes = 4 + 1 + 255 + Limits.advertisementBytes
    /// Bytes of any message. Longer messages are dropped.
    static let messageBytes = max(valueBytes, advertisementBytes)
    /// Bytes of the topic prefix.
    static let prefixBytes = 64
    /// How often per second a node republishes its own advertisement after another node has removed it. That node may
    /// use the same identity, so both could republish endlessly.
    static let restoresPerSecond = 1
    /// Republications at once before `restoresPerSecond` applies.
    static let restoreBurst = 4

    /// How long after a lost connection to a cluster an advertisement is published without retain. Without a leader,
    /// NATS delays all messages that a client sends after a retained message by four seconds. A cluster has a new
    /// leader about ten seconds after the loss of a server.
    static let election: Duration = .seconds(12)
    /// How long retained messages may take to arrive on a new connection to a cluster. After that the node assumes that
    /// the earlier peers are still present, and dials them. Without this rule, votes took 52 s at one of about twenty
    /// clusters that lost a server, until the host published again.
    static let retained: Duration = .seconds(2)
    /// How often a node republishes its own advertisement even if it is present. Clusters lose retained messages, or do
    /// not deliver them to a node that subscribes at the wrong moment. The repetition costs each receiver 12 kilobytes
    /// an hour.
    static let published: Duration = .seconds(60)

    // MARK: Counting bytes

    /// How often the byte counts are reported.
    static let billTold: Duration = .seconds(60)
    /// The period of the byte counts.
    static let bill: Duration = .seconds(3_600)
}
