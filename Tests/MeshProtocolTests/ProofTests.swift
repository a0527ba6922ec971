// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

/// A PIN for joining (`docs/protocol.md`, "Challenges").
@Suite("A PIN for joining")
struct ProofTests {
    private static let pin = JoiningSecret(pin: "314159")

    /// A car with a PIN, and a guest that was given this PIN.
    private static func road(pin: String? = "314159", asks: Bool = true, guests: [String] = ["Ana"]) -> Road {
        var road = Road(guests: guests)
        if asks { road.nodes["Car"]?.core.admissionPolicy = AdmissionPolicy(pin: Self.pin) }
        for guest in guests { road.nodes[guest]?.core.secret = pin.flatMap { JoiningSecret(pin: $0) } }
        return road
    }

    private static func wrongGuesses(_ road: Road) -> Int {
        road.nodes["Car"]?.events.count { if case .guessedWrong = $0 { true } else { false } } ?? 0
    }

    @Test("A guest that knows the PIN joins, and votes")
    func right() {
        var road = Self.road()
        let id = road.joined()
        #expect(road.isConnected("Ana", to: "Car"))
        #expect(road.nodes["Ana"]?.core.isProved(road.id("Car")) == true)
        #expect(road.nodes["Car"]?.core.remembered(road.key("Car", with: "Ana"))?.isProved == true)
        road.send("a vote", from: "Ana", to: "Car")
        _ = road.step(id)
        #expect(road.texts(at: "Car") == ["a vote"])
    }

    @Test("A guest with a wrong PIN, and one without a PIN, each learn the reason")
    func wrong() {
        var road = Self.road(pin: "271828")
        let id = road.joined()
        #expect(road.nodes["Ana"]?.ends[id] == .refused(.wrongProof))
        #expect(!road.isConnected("Ana", to: "Car"))
        #expect(Self.wrongGuesses(road) == 1)
        var other = Self.road(pin: nil)
        let unasked = other.joined()
        #expect(other.nodes["Ana"]?.ends[unasked] == .refused(.challenge))
        #expect(Self.wrongGuesses(other) == 0)
        #expect(JoiningSecret(pin: "31415") == nil)
        #expect(JoiningSecret(pin: "31415x") == nil)
        #expect(JoiningSecret(pin: "٣١٤١٥٩") == nil)
    }

    @Test("An admitted guest returns without a PIN, in one round trip, also after a restart of both")
    func remembered() throws {
        var road = Self.road()
        road.cut(road.joined())
        road.nodes["Ana"]?.core.secret = nil
        road.cut(road.joined())
        let kept = try ["Car", "Ana"].map { try #require(road.nodes[$0]?.core.remembered) }
        road.add("Car", seed: 1, remembered: kept[0])
        road.add("Ana", seed: 2, remembered: kept[1])
        road.nodes["Car"]?.core.admissionPolicy = AdmissionPolicy(pin: JoiningSecret(pin: "111111"))
        let id = road.joined()
        #expect(road.isConnected("Ana", to: "Car"))
        // The new PIN differs, and the host has proved the old one.
        road.cut(id)
        road.nodes["Ana"]?.core.secret = Self.pin
        _ = road.joined()
        #expect(road.isConnected("Ana", to: "Car"))
    }

    @Test("A guest that knows its host and is asked for the first time proves the PIN after the second packet")
    func knownHost() {
        var road = Self.road(asks: false)
        road.nodes["Ana"]?.core.secret = nil
        road.cut(road.joined())
        road.nodes["Car"]?.core.admissionPolicy = AdmissionPolicy(pin: Self.pin)
        road.nodes["Ana"]?.core.secret = Self.pin
        _ = road.joined()
        #expect(road.isConnected("Ana", to: "Car"))
        #expect(road.nodes["Car"]?.core.remembered(road.key("Car", with: "Ana"))?.isProved == true)
    }

    @Test("A guest with a PIN joins no host that has not proved it, whether or not that host asks")
    func unprovenHost() {
        var road = Self.road(asks: false)
        let id = road.joined()
        #expect(road.nodes["Ana"]?.ends[id] == .misbehaved(.unprovenHost))
        #expect(!road.isConnected("Ana", to: "Car"))
        // This host asks, and accepts any proof.
        var liar = Self.road(pin: "271828")
        let link = liar.dial()
        while liar.nodes["Car"]?.core[link: link]?.machine.isProving != true, liar.step(link) {}
        liar.pull("Ana", link)
        liar.wires[link]?.toHost = []
        let hello = Hello(name: "Car", resumption: Resumption(epoch: 1, first: 1, theirEpoch: 0, delivered: 0))
        liar.answer([.selfInfo(hello)], as: "Car", on: link)
        #expect(liar.nodes["Ana"]?.ends[link] == .misbehaved(.unprovenHost))
    }

    @Test("A share that is not an element, or is the identity, ends the link, and costs the host no guess")
    func badShares() {
        for share in [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32), [1, 2, 3]] {
            var road = Self.road()
            let id = road.dial()
            while road.nodes["Car"]?.core[link: id]?.machine.isProving != true, road.step(id) {}
            road.say([.proof(kind: 1, round: 1, data: share)], as: "Ana", on: id)
            let end = road.nodes["Car"]?.ends[id]
            #expect(end == .misbehaved(share.count == 32 ? .badProof : .malformedFrame))
            #expect(road.nodes["Car"]?.core.admissionPolicy == AdmissionPolicy(pin: Self.pin))
        }
    }

