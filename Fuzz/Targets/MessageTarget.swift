// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

@testable import DemocracyDJ

/// The application's bodies. A decoded body is within its limits, and decodes to the same value after encoding. A
/// change results in a valid state, or is refused.
enum MessageTarget {
    private static let steps = 8

    static func run(_ input: [UInt8]) throws {
        var script = Script(input)
        switch script.number(below: 3) {
        case 0: _ = try message(Array(input.dropFirst()))
        case 1: try changes(&script)
        default: try states(&script)
        }
    }

    // MARK: Bytes

    /// The decoded message, if the bytes are one.
    @discardableResult
    private static func message(_ bytes: [UInt8]) throws -> MeshMessage? {
        guard let message = MeshMessage(encoded: bytes) else { return nil }
        if case .stateUpdate(let snapshot) = message {
            try invariant(snapshot.isWithinLimits, "a decoded state is one that a host can have")
        }
        let written = message.encoded
        // A different order of peers can make their numbers longer, and then the end of a queue is left out.
        if written.count > bytes.count { return message }
        try invariant(MeshMessage(encoded: written) == message, "\(message) is decoded again")
        return message
    }

    // MARK: Changes

    /// A series of forged changes to a valid state.
    private static func changes(_ script: inout Script) throws {
        var state = car
        for _ in 0..<steps where !script.isAtEnd {
            guard case .stateChange(var change) = try message(script.chunk()) else { continue }
            // A change to another state is refused, so make it fit this one.
            (change.epoch, change.base, change.revision) = (state.epoch, state.revision, state.revision + 1)
            guard let next = state.applying(change) else { continue }
            try invariant(next.isWithinLimits, "a change results in a state that a host can have")
            try invariant(next.supersedes(state), "a change results in a newer state")
            try leads(from: state, to: next)
            state = next
        }
    }

    /// The change that we compute turns one state into the other, also after encoding.
    private static func leads(from state: HostSnapshot, to next: HostSnapshot) throws {
        guard let change = HostChange(from: state, to: next) else {
            throw BrokenPromise(description: "there is a change from \(state.revision) to \(next.revision)")
        }
        try invariant(state.applying(change) == next, "\(change) results in the state that it was computed from")
        let carried = MeshMessage(encoded: MeshMessage.stateChange(change).encoded)
        try invariant(carried == .stateChange(change), "\(change) arrives as it was sent")
    }

    /// Two arbitrary states.
    private static func states(_ script: inout Script) throws {
        guard case .stateUpdate(var first) = try message(script.chunk()),
            case .stateUpdate(var second) = try message(script.chunk())
        else { return }
        (first.epoch, first.revision) = (1, 1)
        (second.epoch, second.revision) = (1, 2)
        try leads(from: first, to: second)
        var feed = StateFeed(first)
        for event in [.guestConnected("ana"), .stateChanged(second), .updateHasLeft("ana")] as [StateFeed.Event] {
            let sent = feed.handle(event)
            try invariant(sent.count <= 1, "at most one update is in flight to a guest")
            for case .send(let update, _) in sent {
                try invariant(update.encoded.count <= DJLimits.messageBytes, "an update fits a message")
            }
        }
    }

    // MARK: A state

    /// A car with a few people and songs. One peer's identifier is not in our format.
    static let car = HostSnapshot(
        epoch: 7, revision: 3, nowPlaying: QueueItem(song: song(0), addedBy: people[0].id, voters: voters(2)),
        isPlaying: true,
        queue: (1..<6).map { QueueItem(song: song($0), addedBy: people[$0 % 3].id, voters: voters($0)) },
        connectedPeers: people, skipVoters: voters(1))

    private static let people = [
        Peer(id: String(repeating: "0a", count: 16), name: "Ana"),
        Peer(id: String(repeating: "b1", count: 16), name: "Bob"), Peer(id: "somebody", name: "?"),
    ]

    private static func song(_ number: Int) -> Song {
        Song(
            id: "song-\(number)", title: "Title \(number) ä", artist: "Artist", duration: Double(number) * 30.5,
            albumArtURL: number == 2 ? "https://example.org/2" : nil)
    }

    private static func voters(_ number: Int) -> [Peer.ID] { people.prefix(number % 4).map(\.id) }
}
