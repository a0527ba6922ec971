// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import Dashboard
@testable import NodeCore

@Suite("The encoded stream of a page")
struct EncodedViewTests {
    private static let ana = Peer(id: "a", name: "Ana")

    private func page(_ queue: [QueueItem], in watch: inout NodeWatch, revision: UInt64) -> NodeView {
        let snapshot = HostSnapshot(
            epoch: 1, revision: revision, nowPlaying: nil, isPlaying: false, elapsed: 0, queue: queue,
            connectedPeers: [Self.ana])
        _ = watch.handle(.snapshot(snapshot, isStale: false), now: .zero)
        return watch.page(for: watch.own, webGuests: [], version: Int(revision), now: .zero)
    }

    @Test("a view is encoded the same whether or not its songs were sent before, whatever their names")
    func knownSongs() throws {
        var watch = NodeWatch(
            NodeDescription(role: .host, peer: Car.host, radio: "virtual", service: .democracyDJ))
        var tricky = Car.songs[1]
        tricky.title = #"\"queue\":[] "queue":[]"#
        let (first, second) = (
            QueueItem(song: Car.songs[0], addedBy: "a"), QueueItem(song: tricky, addedBy: "h0", voters: ["a"])
        )
        var voted = second
        voted.voters.append("x")
        var sent: EncodedView?
        for (number, queue) in [[first], [first, second], [voted, first], [], [voted, second], [first]].enumerated() {
            let view = page(queue, in: &watch, revision: UInt64(number + 1))
            let next = try EncodedView(view, after: sent, now: .zero)
            #expect(String(buffer: next.frame) == "event: view\ndata: \(JSONLine.text(view))\n\n")
            sent = next
        }
    }
}
