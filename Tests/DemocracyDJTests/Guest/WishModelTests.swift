// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("Votes, take-backs and suggestions of one song, in every order, over links that break")
struct WishModelTests {
    private static let beginnings: [[WishWorld.Move]] = [
        [],
        [.linkIsUp, .guestReceives, .guestReceives],
        [.linkIsUp, .guestReceives, .vote, .hostReceives, .guestReceives, .guestReceives, .guestReceives],
        confirmed + [.linkBreaks],
        confirmed + [.leaves],
        [.driverRemoves],
        [.driverRemoves, .linkIsUp, .guestReceives, .guestReceives],
        [.driverRemoves, .linkIsUp, .guestReceives, .suggest, .hostReceives, .guestReceives, .linkBreaks],
    ]

    private static let confirmed: [WishWorld.Move] = [
        .linkIsUp, .guestReceives, .guestReceives, .vote, .hostReceives, .guestReceives, .guestReceives,
    ]

    private static let wishes: [WishWorld.Move] = [.vote, .takeBack, .suggest]

    /// Every order of two, three and four wishes.
    private static var orders: [[WishWorld.Move]] {
        var orders = wishes.map { [$0] }
        var all: [[WishWorld.Move]] = []
        for _ in 2...4 {
            orders = orders.flatMap { order in wishes.map { order + [$0] } }
            all += orders
        }
        return all
    }

    @Test("the last wish wins, in every order, with and without a link", arguments: beginnings)
    func lastWishWins(beginning: [WishWorld.Move]) {
        var faults: [String] = []
        for order in Self.orders {
            for cut in 0...order.count {
                var story = beginning + order.prefix(cut)
                story += [.linkIsUp, .hostReceives, .guestReceives, .hostReceives, .linkBreaks]
                story += order.dropFirst(cut)
                var world = WishWorld()
                for move in story { world.make(move) }
                world.settle()
                if let fault = world.fault { faults.append("\(story.map(\.rawValue)): \(fault)") }
            }
        }
        #expect(faults.isEmpty, "\(faults.count) stories end wrongly: \(faults.min { $0.count < $1.count } ?? "")")
    }

    @Test(
        "a confirmed vote that is taken back and suggested again in a gap counts when the gap ends",
        arguments: [
            WishWorld.Move.linkBreaks, .leaves,
        ])
    func suggestedInGap(gap: WishWorld.Move) {
        var world = WishWorld()
        for move in Self.confirmed + [gap, .takeBack, .suggest] { world.make(move) }
        world.settle()
        #expect(world.fault == nil)
        #expect(world.told?.kind == .suggest && world.told?.state == .confirmed)
        #expect(world.host.snapshot.item(WishWorld.song)?.voters == [Example.ana.id])
    }

    @Test(
        "for all taps and link losses, a guest's final result is true", arguments: beginnings)
    func everyShortStory(beginning: [WishWorld.Move]) {
        var world = WishWorld()
        for move in beginning { world.make(move) }
        var faults: [String] = []
        tell(world, beginning, depth: beginning.count > 2 ? 3 : 4, &faults)
        #expect(faults.isEmpty, "\(faults.count) stories end wrongly: \(faults.min { $0.count < $1.count } ?? "")")
    }

    /// Every sequence of this many moves. Structs are copied, so that each beginning runs once.
    private func tell(_ world: WishWorld, _ story: [WishWorld.Move], depth: Int, _ faults: inout [String]) {
        var end = world
        end.settle()
        if let fault = end.fault { faults.append("\(story.map(\.rawValue)): \(fault)") }
        guard depth > 0 else { return }
        for move in Self.wishes + [.hostReceives, .guestReceives, .linkBreaks, .linkIsUp] {
            var next = world
            next.make(move)
            tell(next, story + [move], depth: depth - 1, &faults)
        }
    }

    @Test("the same is true of long sequences with songs that leave and return, and restarts", arguments: 0..<16)
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
