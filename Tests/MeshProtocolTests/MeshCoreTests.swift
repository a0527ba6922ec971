// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("A node's protocol")
struct MeshCoreTests {
    @Test("A stranger joins, and each side knows the other by the key that was proved")
    func strangerJoins() {
        var road = Road()
        road.dial()
        road.settle()
        #expect(road.nodes["Ana"]?.events.first == .connected(Peer(id: road.id("Car"), name: "Car")))
        let ana = Peer(id: road.id("Ana"), name: "Ana")
        #expect(road.nodes["Car"]?.events.prefix(2) == [.admitted(ana), .connected(ana)])
    }

    @Test("A known host is joined in one round trip, with at most 320 bytes")
    func knownHost() {
        var road = Road()
        road.cut(road.joined())
        let id = road.dial()
        var bytes = 0
        road.pull("Ana", id)
        bytes += road.wires[id]?.toHost.reduce(0) { $0 + $1.count + 2 } ?? 0
        road.step(id)
        #expect(!road.isConnected("Ana", to: "Car"))
        road.pull("Car", id)
        bytes += road.wires[id]?.toGuest.reduce(0) { $0 + $1.count + 2 } ?? 0
        road.step(id)
        #expect(road.isConnected("Ana", to: "Car"))
        road.pull("Ana", id)
        bytes += road.wires[id]?.toHost.reduce(0) { $0 + $1.count + 2 } ?? 0
        road.settle()
        #expect(road.isConnected("Car", to: "Ana"))
        #expect(bytes <= 320)
    }

    @Test("A vote of sixteen characters takes at most 48 bytes of the channel, its acknowledgement 24")
    func smallMessages() throws {
        var road = Road()
        let id = road.joined()
        // The size of a vote's body in Protocol Buffers, which `DemocracyDJTests` measures.
        road.send([UInt8](repeating: 7, count: 24), from: "Ana", to: "Car")
        road.pull("Ana", id)
        #expect(try #require(road.wires[id]?.toHost.first).count + 2 <= 48)
        road.step(id)
        road.pull("Car", id)
        #expect(try #require(road.wires[id]?.toGuest.first).count + 2 <= 24)
    }

    @Test("Votes cast in a gap arrive once, in order, on the next link")
    func gap() {
        var road = Road()
        let first = road.joined()
        road.send("one", from: "Ana", to: "Car")
        road.settle()
        road.send("two", from: "Ana", to: "Car")
        road.pull("Ana", first)
        road.cut(first)
        road.send("three", from: "Ana", to: "Car")
        road.dial()
        road.settle()
        #expect(road.texts(at: "Car") == ["one", "two", "three"])
        let conversation = road.conversation("Ana", with: "Car")
        #expect(conversation?.unacknowledged == 0)
        #expect(conversation?.resent == 1)
    }

    @Test("A vote whose acknowledgement was lost is not counted twice")
    func lostAcknowledgement() {
        var road = Road()
        let first = road.joined()
        road.send("one", from: "Ana", to: "Car")
        road.pull("Ana", first)
        let sdus = road.wires[first]?.toHost ?? []
        for sdu in sdus { road.give(sdu, to: "Car", on: first) }
        road.cut(first)
        road.send("two", from: "Ana", to: "Car")
        road.dial()
        road.settle()
        #expect(road.texts(at: "Car") == ["one", "two"])
        // The host's hello has reported the last number, so the bytes were not sent again either.
        #expect(road.conversation("Ana", with: "Car")?.resent == 0)
    }

    @Test("Messages that a host has not stored when it dies are sent again")
    func hostDies() {
        var road = Road()
        let first = road.joined()
        road.nodes["Car"]?.acceptsByItself = false
        road.send("one", from: "Ana", to: "Car")
        road.settle()
        let stored = road.nodes["Car"]?.core.remembered ?? [:]
        road.cut(first)
        road.add("Car", seed: 1, remembered: stored)
        road.dial()
        road.settle()
        #expect(road.texts(at: "Car") == ["one"])
        #expect(road.conversation("Ana", with: "Car")?.unacknowledged == 0)
    }

    @Test("A guest that has lost its state is heard from its first message on")
    func guestForgets() {
        var road = Road()
        let first = road.joined()
        for number in 1...5 { road.send("old \(number)", from: "Ana", to: "Car") }
        road.settle()
        road.cut(first)
        road.add("Ana", seed: 2)
        road.dial()
        road.settle()
        road.send("new", from: "Ana", to: "Car")
        road.settle()
        #expect(road.texts(at: "Car").last == "new")
    }

