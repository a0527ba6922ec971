// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshProtocol
import MeshSession

/// An event of `ping`, `trace` or `pipe` for programs.
enum LinkToolEvent: Hashable, Sendable {
    /// The tool runs.
    case ready(Peer)
    /// The route to the host, when it is found or has changed.
    case path(MeshPath, host: Peer)
    /// A ping to the end of the first `hop` links, and its round trip. Nil if it was not answered.
    case echo(number: Int, hop: Int, Duration?)
    /// The figures of a hop.
    case hop(Int, name: String, HopFigures, rssi: Int?)
    /// The other side is linked, lost or gone.
    case connection(Connection, Peer)
    /// What was transferred so far.
    case transfer(PipeProgress)
    /// The tool ends.
    case bye(exitCode: Int32, message: String?)

    enum Connection: String, CaseIterable { case connected, lost, left }
}

/// An event with its time, in the form of the JSON output.
struct TimedLinkToolEvent: Encodable {
    let event: LinkToolEvent
    /// The time, in seconds since 1970.
    let at: Double

    init(_ event: LinkToolEvent, at: Double = Date().timeIntervalSince1970) { (self.event, self.at) = (event, at) }

    private enum Key: String, CodingKey {
        case event, at, id, name, host, hostID, hops, via, rssi, number, hop, roundTrip, sent, answered, loss, least
        case mean, most, jitter, state, sentBytes, receivedBytes, connections, exitCode, message
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(at, forKey: .at)
        switch event {
        case .ready(let peer):
            try container.encode("ready", forKey: .event)
            try container.encode(peer.id, forKey: .id)
            try container.encode(peer.displayName, forKey: .name)
        case .path(let path, let host):
            try container.encode("path", forKey: .event)
            try container.encode(host.displayName, forKey: .host)
            try container.encode(host.id, forKey: .hostID)
            try container.encode(path.hops, forKey: .hops)
            try container.encode(path.relay?.displayName, forKey: .via)
            try container.encode(path.rssi, forKey: .rssi)
        case .echo(let number, let hop, let time):
            try container.encode("echo", forKey: .event)
            try container.encode(number, forKey: .number)
            try container.encode(hop, forKey: .hop)
            try container.encode(time.map(Self.milliseconds), forKey: .roundTrip)
        case .hop(let hop, let name, let figures, let rssi): try encode(hop, name, figures, rssi, &container)
        case .connection(let state, let peer):
            try container.encode("connection", forKey: .event)
            try container.encode(state.rawValue, forKey: .state)
            try container.encode(peer.id, forKey: .id)
            try container.encode(peer.displayName, forKey: .name)
        case .transfer(let progress):
            try container.encode("transfer", forKey: .event)
            try container.encode(progress.sent, forKey: .sentBytes)
            try container.encode(progress.written, forKey: .receivedBytes)
            try container.encode(progress.connections, forKey: .connections)
        case .bye(let exitCode, let message):
            try container.encode("bye", forKey: .event)
            try container.encode(exitCode, forKey: .exitCode)
            try container.encode(message, forKey: .message)
        }
    }

    private func encode(
        _ hop: Int, _ name: String, _ figures: HopFigures, _ rssi: Int?,
        _ container: inout KeyedEncodingContainer<Key>
    ) throws {
        try container.encode("hop", forKey: .event)
        try container.encode(hop, forKey: .hop)
        try container.encode(name, forKey: .name)
        try container.encode(figures.sent, forKey: .sent)
        try container.encode(figures.answered, forKey: .answered)
        try container.encode(figures.loss, forKey: .loss)
        try container.encode(figures.least.map(Self.milliseconds), forKey: .least)
        try container.encode(figures.mean.map(Self.milliseconds), forKey: .mean)
        try container.encode(figures.most.map(Self.milliseconds), forKey: .most)
        try container.encode(figures.jitter.map(Self.milliseconds), forKey: .jitter)
        try container.encode(rssi, forKey: .rssi)
    }

    /// A time in milliseconds, with microseconds as the fraction.
    private static func milliseconds(_ time: Duration) -> Double { (time / .microseconds(1)).rounded() / 1_000 }
}
