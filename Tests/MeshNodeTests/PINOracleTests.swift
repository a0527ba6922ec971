// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import TestSupport
import Testing

@testable import MeshProtocol
@testable import NodeCore

/// A fake host receives a guest's tag, checks one guess with it, and closes the link.
@Suite("A guest that could confirm guesses of its PIN")
struct PINOracleTests {
    @Test(
        "in a day, at any pace, over any number of fake hosts and restarts, five guesses can be checked, with a notice",
        arguments: [.milliseconds(500), .seconds(2), .seconds(15), .seconds(60), .seconds(200)] as [Duration],
        [1, 40] as [UInt8])
    func day(pace: Duration, keys: UInt8) throws {
        var street = try Street()
        street.say(.pin(Street.pin))
        var round = 0
        while street.now < .seconds(86_400), street.guesses <= 450 {
            street.hears(UInt8(100 + round % Int(keys)))
            // After this many rounds, one a minute for the rest of the day, to save minutes of computing.
            street.pass(round < 1_000 ? pace : max(pace, .seconds(60)))
            round += 1
            if round.isMultiple(of: 250) { street.restart() }
        }
        #expect(street.guesses == Limits.unansweredProofs)
        #expect(street.told.contains("pinAtRisk"))
    }

    @Test("Retry, or typing the same PIN again, allows one more guess each, and another PIN has its own count")
    func retry() throws {
        var street = try Street()
        street.say(.pin(Street.pin))
        street.walk(20)
        #expect(street.guesses == 5)
        for input in [NodeInput.retry, .pin(Street.pin)] {
            street.say(input)
            let before = street.guesses
            street.walk(20)
            #expect(street.guesses == before + 1)
        }
        street.say(.pin(JoiningSecret(pin: "161803")))
        street.walk(20)
        #expect(street.guesses == 12)
    }

    @Test("a host that knows the PIN resets the count, and strangers get no guess after it")
    func rightHost() throws {
        var street = try Street()
        street.say(.pin(Street.pin))
        street.walk(4)
        street.hears(1, knows: true)
        #expect(street.isLinked)
        #expect(street.stored.unanswered.isEmpty)
        // The host leaves. The guest knows it now, so it joins no other one automatically.
        street.hostIsGone()
        street.walk(60)
        #expect(street.guesses == 4)
        street.restart()
        street.hears(99)
        #expect(street.guesses == 4)
        street.hears(1, knows: true)
        #expect(street.isLinked)
    }

    @Test("an invitation is not counted: it is proved to one key, and cannot be guessed")
    func invitation() throws {
        var street = try Street()
        let host = try Street.identity(100).peerID
        let secret = JoiningSecret(
            invitation: [UInt8](repeating: 1, count: Limits.invitationBytes),
            bytes: [UInt8](repeating: 2, count: Limits.invitationSecretBytes), host: host)
        street.guest.change {
            $0.secret = secret
            return []
        }
        for _ in 1...9 {
            street.hears(100)
            street.pass(.seconds(3))
        }
        #expect(!street.guest.mesh.holdsBackProofs)
        #expect(street.stored.unanswered.isEmpty)
    }
}

/// A guest that walks along a street, with a host at every door. Virtual time, no radio.
private struct Street {
    static let pin = JoiningSecret(random: 314_159)
    private static let wrong = JoiningSecret(random: 271_828)

    var guest: NodeCore
    private(set) var now: MeshInstant = .zero
    private(set) var guesses = 0
    private(set) var stored = StoredNode()
    private(set) var told: [String] = []
    private var host: MeshCore?
    private var hosts: [UInt8: [ConversationKey: MeshCore.Remembered]] = [:]
    private var hostSeed: UInt8 = 0
    private var knows = false
    private var link = 0
    private var entropy: UInt32 = 0

    static func identity(_ seed: UInt8) throws -> Identity {
        try #require(Identity(stored: [UInt8](repeating: seed, count: Identity.storedBytes)))
    }

    init() throws {
        guest = Self.guest(StoredNode(), try Self.identity(2))
        feed(.started)
    }