    @Test("A guest that returns before its old link has timed out replaces that link, and loses nothing")
    func replaced() {
        var road = Road()
        let first = road.joined()
        road.send("one", from: "Ana", to: "Car")
        road.settle()
        // Only the guest has noticed the link's end.
        road.act("Ana", on: first) { $0.channelClosed(first) }
        road.wires[first] = nil
        road.send("two", from: "Ana", to: "Car")
        let second = road.dial()
        road.settle()
        #expect(road.nodes["Car"]?.ends[first] == .replaced)
        #expect(road.nodes["Car"]?.core.link(to: road.id("Ana")) == second)
        #expect(road.texts(at: "Car") == ["one", "two"])
    }

    @Test("Late data of a link that a guest has given up does not replace its newer link")
    func late() {
        var road = Road()
        road.cut(road.joined())
        let first = road.dial()
        for _ in 0..<2 { road.step(first) }
        road.pull("Ana", first)
        let record = road.wires[first]?.toHost ?? []
        #expect(!record.isEmpty && !road.isConnected("Car", to: "Ana"))
        road.act("Ana", on: first) { $0.channelClosed(first) }
        road.wires[first] = nil
        let second = road.dial()
        road.settle()
        for sdu in record { road.give(sdu, to: "Car", on: first) }
        #expect(road.nodes["Car"]?.ends[first] == .replaced)
        #expect(road.nodes["Car"]?.core.link(to: road.id("Ana")) == second)
        road.send("one", from: "Ana", to: "Car")
        road.settle()
        #expect(road.texts(at: "Car") == ["one"])
    }

    @Test("A vote overtakes a long snapshot that is being sent")
    func voteOvertakes() {
        var road = Road()
        let id = road.joined()
        road.send([UInt8](repeating: 1, count: 60_000), from: "Car", to: "Ana", as: .latest)
        let first = road.nodes["Car"]?.core.nextSDU(for: id, limit: Limits.sduBytes)
        road.give(first?.sdu ?? [], to: "Ana", on: id)
        road.send("vote", from: "Car", to: "Ana")
        let second = road.nodes["Car"]?.core.nextSDU(for: id, limit: Limits.sduBytes)
        road.give(second?.sdu ?? [], to: "Ana", on: id)
        #expect(road.texts(at: "Ana") == ["vote"])
        road.settle()
        #expect(road.texts(at: "Ana").count == 2)
    }

    @Test("Only the newest state update is queued, none is queued without a link, and its departure is reported")
    func latest() {
        var road = Road()
        #expect(road.send("early", from: "Car", to: "Ana", as: .latest) == .noLink)
        let id = road.joined()
        road.send("one", from: "Car", to: "Ana", as: .latest)
        road.send("two", from: "Car", to: "Ana", as: .latest)
        road.settle()
        #expect(road.texts(at: "Ana") == ["two"])
        #expect(road.nodes["Car"]?.events.last == .latestHasLeft)
        road.send("three", from: "Car", to: "Ana", as: .latest)
        road.cut(id)
        road.dial()
        road.settle()
        #expect(road.texts(at: "Ana") == ["two"])
        road.send("four", from: "Car", to: "Ana", as: .latest)
        road.settle()
        #expect(road.texts(at: "Ana") == ["two", "four"])
    }

    @Test("The host gives the reason of a refusal: the guest was banned, or the host is full")
    func refusals() {
        var road = Road(guests: ["Ana"] + (1...Limits.guests).map { "Guest \($0)" })
        let first = road.joined()
        road.act("Car", on: first) { [id = road.id("Ana")] in
            $0.banned.insert(id)
            return $0.sendAway(id, .banned)
        }
        road.settle()
        #expect(road.nodes["Ana"]?.ends[first] == .refused(.banned))
        let again = road.dial()
        road.settle()
        #expect(road.nodes["Ana"]?.ends[again] == .refused(.banned))
        for number in 1...Limits.guests {
            road.dial("Guest \(number)")
            road.settle()
        }
        road.add("Late", seed: 99)
        let late = road.dial("Late")
        road.settle()
        #expect(road.nodes["Late"]?.ends[late] == .refused(.full))
    }

