// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("A vote, taken back and cast again, over links that break")
struct WishModelTests {
    private static let beginnings: [[WishWorld.Move]] = [
        [],
        [.linkIsUp, .guestReceives, .guestReceives],
        [.linkIsUp, .guestReceives, .vote, .hostReceives, .guestReceives, .guestReceives, .guestReceives],
    ]

    @Test(
        "whatever is tapped, and wherever links break, what a guest is told in the end is true", arguments: beginnings)
    func everyShortStory(beginning: [WishWorld.Move]) {
        var world = WishWorld()
        for move in beginning { world.make(move) }
        var faults: [String] = []
        tell(world, beginning, depth: 4, &faults)
        #expect(faults.isEmpty, "\(faults.count) stories end wrongly: \(faults.min { $0.count < $1.count } ?? "")")
    }

    /// Every story of so many moves: structs are copied, so that each beginning is told once.
    private func tell(_ world: WishWorld, _ story: [WishWorld.Move], depth: Int, _ faults: inout [String]) {
        var end = world
        end.settle()
        if let fault = end.fault { faults.append("\(story.map(\.rawValue)): \(fault)") }
        guard depth > 0 else { return }
        for move in [WishWorld.Move.vote, .takeBack, .hostReceives, .guestReceives, .linkBreaks, .linkIsUp] {
            var next = world
            next.make(move)
            tell(next, story + [move], depth: depth - 1, &faults)
        }
    }

    @Test("so are long stories, in which songs leave and come back and the host is started anew", arguments: 0..<8)
    func longStories(seed: UInt64) {
        var dice = Dice(seed: seed)
        var faults: [String] = []
        for _ in 0..<100 {
            var world = WishWorld()
            var story: [WishWorld.Move] = []
            for _ in 0..<dice.pick(4...30) {
                guard let move = dice.pick(WishWorld.Move.allCases) else { continue }
                story.append(move)
                world.make(move)
            }
            world.settle()
            if let fault = world.fault { faults.append("\(story.map(\.rawValue)): \(fault)") }
        }
        #expect(faults.isEmpty, "\(faults.count) stories end wrongly: \(faults.min { $0.count < $1.count } ?? "")")
    }
}
