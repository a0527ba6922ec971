// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

/// A message is stored on disk before it is sent: "Resend and resume" in docs/protocol.md.
@Suite("Messages are held until they are stored")
struct HoldingTests {
    private let car = Road(holdsUntilStored: true).key("Ana", with: "Car")

    /// A road with disks in its nodes, and Ana's link to the car.
    private func joined() -> (Road, MeshCore.LinkID) {
        var road = Road(holdsUntilStored: true)
        let id = road.joined()
        return (road, id)
    }

    private func conversation(_ road: Road) throws -> Conversation {
        try #require(road.nodes["Ana"]?.core.conversation(car))
    }

    private func store(_ number: UInt64, _ road: inout Road) -> [MeshCore.Action] {
        let actions = road.nodes["Ana"]?.core.stored(upTo: number, for: car) ?? []
        road.carryOut(actions, "Ana")
        return actions
    }

    @Test("A vote is sent when it is on disk, and not before")
    func held() throws {
        var (road, id) = joined()
        var core = try #require(road.nodes["Ana"]?.core)
        let (sending, actions) = core.send([1], as: .reliable, to: car)
        road.nodes["Ana"]?.core = core
        #expect(sending == .queued(number: 1))
        #expect(actions.isEmpty)
        road.send("two", from: "Ana", to: "Car")
        road.settle()
        #expect(road.messages(at: "Car").isEmpty)
        #expect(try conversation(road).waiting == 0)
        #expect(try conversation(road).held == 2)
        #expect(store(1, &road) == [.wake(id)])
        #expect(try conversation(road).waiting == 1)
        road.settle()
        #expect(road.messages(at: "Car").map(\.number) == [1])
        #expect(store(2, &road) == [.wake(id)])
        road.settle()
        #expect(road.messages(at: "Car").map(\.number) == [1, 2])
        #expect(try conversation(road).unacknowledged == 0)
    }