    @Test("A host computes nothing for a peer before the peer's first record has opened")
    func replay() throws {
        var road = Self.road(asks: false)
        road.nodes["Ana"]?.core.secret = nil
        road.cut(road.joined())
        road.nodes["Car"]?.core.admissionPolicy = AdmissionPolicy(pin: Self.pin)
        let id = road.dial()
        road.pull("Ana", id)
        let packet = try #require(road.wires[id]?.toHost.first)
        road.cut(id)
        // The same packet again, from an attacker: the host sends its challenge, and nothing more.
        let replay = road.strangerLink()
        road.give(packet, to: "Car", on: replay)
        #expect(road.nodes["Car"]?.core[link: replay]?.machine.isProving == true)
        road.give([UInt8](repeating: 1, count: 60), to: "Car", on: replay)
        #expect(road.nodes["Car"]?.ends[replay] == .misbehaved(.forgedRecord))
        #expect(road.nodes["Car"]?.core.admissionPolicy == AdmissionPolicy(pin: Self.pin))
    }

    @Test("Frames out of order end the link: a proof before the challenge, a second one, one of another kind")
    func outOfTurn() {
        for frames: [Frame] in [
            [.proof(kind: 1, round: 2, data: [])], [.proof(kind: 2, round: 1, data: [UInt8](repeating: 1, count: 32))],
            [.ping(1)], [.message([0, 1, 65])],
        ] {
            var road = Self.road()
            let id = road.dial()
            while road.nodes["Car"]?.core[link: id]?.machine.isProving != true, road.step(id) {}
            road.say(frames, as: "Ana", on: id)
            #expect(road.nodes["Car"]?.ends[id] == .misbehaved(.unexpectedFrame))
            #expect(!road.isConnected("Car", to: "Ana"))
        }
        var asked = Self.road()
        asked.nodes["Car"]?.core.admissionPolicy = AdmissionPolicy()
        let id = asked.dial()
        while asked.nodes["Ana"]?.core[link: id]?.machine.sealed == nil, asked.step(id) {}
        _ = asked.step(id)
        asked.answer([.challenge(kind: 1, round: 2, data: [UInt8](repeating: 1, count: 32))], as: "Car", on: id)
        #expect(asked.nodes["Ana"]?.ends[id] == .misbehaved(.unexpectedFrame))
    }

    @Test("Five guesses in total are free, then one every 200 s; linked guests notice nothing")
    func limit() {
        let strangers = (1...9).map { "Stranger \($0)" }
        var road = Self.road(guests: ["Ana"] + strangers)
        let ana = road.joined()
        for name in strangers { road.nodes[name]?.core.secret = JoiningSecret(pin: "000000") }
        func guess(_ name: String) -> LinkEnd? {
            let id = road.dial(name)
            road.settle()
            defer { road.cut(id) }
            return road.nodes[name]?.ends[id]
        }
        for name in strangers { _ = guess(name) }
        #expect(Self.wrongGuesses(road) == 5)
        let sixth = guess(strangers[0])
        #expect(sixth == .refused(.tooManyGuesses))
        #expect(road.nodes["Ana"]?.ends[ana] == nil)
        road.cut(ana)
        _ = road.joined()
        #expect(road.isConnected("Ana", to: "Car"))
        road.advance(by: .seconds(199))
        let early = guess(strangers[0])
        #expect(early == .refused(.tooManyGuesses))
        road.advance(by: .seconds(1))
        let late = (1...2).map { _ in guess(strangers[0]) }
        #expect(late == [.refused(.wrongProof), .refused(.tooManyGuesses)])
    }

    @Test("Unfinished proofs cost others no guess, also while they are pending, and a correct proof costs none")
    func unfinished() {
        var road = Self.road(guests: (1...8).map { "Guest \($0)" })
        for guest in 1...7 {
            let open = road.dial("Guest 8")
            while road.nodes["Car"]?.core[link: open]?.machine.isProving != true, road.step(open) {}
            _ = road.step(open)
            let id = road.dial("Guest \(guest)")
            while road.step(id) {}
            #expect(road.isConnected("Guest \(guest)", to: "Car"))
            if guest > 5 { road.cut(open) }
        }
    }