    @Test("A guest with an insufficient channel learns the reason, as a stranger and when known, and never joins")
    func refusedForItsChannel() {
        var road = Road()
        for _ in 0..<2 {
            let refused = road.dial(refusal: .bond)
            road.settle()
            #expect(road.nodes["Ana"]?.ends[refused] == .refused(.bond))
            #expect(!road.isConnected("Ana", to: "Car"))
            // Its next channel is sufficient, and then the guest is known.
            let friend = road.joined()
            road.act("Ana", on: friend) { $0.leave(friend) }
            road.settle()
        }
    }

    @Test("A quiet link takes three SDUs a second, and a host pings all its guests at the same time")
    func quiet() {
        var road = Road(guests: ["Ana", "Bob", "Cem"])
        for guest in ["Ana", "Bob", "Cem"] {
            road.dial(guest)
            road.settle()
            road.advance(by: .milliseconds(337))
        }
        road.advance(by: .seconds(5))
        road.arrivals = []
        road.advance(by: .seconds(10))
        #expect(road.arrivals.count == 3 * 3 * 10)
        #expect(Set(road.arrivals).count == 10)
    }

    @Test("Over a broker a quiet link takes two SDUs every ten seconds, and a third every eighty")
    func metered() {
        var road = Road()
        let id = road.dial(over: .broker)
        road.settle()
        road.advance(by: .seconds(85))
        road.arrivals = []
        road.advance(by: .seconds(160))
        #expect(road.arrivals.count == 2 * 16 + 2)
        road.wires[id]?.isCut = true
        road.advance(by: .seconds(33))
        #expect(road.nodes["Ana"]?.ends[id] == .silent && road.nodes["Car"]?.ends[id] == .silent)
    }

    @Test("A hanging peer is detected within three seconds, by a guest soon after, and a peer that answers is kept")
    func silence() {
        var road = Road()
        let id = road.joined()
        road.advance(by: .seconds(60))
        #expect(road.isConnected("Ana", to: "Car"))
        road.wires[id]?.isCut = true
        road.advance(by: .seconds(3))
        #expect(road.nodes["Car"]?.ends[id] == .silent)
        road.advance(by: .milliseconds(250))
        #expect(road.nodes["Ana"]?.ends[id] == .silent)
    }

    @Test("A goodbye is reported as one, not as a lost link")
    func goodbye() {
        var road = Road()
        let id = road.joined()
        road.act("Car", on: id) { $0.leave(id) }
        road.settle()
        #expect(road.nodes["Ana"]?.ends[id] == .goodbye())
    }

    @Test("A goodbye may state what happens to the sender's session", arguments: GoodbyeReason.allCases)
    func goodbye(reason: GoodbyeReason) {
        var road = Road()
        let id = road.joined()
        road.act("Car", on: id) { $0.leave(id, saying: reason) }
        road.settle()
        #expect(road.nodes["Ana"]?.ends[id] == .goodbye(reason))
    }

    @Test(
        "A goodbye without a reason, or with one of a later version, is a goodbye",
        arguments: [([6, 0], .unspecified), ([6, 1, 99], .unspecified), ([6, 3, 1, 7, 7], .stopped)]
            as [([UInt8], GoodbyeReason)])
    func otherGoodbyes(bytes: [UInt8], reason: GoodbyeReason) {
        var reader = FrameReader(bytes[...])
        #expect(reader.next() == .frame(.goodbye(reason)))
        #expect(reader.next() == nil)
    }

    @Test("A host that has lost its disk starts a new conversation with a guest that knows it")
    func hostForgets() {
        var road = Road()
        road.cut(road.joined())
        road.add("Car", seed: 1)
        road.send("one", from: "Ana", to: "Car")
        road.dial()
        road.settle()
        #expect(road.texts(at: "Car") == ["one"])
    }

    @Test("Peers that were met long ago are forgotten first, linked peers never")
    func forgetting() {
        var road = Road(guests: [])
        road.add("Ana", seed: 2)
        road.dial()
        road.settle()
        for number in 0..<Limits.conversations {
            road.advance(by: .seconds(1))
            var key = [UInt8](repeating: 3, count: 32)
            key[1] = UInt8(number & 255)
            key[2] = UInt8(number >> 8)
            let name = "Guest \(number)"
            road.nodes[name] = Road.Node(
                core: MeshCore(identity: Identity(stored: key) ?? .make(), name: name, service: .democracyDJ))
            let id = road.dial(name)
            road.settle()
            road.cut(id)
            road.nodes[name] = nil
        }
        #expect(road.nodes["Car"]?.core.remembered.count == Limits.conversations)
        #expect(road.conversation("Car", with: "Ana") != nil)
    }

