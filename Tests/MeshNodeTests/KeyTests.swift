// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

/// Keys that differ from what people expect.
@Suite("Hosts with another key, and keys of two nodes")
struct KeyTests {
    /// A guest that has joined a host before.
    struct Guest {
        var core: NodeCore
        let host: Identity
        var shown: [NodeEvent] = []
        var forgotten: [ConversationKey] = []
        private var dial: Int?
        private var link = 0
        private var now: MeshInstant = .zero

        init() throws {
            host = try #require(Identity(stored: [UInt8](repeating: 1, count: Identity.storedBytes)))
            let ana = try #require(Identity(stored: [UInt8](repeating: 2, count: Identity.storedBytes)))
            let conversation = Conversation.Durable(epoch: 1, lastNumber: 0, outbox: [], theirEpoch: 0, accepted: 0)
            let joined = MeshCore.Remembered(publicKey: host.publicKey, conversation: conversation)
            core = NodeCore(
                NodeCore.Configuration(
                    .guest(wanted: nil),
                    NodeDescription(
                        role: .guest, peer: Peer(id: ana.peerID, name: "Ana"), radio: "none", service: .democracyDJ),
                    identity: ana,
                    contents: StoredNode(
                        remembered: [ConversationKey(host.peerID, as: .initiator, .democracyDJ): joined]),
                    origin: ContinuousClock().now, seed: 7))
            feed(.started)
        }

        var head: Peer { Peer(id: Identity.head(of: host.peerID), name: "Car") }

        var notices: [String] { shown.compactMap { if case .notice(let notice) = $0 { notice.code } else { nil } } }

        /// The host is heard and dialled, and a channel opens. Returns the guest's first packet.
        mutating func dialled() throws -> HandshakePacket {
            now += .seconds(10)
            feed(.tick)
            feed(.heard(HeardNode(head)))
            let number = try #require(dial)
            dial = nil
            link += 1
            let entropy = MeshCore.Entropy([UInt8](repeating: UInt8(link), count: MeshCore.Entropy.byteCount))
            feed(
                .opened(
                    link,
                    NodeCore.Opening(
                        .initiator, sendMTU: Limits.sduBytes, dial: number, expected: head.id, entropy: entropy)))
            let first = core.nextSDU(for: link, limit: Limits.sduBytes, now: now)
            let sdu = try #require(first?.0)
            let packet = HandshakePacket(sdu[...])
            return try #require(packet)
        }

        mutating func hear(_ packet: HandshakePacket) {
            feed(.received(packet.bytes, on: link))
            feed(.channelClosed(link))
        }

        mutating func feed(_ event: NodeCore.Event) {
            for action in core.handle(event, now: now) {
                switch action {
                case .write(let batch):
                    forgotten += batch.forgotten
                    feed(.written)
                case .dial(let number, _, _): dial = number
                case .show(let event): shown.append(event)
                default: break
                }
            }
        }
    }

    @Test("a guest is notified if its host proves another key, and forgets the old key only when its person confirms")
    func changed() throws {
        var guest = try Guest()
        let first = try guest.dialled()
        guard case .knownHello = first else { return #expect(Bool(false), "it does not know its host") }
        guest.hear(.clearRefusal(major: ProtocolVersion.major, .unknownKey))
        #expect(guest.notices == ["hostKeyChanged"])
        let second = try guest.dialled()
        guard case .knownHello = second else {
            return #expect(Bool(false), "its person has not allowed it to forget the key")
        }
        guest.hear(.clearRefusal(major: ProtocolVersion.major, .unknownKey))
        #expect(guest.notices == ["hostKeyChanged"], "the notice is shown once")
        #expect(guest.forgotten == [], "its person has not allowed it to forget the key")
        guest.feed(.input(.retry))
        #expect(guest.forgotten == [ConversationKey(guest.host.peerID, as: .initiator, .democracyDJ)])
        let third = try guest.dialled()
        guard case .unknownHello = third else { return #expect(Bool(false), "the old key is still in the way") }
    }

    @Test("a guest that leaves and looks for a host again forgets no key")
    func leaves() throws {
        var guest = try Guest()
        _ = try guest.dialled()
        guest.hear(.clearRefusal(major: ProtocolVersion.major, .unknownKey))
        guest.feed(.input(.leave))
        guest.feed(.input(.retry))
        #expect(guest.forgotten == [])
        let again = try guest.dialled()
        guard case .knownHello = again else {
            return #expect(Bool(false), "its person has not allowed it to forget the key")
        }
    }

    @Test("a guest joins the host that was named: by its name, its first digits or its full identifier")
    func wantedHost() throws {
        let car = try PairOfCores().cores[0].mesh.local
        for wanted in [car.name, String(car.id.prefix(12)), car.id, car.id.uppercased()] {
            var pair = try PairOfCores(wanted: wanted)
            pair.meet()
            #expect(pair.present == ["Ana"] && pair.notices(at: .guest) == [], "\(wanted)")
        }
    }

    @Test("a guest leaves a host that proves not to be the named one, and sends nothing to it")
    func anotherHost() throws {
        let car = try PairOfCores().cores[0].mesh.local
        let (head, rest) = (Identity.head(of: car.id), car.id.dropFirst(Identity.headDigits))
        let digit = rest.hasPrefix("0") ? "1" : "0"
        // A key that begins like the wanted one, and a host that advertises another's name.
        let identifier = head + String(repeating: digit, count: rest.count)
        for (wanted, name) in [(identifier, car.name), (head + digit, car.name), ("Dad's Car", "Dad's Car")] {
            var pair = try PairOfCores(wanted: wanted)
            pair.feed(.input(.guest(.vote("s2"))), to: .guest)
            pair.meet(as: name)
            #expect(pair.dials(of: .guest) == 1, "\(wanted): from afar it may be the one")
            #expect(pair.present == [] && pair.cores.allSatisfy { $0.mesh.connectedPeers.isEmpty }, "\(wanted)")
            pair.feed(.input(.guest(.vote("s3"))), to: .guest)
            #expect(pair.wishes == [.queued, .queued] && pair.votes(for: "s2", at: .host) == 0, "\(wanted)")
            let isShown = pair.shown[1].contains { if case .peerConnected = $0 { true } else { false } }
            #expect(!isShown && pair.cores[1].app.guest?.state.host == nil, "\(wanted)")
            #expect(pair.stored[1].remembered.isEmpty, "\(wanted): it is not a joined host")
            #expect(pair.cores[1].mesh.joined(withHead: head) == [], "\(wanted): nor is it pinned")
        }
    }

    @Test("a host notifies its people of two nodes with one identity")
    func twins() throws {
        var car = try Crowd()
        for _ in 0...Limits.replacements { try car.join(2, name: "Ana") }
        #expect(car.notices == ["twins"])
        #expect(car.guests.suffix(2).map(\.ends) == [[.refused(.twin)], [.refused(.twin)]])
    }

    @Test("a half-open link ends in time during a disk failure, and uses no processor time")
    func halfOpen() throws {
        var car = try Crowd()
        let ana = try car.join(2, name: "Ana")
        car.disk = .hangs
        car.say(.intent(.vote(songID: "s2")), ana)
        car.settle()
        let entropy = MeshCore.Entropy([UInt8](repeating: 99, count: MeshCore.Entropy.byteCount))
        car.feed(.opened(99, NodeCore.Opening(.responder, sendMTU: Limits.sduBytes, entropy: entropy)))
        let ticks = car.ticks
        car.pass(Limits.handshakeTimeout)
        #expect(car.ticks - ticks < 20)
        #expect(!car.host.mesh.allLinks.contains(99))
    }
}