    @Test("A report of storage that is repeated, late or for an unknown peer changes nothing")
    func toldTwice() throws {
        var (road, id) = joined()
        road.send("one", from: "Ana", to: "Car")
        #expect(store(5, &road) == [.wake(id)])
        #expect(store(1, &road).isEmpty)
        #expect(
            road.nodes["Ana"]?.core.stored(upTo: 1, for: ConversationKey("nobody", as: .initiator, .democracyDJ)) == [])
        // A later message is not on disk just because a greater number was reported earlier.
        road.send("two", from: "Ana", to: "Car")
        road.settle()
        #expect(road.texts(at: "Car") == ["one"])
        #expect(try conversation(road).held == 1)
    }

    @Test("A state update is sent without waiting for the disk")
    func latest() {
        var (road, _) = joined()
        road.send("held", from: "Car", to: "Ana")
        road.send("state", from: "Car", to: "Ana", as: .latest)
        road.settle()
        #expect(road.texts(at: "Ana") == ["state"])
    }

    @Test("Messages held at a link's end are held on the next one too, and stored ones are sent again")
    func resumes() throws {
        var (road, first) = joined()
        for text in ["one", "two", "three"] { road.send(text, from: "Ana", to: "Car") }
        _ = store(2, &road)
        road.pull("Ana", first)
        road.cut(first)
        let second = road.dial()
        road.settle()
        #expect(road.texts(at: "Car") == ["one", "two"])
        #expect(try conversation(road).resent == 2)
        #expect(try conversation(road).resumption.first == 3)
        #expect(store(3, &road) == [.wake(second)])
        road.settle()
        #expect(road.texts(at: "Car") == ["one", "two", "three"])
        #expect(try conversation(road).resent == 2)
        #expect(road.nodes.values.allSatisfy { $0.core.misbehaviours.isEmpty })
    }

    @Test("Messages stored without a link are sent on the next one")
    func storedInAGap() {
        var (road, first) = joined()
        road.cut(first)
        road.send("one", from: "Ana", to: "Car")
        #expect(store(1, &road).isEmpty)
        road.dial()
        road.settle()
        #expect(road.texts(at: "Car") == ["one"])
    }

    @Test("Messages restored from disk may be sent")
    func restored() {
        var (road, first) = joined()
        road.cut(first)
        road.send("one", from: "Ana", to: "Car")
        road.add("Ana", seed: 2, remembered: road.nodes["Ana"]?.core.remembered ?? [:], holdsUntilStored: true)
        road.send("two", from: "Ana", to: "Car")
        road.dial()
        road.settle()
        #expect(road.texts(at: "Car") == ["one"])
        _ = store(2, &road)
        road.settle()
        #expect(road.texts(at: "Car") == ["one", "two"])
    }

    @Test("Messages that a full disk refused are withdrawn, and their numbers are free")
    func withdrawn() throws {
        var (road, _) = joined()
        road.send("one", from: "Ana", to: "Car")
        _ = store(1, &road)
        road.send("lost", from: "Ana", to: "Car")
        road.send("lost too", from: "Ana", to: "Car")
        let before = try conversation(road).unacknowledgedBytes
        #expect(before == 15)
        #expect(road.nodes["Ana"]?.core.withdrawHeld(for: car) == 2)
        #expect(try conversation(road).unacknowledgedBytes == 3)
        #expect(road.send("two", from: "Ana", to: "Car") == .queued(number: 2))
        _ = store(2, &road)
        road.settle()
        #expect(road.texts(at: "Car") == ["one", "two"])
        // Stored messages are not withdrawn.
        #expect(road.nodes["Ana"]?.core.withdrawHeld(for: car) == 0)
        #expect(road.nodes["Ana"]?.core.withdrawHeld(for: ConversationKey("nobody", as: .initiator, .democracyDJ)) == 0)
    }

    @Test("Messages withdrawn in a gap are not sent on the next link")
    func withdrawnInAGap() throws {
        var (road, first) = joined()
        road.send("one", from: "Ana", to: "Car")
        _ = store(1, &road)
        road.settle()
        road.cut(first)
        road.send("lost", from: "Ana", to: "Car")
        let second = road.dial()
        road.step(second)
        road.nodes["Ana"]?.core.withdrawHeld(for: car)
        road.settle()
        road.send("two", from: "Ana", to: "Car")
        _ = store(2, &road)
        road.settle()
        #expect(road.texts(at: "Car") == ["one", "two"])
        #expect(road.nodes.values.allSatisfy { $0.core.misbehaviours.isEmpty })
    }

    @Test("After a disk was restored, messages that the peer already has are neither held, sent nor withdrawn")
    func putBack() throws {
        let restored = Conversation(restoring: Conversation(epoch: 1).durable, holdsUntilStored: true)
        var conversation = try #require(restored)
        _ = conversation.send([1], as: .reliable)
        conversation.begin(with: Resumption(epoch: 2, first: 1, theirEpoch: 1, delivered: 5))
        #expect(conversation.held == 0)
        #expect(conversation.waiting == 0)
        let withdrawn = conversation.withdrawHeld()
        #expect(withdrawn == 0)
        let sending = conversation.send([2], as: .reliable)
        #expect(sending == .queued(number: 6))
        #expect(conversation.held == 1)
        let early = conversation.nextReliable()
        #expect(early == nil)
        #expect(conversation.acknowledge(upTo: 6) == .impossible)
    }

    @Test("A peer that a node forgets to make room is reported, so that the disk can forget it too")
    func forgotten() {
        var road = Road(guests: [])
        var keys: [ConversationKey] = []
        for number in 0...Limits.conversations {
            road.advance(by: .seconds(1))
            let name = "Guest \(number)"
            let key = [9, UInt8(number & 255), UInt8(number >> 8)] + [UInt8](repeating: 9, count: 29)
            road.nodes[name] = Road.Node(
                core: MeshCore(identity: Identity(stored: key) ?? .make(), name: name, service: .democracyDJ))
            keys.append(road.key("Car", with: name))
            #expect(road.nodes["Car"]?.forgotten == [])
            let id = road.dial(name)
            road.settle()
            road.cut(id)
            road.nodes[name] = nil
        }
        #expect(road.nodes["Car"]?.forgotten == [keys[0]])
        #expect(road.nodes["Car"]?.core.remembered(keys[0]) == nil)
        #expect(road.nodes["Car"]?.core.remembered(keys[1]) == road.nodes["Car"]?.core.remembered[keys[1]])
    }
}
