// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("The loop of a node")
struct NodeLoopTests {
    private static let car = Peer(id: String(repeating: "c1", count: 16), name: "Car")
    private static let ana = Peer(id: String(repeating: "a1", count: 16), name: "Ana")

    /// A host whose disk takes every write.
    private struct Host {
        var loop: NodeLoop
        private(set) var performed: [NodeCore.Action] = []

        init(waking: NodeLoop.Waking = .last, lastLink: MeshCore.LinkID = 0) throws {
            let identity = try #require(Identity(stored: [UInt8](repeating: 1, count: Identity.storedBytes)))
            let songs = (1...3).map { Song(id: "s\($0)", title: "Song \($0)", artist: "A", duration: 3_600) }
            loop = NodeLoop(
                NodeCore.Configuration(
                    .host(Hosting(SongLibrary(songs), wallClockSeconds: 1_000)),
                    NodeDescription(role: .host, peer: car, radio: "none", service: .democracyDJ),
                    identity: identity, contents: StoredNode(), origin: ContinuousClock().now, seed: 7),
                waking: waking, lastLink: lastLink)
            take(.started)
        }

        static var entropy: MeshCore.Entropy {
            MeshCore.Entropy([UInt8](repeating: 1, count: MeshCore.Entropy.byteCount))
        }

        mutating func take(_ event: NodeCore.Event) {
            loop.take(event, now: .zero)
            perform()
        }

        /// A channel opens, as the first or the second side of a link.
        mutating func open(_ role: LinkRole) -> MeshCore.LinkID {
            loop.open(NodeCore.Opening(role, sendMTU: Limits.sduBytes, entropy: Self.entropy), now: .zero)
        }

        mutating func perform() {
            while let action = loop.next(now: .zero, entropy: Self.entropy) {
                performed.append(action)
                switch action {
                case .write where !loop.hasEnded: loop.take(.written, now: .zero)
                case .wake(let id): while loop.nextSDU(for: id, limit: Limits.sduBytes, now: .zero) != nil {}
                default: break
                }
            }
        }
    }

    @Test("a link's number is never used twice, whether it has a channel or a bearer vouches for its peer")
    func numbers() throws {
        var host = try Host(lastLink: 7)
        let links = [host.open(.responder), host.loop.join(Self.ana, now: .zero).link, host.open(.responder)]
        #expect(links == [8, 9, 10])
        #expect(host.loop.lastLink == 10)
    }

    @Test("a peer that the node bans learns the reason when it joins again")
    func refused() throws {
        var host = try Host()
        let first = host.loop.join(Self.ana, now: .zero)
        host.perform()
        host.take(.input(.host(.kick(Self.ana.id))))
        let second = host.loop.join(Self.ana, now: .zero)
        #expect(first.refusal == nil)
        #expect(second.refusal == .banned)
    }

    @Test("data leave after all other actions, and in their order for surroundings that send later")
    func wakes() throws {
        for waking in [NodeLoop.Waking.last, .inOrder] {
            var host = try Host(waking: waking)
            let before = host.performed.count
            // It sends the first packet of a handshake.
            let id = host.open(.initiator)
            _ = host.loop.join(Self.ana, now: .zero)
            host.perform()
            let after = host.performed.dropFirst(before)
            let wakes = after.indices.filter { if case .wake(id) = after[$0] { true } else { false } }
            let last = try #require(after.indices.last { if case .wake = after[$0] { false } else { true } })
            let first = try #require(wakes.first)
            #expect(waking == .last ? first > last && wakes.count == 1 : first < last)
        }
    }

    @Test("a node that has ended writes its last state and processes only the rest of its links")
    func ends() throws {
        var host = try Host()
        host.take(.end)
        guard case .write? = host.performed.last(where: { if case .write = $0 { true } else { false } }) else {
            return #expect(Bool(false), "the last state is not written")
        }
        #expect(host.loop.hasEnded)
        let after = host.performed.count
        let taken = [.input(.retry), .tick, .channelClosed(1)].map { (event: NodeCore.Event) in
            host.loop.take(event, now: .zero)
        }
        #expect(taken == [false, false, true])
        host.perform()
        #expect(host.performed.count == after)
    }
}