    private static func guest(_ contents: StoredNode, _ identity: Identity) -> NodeCore {
        let peer = Peer(id: identity.peerID, name: "Ana")
        let node = NodeDescription(role: .guest, peer: peer, radio: "none", service: .democracyDJ)
        return NodeCore(
            NodeCore.Configuration(
                .guest(wanted: nil, secret: pin), node, identity: identity, contents: contents,
                origin: ContinuousClock().now, seed: 3))
    }

    var isLinked: Bool { guest.mesh.host != nil }

    mutating func say(_ input: NodeInput) { feed(.input(input)) }

    mutating func restart() {
        guard let identity = try? Self.identity(2) else { return }
        guest = Self.guest(stored, identity)
        feed(.started)
    }

    mutating func pass(_ time: Duration) {
        let end = now + time
        while let next = guest.deadline, next <= end {
            now = max(now, next)
            feed(.tick)
        }
        now = end
    }

    /// A host with this key and a PIN is heard. Without the guest's PIN, it receives the tag and closes.
    mutating func hears(_ seed: UInt8, knows: Bool = false) {
        guard let identity = try? Self.identity(seed) else { return }
        hostSeed = seed
        self.knows = knows
        host = MeshCore(
            identity: identity, name: "Car \(seed)", service: .democracyDJ, remembered: hosts[seed] ?? [:])
        host?.admissionPolicy = AdmissionPolicy(pin: knows ? Self.pin : Self.wrong)
        let heard = Peer(id: Identity.head(of: identity.peerID), name: "Car \(seed)")
        feed(.heard(HeardNode(heard, asksForPIN: true)))
    }

    /// Walks past this many fake hosts.
    mutating func walk(_ doors: Int) {
        for door in 1...doors {
            hears(UInt8(100 + door))
            pass(.seconds(3))
        }
    }

    mutating func hostIsGone() {
        hosts[hostSeed] = host?.remembered
        host = nil
        feed(.channelClosed(link))
    }

    private mutating func feed(_ event: NodeCore.Event) { perform(guest.handle(event, now: now)) }

    private mutating func perform(_ actions: [NodeCore.Action]) {
        for action in actions {
            switch action {
            case .write(let batch):
                do { try stored.apply(batch) } catch { Issue.record(error) }
                feed(.written)
            case .dial(let number, let head, let expecting): dial(number, head, expecting)
            case .wake(let id):
                while let (sdu, more) = guest.nextSDU(for: id, limit: Limits.sduBytes, now: now) {
                    perform(more)
                    if let answers = host?.received(sdu, on: id, now: now) { hostDoes(answers) }
                }
            case .close(let id, _): feed(.channelClosed(id))
            case .show(.notice(let notice)): told.append(notice.code)
            default: break
            }
        }
    }

    private mutating func dial(_ number: Int, _ head: Peer.ID, _ expecting: Peer.ID) {
        guard let local = host?.local.id, local.hasPrefix(head) else {
            return feed(.dialFailed(number, refusal: nil))
        }
        link += 1
        let entropies = (nextEntropy(), nextEntropy())
        hostDoes(
            host?.opened(link, as: .responder, sendMTU: Limits.sduBytes, entropy: entropies.0, now: now) ?? [])
        feed(
            .opened(
                link,
                NodeCore.Opening(
                    .initiator, sendMTU: Limits.sduBytes, dial: number, expected: expecting, entropy: entropies.1)))
    }

    private mutating func nextEntropy() -> MeshCore.Entropy {
        entropy += 1
        let bytes = (0..<UInt32(MeshCore.Entropy.byteCount)).map {
            UInt8(truncatingIfNeeded: (entropy >> (8 * ($0 % 4))) &+ $0)
        }
        return MeshCore.Entropy(bytes)
    }

    private mutating func hostDoes(_ actions: [MeshCore.Action]) {
        for action in actions {
            switch action {
            case .tell(let id, .guessedWrong):
                guesses += 1
                host = nil
                return feed(.channelClosed(id))
            case .wake(let id):
                while let (sdu, more) = host?.nextSDU(for: id, limit: Limits.sduBytes) {
                    feed(.received(sdu, on: id))
                    hostDoes(more)
                }
            case .close(let id, _): feed(.channelClosed(id))
            default: break
            }
        }
    }
}
