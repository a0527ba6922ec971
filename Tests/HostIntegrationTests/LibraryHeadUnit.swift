// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Bearers
import DemocracyDJ
import HostIntegration
import Logging
import MeshNode
import MeshProtocol
import MusicPlayer
import NodeCore
import NodeStore
import TestSupport
import Testing

/// The last example of docs/swift-library.md, run on the virtual radio with a list of songs.
@Suite("The head unit of docs/swift-library.md")
struct LibraryHeadUnit {
    @Test("it hosts, starts to play, and ends at quit", .timeLimit(.minutes(5)))
    func hosts() async throws {
        let (titles, playing) = AsyncStream<String>.makeStream()
        let (begun, nodes) = AsyncStream<Node>.makeStream()
        let folder = newFolder()
        let song = Song(id: "s1", title: "Open Road", artist: "The Milestones", duration: 214)
        let running = Task {
            try await run(
                .list([song]), in: folder, radio: try VirtualBearer(air: VirtualAir(directory: folder), address: "car"),
                began: { nodes.yield($0) }, print: { playing.yield($0) })
        }
        let node = try await EventQueue(begun).first { $0 }
        try await EventQueue(titles).first { $0 == "Open Road" ? () : nil }
        await node.send(.quit(.quit))
        try await running.value
    }

    private func run(
        _ songs: MusicSource, in path: String, radio: any Bearer, began: (Node) -> Void,
        print: @escaping @Sendable (String) -> Void
    ) async throws {
        let logger = Logger(label: "my-head-unit")
        let folder = try StateFolder(path: path)
        let kept = try OpenedState(folder, logger: logger)
        let music = try await songs.open(index: kept.libraryIndex, isComplete: kept.hasSession, logger: logger)

        let car = Peer(id: folder.identity.peerID, name: "Dad's Car")
        let node = Node(
            .host(music.hosting()), NodeDescription(role: .host, peer: car, radio: radio.name, service: .democracyDJ),
            identity: folder.identity, radio: radio, store: kept.store, contents: kept.contents, logger: logger)
        began(node)
        let headUnit = music.headUnit(around: node)
        Task { try await headUnit.run() }
        Task {
            for await event in node.output {
                if case .snapshot(let queue, _) = event { print(queue.nowPlaying?.song.title ?? "silence") }
            }
        }
        try await node.run()
        music.close()
    }

    /// The page's folder, songs and radio. They are only compiled: a test has neither an adapter nor that folder.
    private func surroundings() throws {
        let folder = try StateFolder(path: "/var/lib/my-head-unit")
        let songs = MusicSource.folder("/media/music", mpv: try MPVPlayer.find())
        let radio = try BlueZBearer()
        _ = (folder, songs, radio)
    }
}
