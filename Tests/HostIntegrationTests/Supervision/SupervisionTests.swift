// SPDX-License-Identifier: Apache-2.0

import NodeCore
import DemocracyDJ
import MeshProtocol
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import HostIntegration

@Suite("The messages about a host to the service manager")
struct SupervisionTests {
    private static let host = NodeDescription(
        role: .host, peer: Peer(id: "h0", name: "Dad's Car"), radio: "bluez hci0", service: .democracyDJ)

    private static func snapshot(playing title: String? = nil, guests: Int = 0) -> NodeEvent {
        let song = title.map { Song(id: "s1", title: $0, artist: "A", duration: 200) }
        return .snapshot(
            HostSnapshot(
                epoch: 1, revision: 1, nowPlaying: song.map { QueueItem(song: $0, addedBy: "h0") }, isPlaying: true,
                queue: [], connectedPeers: (0..<guests).map { Peer(id: "g\($0)", name: "Guest \($0)") }), isStale: false
        )
    }

    @Test("a host is ready when it is on the air, and reports its state")
    func ready() {
        var policy = SupervisionPolicy()
        #expect(policy.handle(Self.snapshot()) == [])
        #expect(
            policy.handle(.ready(Self.host))
                == ["READY=1", "STATUS=\"Dad's Car\" is on the air, no guests"])
        #expect(
            policy.handle(Self.snapshot(playing: "Open\nRoad", guests: 1))
                == ["STATUS=\"Dad's Car\" is on the air, 1 guest, plays \"Open Road\""])
        #expect(policy.handle(Self.snapshot(playing: "Open\nRoad", guests: 1)) == [])
        #expect(
            policy.handle(Self.snapshot(guests: 3)) == ["STATUS=\"Dad's Car\" is on the air, 3 guests"])
        #expect(policy.handle(.bye(.terminated)) == ["STOPPING=1"])
    }

    @Test("a host that cannot work reports why")
    func trouble() throws {
        var policy = SupervisionPolicy()
        _ = policy.handle(.ready(Self.host))
        let notice = Notice(.radioOff)
        try #require(notice.critical)
        #expect(policy.handle(.notice(notice)) == ["STATUS=" + notice.message])
        #expect(policy.handle(Self.snapshot(guests: 2)) == [])
        #expect(
            policy.handle(.noticeCleared(code: notice.code)) == ["STATUS=\"Dad's Car\" is on the air, 2 guests"])
    }

    /// The received messages, and the node's side.
    private struct Manager {
        let told: EventQueue<String>
        let events: AsyncStream<NodeEvent>.Continuation
        let run: Task<Void, Never>

        init(answers: @escaping @Sendable () async -> Bool) {
            let (events, node) = AsyncStream.makeStream(of: NodeEvent.self)
            let (messages, sink) = AsyncStream.makeStream(of: String.self)
            told = EventQueue(messages)
            self.events = node
            let supervision = Supervision(events: events, period: .milliseconds(2), answers: answers) { sink.yield($0) }
            run = Task {
                await supervision.run()
                sink.finish()
            }
        }
    }

    @Test("a node that answers sends its heartbeat repeatedly", .timeLimit(.minutes(5)))
    func beats() async throws {
        let manager = Manager { true }
        for _ in 1...5 { try await manager.told.first { $0 == SupervisionPolicy.beat ? () : nil } }
        manager.events.finish()
        await manager.run.value
    }

    @Test("a node that hangs sends no more messages, whatever it has sent before", .timeLimit(.minutes(5)))
    func hangs() async throws {
        let answered = NIOLockedValueBox(0)
        let hung = AsyncStream<Void>.makeStream()
        let manager = Manager {
            let count = answered.withLockedValue { answered in
                answered += 1
                return answered
            }
            guard count > 2 else { return true }
            for await _ in hung.stream {}
            return false
        }
        for _ in 1...2 { try await manager.told.first { $0 == SupervisionPolicy.beat ? () : nil } }
        for guests in 1...50 { manager.events.yield(Self.snapshot(guests: guests)) }
        manager.events.yield(.ready(Self.host))
        try await manager.told.first { (message: String) -> Void? in
            #expect(message != SupervisionPolicy.beat)
            return message.hasPrefix("STATUS=") ? () : nil
        }
        manager.events.yield(.bye(.quit))
        manager.events.finish()
        await manager.run.value
        await #expect(throws: EventQueue<String>.Ended.self) {
            try await manager.told.first { $0 == SupervisionPolicy.beat ? () : nil }
        }
    }
}