    @Test("Proofs that are pending when the last guess is used are not compared, correct or not")
    func race() {
        let strangers = (1...7).map { "Stranger \($0)" }
        var road = Self.road(guests: ["Ana"] + strangers)
        for name in strangers { road.nodes[name]?.core.secret = JoiningSecret(pin: "000000") }
        let links = (strangers + ["Ana"]).map { road.dial($0) }
        road.settle()
        let ends = zip(strangers + ["Ana"], links).map { road.nodes[$0]?.ends[$1] }
        #expect(
            ends == Array(repeating: .refused(.wrongProof), count: 5)
                + Array(repeating: .refused(.tooManyGuesses), count: 3))
        #expect(!road.isConnected("Ana", to: "Car"))
    }

    @Test(
        "At any pace a guesser has at most 450 guesses in any day",
        arguments: [100, 1_000, 12_000, 14_999, 15_000, 15_001, 60_000, 192_000, 200_000, 500_000])
    func day(milliseconds: Int) {
        var door = AdmissionPolicy(pin: Self.pin)
        let wrong = JoiningSecret(random: 271_828)
        var (now, checked) = (MeshInstant.zero, [MeshInstant]())
        while now < .seconds(2 * 86_400) {
            for entrance in Entrance.allCases where door.judge(wrong, at: entrance, now: now) == .wrongProof {
                checked.append(now)
            }
            now += .milliseconds(milliseconds)
        }
        let most = checked.indices.map { first in checked[first...].count { $0 < checked[first] + .seconds(86_400) } }
            .max()
        #expect((most ?? 0) <= 450)
    }

    @Test("Bursts of any size with a pause of any length give no more")
    func bursts() {
        for burst in 1...8 {
            for pause in [1, 30, 59, 60, 61, 200, 600, 960, 3_600] {
                var door = AdmissionPolicy(pin: Self.pin)
                let wrong = JoiningSecret(random: 271_828)
                var (now, checked) = (MeshInstant.zero, 0)
                while now < .seconds(86_400) {
                    for _ in 0..<burst where door.judge(wrong, at: .air, now: now) == .wrongProof { checked += 1 }
                    now += .seconds(pause)
                }
                #expect(checked <= 450, "\(burst) guesses each \(pause) s")
            }
        }
    }

    @Test("Guessers on the network, at a broker and on the page leave guesses to peers on the air, at any pace")
    func entrances() {
        for bearer in [BearerKind.broker, .lan] {
            var road = Self.road(guests: ["Ana", "Ben", "Eve"])
            road.nodes["Eve"]?.core.secret = JoiningSecret(pin: "000000")
            for _ in 0..<400 {
                let id = road.dial("Eve", over: bearer)
                road.settle()
                road.cut(id)
                road.advance(by: .seconds(5))
            }
            #expect(Self.wrongGuesses(road) >= 3)
            // A family member on the air mistypes the PIN, and then joins.
            road.nodes["Ana"]?.core.secret = JoiningSecret(pin: "314158")
            let mistyped = road.dial("Ana")
            road.settle()
            #expect(road.nodes["Ana"]?.ends[mistyped] == .refused(.wrongProof))
            road.nodes["Ana"]?.core.secret = Self.pin
            for name in ["Ana", "Ben"] {
                road.dial(name)
                road.settle()
                #expect(road.isConnected(name, to: "Car"), "\(bearer)")
            }
        }
        var door = AdmissionPolicy(pin: Self.pin)
        let wrong = JoiningSecret(random: 271_828)
        let answers = (1...5).map { _ in door.judge(wrong, at: .page, now: .zero) }
        #expect(answers == Array(repeating: .wrongProof, count: 3) + Array(repeating: .tooManyGuesses, count: 2))
        #expect(door.mayGuess(at: .air, now: .zero))
    }

    @Test("A quiet time restores all guesses, and no more than these")
    func quiet() {
        var limit = GuessLimit()
        for _ in 0..<Limits.guesses { limit.wasWrong(now: .zero) }
        let later = MeshInstant.seconds(86_400)
        for _ in 0..<Limits.guesses {
            #expect(limit.hasRoom(at: .air, now: later))
            limit.wasWrong(now: later)
        }
        #expect(!limit.hasRoom(at: .air, now: later))
    }

    @Test("A banned guest, and one without a free slot, learn that and get no challenge")
    func otherReasons() {
        var road = Self.road()
        let ana = road.id("Ana")
        road.nodes["Car"]?.core.banned = [ana]
        let id = road.joined()
        #expect(road.nodes["Ana"]?.ends[id] == .refused(.banned))
        #expect(Self.wrongGuesses(road) == 0)
    }
}

extension LinkMachine {
    /// True for a responder that waits for a proof.
    fileprivate var isProving: Bool { if case .proving = phase { true } else { false } }
}

extension Road {
    /// A host with valid keys sends an answer that our hosts never send.
    fileprivate mutating func answer(_ frames: [Frame], as name: String, on id: MeshCore.LinkID) {
        guard let guest = wires[id]?.guest,
            let record = nodes[name]?.core[link: id]?.machine.sealed?.seal(frames.flatMap { Self.bytes($0) })
        else { return }
        give(record, to: guest, on: id)
    }
}