    @Test("Hundreds of new identities do not displace a known guest, however long it was away")
    func cheapIdentities() {
        var road = Road()
        let id = road.joined()
        road.send("one", from: "Ana", to: "Car")
        road.settle()
        road.cut(id)
        for number in 0..<Limits.conversations {
            road.advance(by: .seconds(1))
            let key = [9, UInt8(number & 255), UInt8(number >> 8)] + [UInt8](repeating: 9, count: 29)
            road.nodes["Nobody"] = Road.Node(
                core: MeshCore(identity: Identity(stored: key) ?? .make(), name: "Nobody", service: .democracyDJ))
            let id = road.dial("Nobody")
            road.settle()
            road.cut(id)
        }
        #expect(road.nodes["Car"]?.core.remembered.count == Limits.conversations)
        #expect(road.conversation("Car", with: "Ana") != nil)
    }

    @Test("The queues of all peers together have a limit")
    func allOutboxes() {
        var road = Road(guests: (1...9).map { "Guest \($0)" })
        for number in 1...9 {
            let guest = "Guest \(number)"
            let id = road.dial(guest)
            road.settle()
            road.cut(id)
            for _ in 0..<16 { road.send([UInt8](repeating: 1, count: 65_535), from: "Car", to: guest) }
        }
        let car = road.nodes["Car"]?.core
        let waiting = car?.remembered.keys.compactMap { car?.conversation($0)?.unacknowledgedBytes } ?? []
        #expect(waiting.max() ?? 0 <= Limits.outboxBytes)
        #expect(waiting.reduce(0, +) <= Limits.allOutboxBytes)
        #expect(waiting.reduce(0, +) > Limits.allOutboxBytes - 65_536)
    }

    @Test("Impossible entries on a disk are ignored, and the others are kept")
    func brokenMemory() throws {
        var road = Road()
        road.cut(road.joined())
        var remembered = try #require(road.nodes["Ana"]?.core.remembered)
        let car = road.key("Ana", with: "Car")
        let whole = try #require(remembered[car])
        for change in [
            { (durable: inout Conversation.Durable) in durable.epoch = 0 },
            { $0.outbox = [[1]] },
            { $0.accepted = .max },
            { $0.lastNumber = .max },
        ] {
            var broken = whole
            change(&broken.conversation)
            remembered[car] = broken
            road.add("Ana", seed: 2, remembered: remembered)
            #expect(road.nodes["Ana"]?.core.remembered.isEmpty == true)
        }
    }

    @Test("A message that the host stores while its guest reconnects is acknowledged on the new link")
    func acceptedMeanwhile() throws {
        var road = Road()
        let first = road.joined()
        road.nodes["Car"]?.acceptsByItself = false
        road.send("one", from: "Ana", to: "Car")
        road.settle()
        // The host has not noticed the link's end yet, and answers on the new link before the vote is on its disk.
        road.act("Ana", on: first) { $0.channelClosed(first) }
        road.wires[first] = nil
        let second = road.dial()
        road.step(second)
        let vote = try #require(road.messages(at: "Car").first)
        road.act("Car", on: second) { $0.accept(upTo: vote) }
        road.settle()
        #expect(road.texts(at: "Car") == ["one"])
        #expect(road.conversation("Ana", with: "Car")?.unacknowledged == 0)
    }

    @Test("An earlier vote with the same number does not confirm a vote, if the guest has lost its disk between them")
    func acceptedTooLate() throws {
        var road = Road()
        let first = road.joined()
        road.nodes["Car"]?.acceptsByItself = false
        road.send("one", from: "Ana", to: "Car")
        road.settle()
        let one = try #require(road.messages(at: "Car").last)
        // Ana's box loses its disk while the host stores her vote, and gives her next vote the same number.
        road.cut(first)
        road.add("Ana", seed: 2)
        let second = road.dial()
        road.settle()
        road.send("two", from: "Ana", to: "Car")
        road.settle()
        let two = try #require(road.messages(at: "Car").last)
        #expect(one.number == two.number)
        road.act("Car", on: second) { $0.accept(upTo: one) }
        road.settle()
        #expect(road.conversation("Ana", with: "Car")?.unacknowledged == 1)
        road.act("Car", on: second) { $0.accept(upTo: two) }
        road.settle()
        #expect(road.conversation("Ana", with: "Car")?.unacknowledged == 0)
    }
}
