// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

@testable import DemocracyDJ

/// The application's bodies: what can be read is within its limits, and what is written of it is read the same; a change
/// leads to a state that a host can have, or nowhere.
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

    /// What the bytes say, if they say something.
    @discardableResult
    private static func message(_ bytes: [UInt8]) throws -> MeshMessage? {
        guard let message = MeshMessage(encoded: bytes) else { return nil }
        if case .stateUpdate(let snapshot) = message {
            try invariant(snapshot.isWithinLimits, "a state that was read is one that a host can have")
        }
        let written = message.encoded
        // The numbers of peers may take more room in another order, and then the tail of a queue is left out.
        if written.count > bytes.count { return message }
        try invariant(MeshMessage(encoded: written) == message, "\(message) is read again")
        return message
    }

    // MARK: Changes

    /// Changes that somebody makes up, one after another, to a state that a host had.
    private static func changes(_ script: inout Script) throws {
        var state = car
        for _ in 0..<steps where !script.isAtEnd {
            guard case .stateChange(var change) = try message(script.chunk()) else { continue }
            // A change to another state leads nowhere, so it is made one to this state.
            (change.epoch, change.base, change.revision) = (state.epoch, state.revision, state.revision + 1)
            guard let next = state.applying(change) else { continue }
            try invariant(next.isWithinLimits, "a change leads to a state that a host can have")
            try invariant(next.supersedes(state), "a change leads to a newer state")
            try leads(from: state, to: next)
            state = next
        }
    }

    /// The change that we make of two states leads from one to the other, also over the air.
    private static func leads(from state: HostSnapshot, to next: HostSnapshot) throws {
        guard let change = HostChange(from: state, to: next) else {
            throw BrokenPromise(description: "there is a change from \(state.revision) to \(next.revision)")
        }
        try invariant(state.applying(change) == next, "\(change) leads to the state that it was made of")
        let carried = MeshMessage(encoded: MeshMessage.stateChange(change).encoded)
        try invariant(carried == .stateChange(change), "\(change) arrives as it was sent")
    }

    /// Two states that somebody makes up.
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
            try invariant(sent.count <= 1, "one update is under way to one guest")
            for case .send(let update, _) in sent {
                try invariant(update.encoded.count <= DJLimits.messageBytes, "an update fits a message")
            }
        }
    }

    // MARK: A state

    /// A car with a few people and songs, one of whose names is no identifier of ours.
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
