// SPDX-License-Identifier: Apache-2.0

import Bearers
import DemocracyDJ
import MeshProtocol
import TestSupport
import Testing

@Suite("A node with a player that reports the playback", .timeLimit(.minutes(5)))
struct PlaybackTests {
    @Test("each new song, pause and next song is reported, and a failed song is reported to a guest that voted for it")
    func playback() async throws {
        let air = try VirtualAir(directory: newFolder())
        let host = try TestNode("Dad's Car", air).host()
        func heard(where isIt: @escaping @Sendable (Playback) -> Bool) async throws -> Playback {
            try await host.events.first { if case .playback(let heard) = $0, isIt(heard) { heard } else { nil } }
        }
        let first = try await heard { _ in true }
        #expect(first.song?.id == "s1" && first.next?.id == "s2" && first.isPlaying)
        await host.node.send(.host(.pause))
        #expect(try await heard { !$0.isPlaying }.song?.id == "s1")

        let guest = try TestNode("Bob", air).guest()
        await guest.node.send(.guest(.vote("s4")))
        #expect(try await heard { $0.next?.id == "s4" }.song?.id == "s1")
        await host.node.send(.host(.skip))
        let turn = try await heard { $0.song?.id == "s4" }.turn
        await host.node.send(.player(.failed("s4")))
        #expect(try await heard { $0.turn > turn }.song?.id == "s2")
        _ = try await guest.notice("cannotBePlayed")
        try await host.stop()
        try await guest.stop()
    }
}
