// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import MeshProtocol

@Suite("Two nodes with more than one conversation")
struct ConversationKeyTests {
    @Test("A guest's messages to its host stay queued for the host, and are not sent to the same node as its guest")
    func roles() {
        var road = Road()
        road.cut(road.joined())
        road.send("a vote", from: "Ana", to: "Car")
        // The car joins Ana as a guest, since Ana hosts now.
        let visit = road.dial("Car", "Ana")
        road.settle()
        #expect(road.isConnected("Car", to: "Ana") && road.texts(at: "Car").isEmpty)
        road.cut(visit)
        _ = road.joined()
        #expect(road.texts(at: "Car") == ["a vote"])
    }

    @Test("Messages of one service stay queued for it, and are not sent in another between the same two nodes")
    func services() throws {
        var road = Road()
        road.cut(road.joined())
        road.send("a vote", from: "Ana", to: "Car")
        var disks: [String: [ConversationKey: MeshCore.Remembered]] = [:]
        for service in [try ServiceType("chess"), .democracyDJ] {
            for (name, seed) in [("Car", UInt8(1)), ("Ana", 2)] {
                let node = try #require(road.nodes[name])
                disks[name, default: [:]].merge(node.core.remembered) { $1 }
                road.add(name, seed: seed, service: service, remembered: disks[name] ?? [:])
            }
            road.cut(road.joined())
            #expect(road.texts(at: "Car") == (service == .democracyDJ ? ["a vote"] : []))
        }
    }

    @Test("Stored conversations are read again, and a service type in them is checked")
    func stored() throws {
        var road = Road()
        road.cut(road.joined())
        let remembered = try #require(road.nodes["Ana"]?.core.remembered)
        let bytes = try JSONEncoder().encode(remembered)
        #expect(try JSONDecoder().decode([ConversationKey: MeshCore.Remembered].self, from: bytes) == remembered)
        let broken = Data(String(decoding: bytes, as: UTF8.self).replacing("democracy-dj", with: "Democracy DJ").utf8)
        #expect(throws: ServiceType.Problem.self) {
            try JSONDecoder().decode([ConversationKey: MeshCore.Remembered].self, from: broken)
        }
    }
}
