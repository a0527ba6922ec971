// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import MeshNode

@Suite("Messages as bytes")
struct MessageCodecTests {
    private func snapshot(songs: Int, text: String) -> HostSnapshot {
        let voters = (0..<16).map { "\($0)".padding(32) }
        return HostSnapshot(
            epoch: .max, revision: .max, nowPlaying: nil, isPlaying: false,
            queue: (0..<songs).map {
                QueueItem(
                    song: Song(id: "\($0)", title: text, artist: text, duration: 1), addedBy: voters[0], voters: voters)
            },
            connectedPeers: voters.map { Peer(id: $0, name: "x") })
    }

    @Test("what is sent is what arrives")
    func roundTrip() {
        let messages: [MeshMessage] = [
            .intent(.vote(songID: "s1")), .intent(.suggestSong(songID: "s2")),
            .rejection(.vote(songID: "s1"), .queueFull), .stateUpdate(snapshot(songs: 3, text: "ä\"\n")),
        ]
        for message in messages { #expect(MessageCodec.message(in: MessageCodec.body(of: message)) == message) }
    }

    @Test("a snapshot always fits a frame: what is far down the queue is left out")
    func tooLarge() throws {
        let large = snapshot(songs: DJLimits.queuedSongs, text: String(repeating: "x", count: DJLimits.songTextBytes))
        let body = MessageCodec.body(of: .stateUpdate(large))
        #expect(body.count <= Limits.messageBytes)
        guard case .stateUpdate(let arrived) = try #require(MessageCodec.message(in: body)) else {
            Issue.record("no state update")
            return
        }
        #expect(!arrived.queue.isEmpty)
        #expect(arrived.queue == Array(large.queue.prefix(arrived.queue.count)))
    }

    @Test(
        "rubbish is no message", arguments: ["", "{", "[]", "{\"intent\":{}}", "null", "{\"stateUpdate\":{\"_0\":{}}}"])
    func rubbish(text: String) {
        #expect(MessageCodec.message(in: Array(text.utf8)) == nil)
    }
}

extension String {
    fileprivate func padding(_ count: Int) -> String {
        String(repeating: "0", count: Swift.max(count - self.count, 0)) + self
    }
}
