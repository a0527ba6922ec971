// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import NodeCore
import Testing

@Suite("Finding a host, and reconnecting to it")
struct ReconnectPolicyTests {
    static let car = Peer(id: "c0ffee00112233445566778899aabbcc", name: "Dad's Car")
    /// The car in its advertisement.
    static let heardCar = Peer(id: "c0ffee00", name: "Dad's Car")
    static let bus = Peer(id: "b05b0500", name: "Bus")

    /// A policy and its clock.
    struct Guest {
        var policy: ReconnectPolicy
        /// The hosts that the node has joined.
        var known = KnownHosts()
        var now: MeshInstant = .zero

        /// A node scans or dials, and not both.
        mutating func handle(_ event: ReconnectPolicy.Event) -> [ReconnectPolicy.Action] {
            if case .linked(let host) = event, policy.accepts(host, known: known) {
                _ = known.joined(host, asOwn: policy.isHostNamed)
            }
            let actions = policy.handle(event, known: known, now: now, jitter: 1)
            #expect(!policy.isScanning || !policy.isDialling)
            for case .invite in actions { #expect(policy.isDialling) }
            for case .browse in actions { #expect(policy.isScanning) }
            return actions
        }

        func accepts(_ host: Peer) -> Bool { policy.accepts(host, known: known) }

        func isMeant(_ host: Peer) -> Bool { policy.isMeant(host, known: known) }
    }

    private func connected(wanted: String? = nil) -> Guest {
        var guest = Guest(policy: ReconnectPolicy(wanted: wanted))
        _ = guest.handle(.start)
        _ = guest.handle(.heard(Self.heardCar))
        _ = guest.handle(.linked(Self.car))
        return guest
    }

    @Test("the first host that is heard is joined")
    func first() {
        var guest = Guest(policy: ReconnectPolicy())
        #expect(guest.handle(.start) == [.browse, .show(.connecting)])
        #expect(guest.handle(.heard(Self.heardCar)) == [.invite("c0ffee00")])
        #expect(guest.handle(.heard(Self.bus)) == [])
        #expect(guest.handle(.linked(Self.car)) == [.show(.connected)])
    }

    @Test("at a broker, a guest joins only a host that was named, was joined before, or is the one to reconnect to")
    func meant() {
        #expect(!Guest(policy: ReconnectPolicy()).isMeant(Self.heardCar), "anybody's host is at a broker")
        #expect(Guest(policy: ReconnectPolicy(wanted: "Dad's Car")).isMeant(Self.heardCar))
        #expect(!Guest(policy: ReconnectPolicy(wanted: "Dad's Car")).isMeant(Self.bus))
        #expect(Guest(policy: ReconnectPolicy(), known: KnownHosts([Self.car])).isMeant(Self.heardCar))
        var guest = connected()
        #expect(guest.isMeant(Self.heardCar) && !guest.isMeant(Self.bus))
        _ = guest.handle(.linkLost)
        #expect(guest.isMeant(Self.heardCar) && !guest.isMeant(Self.bus))
    }

    @Test(
        "a host is named without capitals and accents, and with any apostrophe",
        arguments: [
            ("dad's car", "Dad's Car"), ("Dad’s Car", "Dad's Car"), ("DAD`S CAR", "Dad’s Car"), ("beyonce", "Beyoncé"),
            ("Bjork", "BJÖRK"), ("cafe de l'etoile", "Café de l’Étoile"), ("strasse", "Straße"), ("moře", "More"),
            ("Łodz", "łódź"), ("Ёлка", "елка"), ("αθηνα", "Αθήνα"), ("istanbul", "İstanbul"), ("Car", "Ｃａｒ"),
        ])
    func typedNames(typed: String, name: String) {
        var guest = Guest(policy: ReconnectPolicy(wanted: typed))
        _ = guest.handle(.start)
        let heard = Peer(id: "c0ffee00", name: NodeName(untrusted: NodeName(untrusted: name).advertised).text)
        #expect(guest.handle(.heard(heard)) == [.invite("c0ffee00")])
        #expect(guest.handle(.linked(Peer(id: Self.car.id, name: name))) == [.show(.connected)])
    }

    @Test(
        "a host that is called otherwise is not the one that was named",
        arguments: [
            ("Dads Car", "Dad's Car"), ("Dad", "Dad's Car"), ("Dad's Car 2", "Dad's Car"), ("कि", "की"), ("мир", "мiр"),
            ("も", "モ"),
        ])
    func otherNames(typed: String, name: String) {
        #expect(!Guest(policy: ReconnectPolicy(wanted: typed)).isMeant(Peer(id: "c0ffee00", name: name)))
    }

    @Test(
        "of several hosts with similar names the person chooses, and one with the exact name is joined")
    func rivals() {
        let policy = ReconnectPolicy(wanted: "cafe")
        let (one, other, exact) = (
            Peer(id: "0a0a0a0a", name: "Café"), Peer(id: "0b0b0b0b", name: "CAFÉ"), Peer(id: "0c0c0c0c", name: "cafe")
        )
        #expect(policy.rivals(among: [one]) == [])
        #expect(policy.rivals(among: [one, Self.bus, other]) == [one, other])
        #expect(policy.rivals(among: [one, other, exact]) == [])
        #expect(ReconnectPolicy().rivals(among: [one, other]) == [])
        #expect(ReconnectPolicy(wanted: "0a0a0a0a").rivals(among: [one, other]) == [])
    }

    @Test("a host with nearly the name of a known one, and another key, is not joined automatically")
    func nearlyCopied() {
        for name in ["Dad’s Car", "DAD'S CAR", "Dád's Car"] {
            let (policy, copy) = (ReconnectPolicy(wanted: "dad's car"), Peer(id: "b05b0500", name: name))
            #expect(policy.host(copiedBy: copy, known: KnownHosts([Self.car])) == Self.car)
        }
    }

    @Test("a link that comes up while the person changes their mind is what is shown, or goes again")
    func secondThoughts() {
        var guest = Guest(policy: ReconnectPolicy())
        _ = guest.handle(.start)
        _ = guest.handle(.heard(Self.heardCar))
        #expect(guest.handle(.start) == [.cancelInvite("c0ffee00"), .browse])
        #expect(guest.handle(.linked(Self.car)) == [.show(.connected)])
        #expect(guest.handle(.linkLost) == [.show(.reconnecting(attempt: 1)), .invite(Self.car.id)])
        _ = guest.handle(.leave)
        #expect(guest.handle(.linked(Self.car)) == [.cancelInvite(Self.car.id)])
    }

    @Test(
        "a guest waits for a named host, and one named by its full identifier must prove it",
        arguments: [
            ("Dad's Car", "c0ffee00"), ("c0ffee00", "c0ffee00"),
            ("c0ffee00112233445566778899aabbcc", "c0ffee00112233445566778899aabbcc"),
        ])
    func named(wanted: String, invited: Peer.ID) {
        var guest = Guest(policy: ReconnectPolicy(wanted: wanted))
        _ = guest.handle(.start)
        #expect(guest.handle(.heard(Self.bus)) == [])
        #expect(guest.handle(.heard(Self.heardCar)) == [.invite(invited)])
    }

    @Test("a name that is too long for a scan response is recognised by its beginning")
    func longName() {
        let name = "The longest name that anybody ever gave to a car"
        var guest = Guest(policy: ReconnectPolicy(wanted: name))
        _ = guest.handle(.start)
        let heard = Peer(id: "c0ffee00", name: String(name.prefix(Limits.advertisedNameBytes)))
        #expect(guest.handle(.heard(heard)) == [.invite("c0ffee00")])
    }

    @Test(
        "a host with a long name that is heard through a relay is recognised by the shorter beginning there",
        arguments: [true, false])
    func longNameThroughRelay(isWanted: Bool) {
        var guest = Guest(policy: ReconnectPolicy(wanted: isWanted ? "Dad's Car with the long roof" : "Dad's Car"))
        _ = guest.handle(.start)
        let heard = Peer(id: "c0ffee00", name: "Dad's Car wi")
        #expect(heard.name.utf8.count == Limits.relayedNameBytes)
        #expect(guest.handle(.heard(heard)) == (isWanted ? [.invite("c0ffee00")] : []))
    }

    @Test("a lost host is dialled at once, and the dial stays pending")
    func linkLost() {
        var guest = connected()
        #expect(guest.handle(.linkLost) == [.show(.reconnecting(attempt: 1)), .invite(Self.car.id)])
        guest.now = .seconds(4)
        #expect(guest.handle(.linked(Self.car)) == [.show(.connected)])
        #expect(guest.policy.deadline == nil)
    }

    @Test("after 30 seconds without its host a guest reports this, and joins no unknown host")
    func limits() {
        var guest = connected()
        _ = guest.handle(.linkLost)
        #expect(guest.policy.deadline == .seconds(30))
        guest.now = .milliseconds(29_999)
        #expect(guest.handle(.tick) == [])
        guest.now = .seconds(30)
        #expect(
            guest.handle(.tick) == [
                .cancelInvite(Self.car.id), .show(.failed(.connectionFailed(reason: "hostNotFound"))),
                .giveUp(Self.car), .browse, .show(.connecting),
            ])
        #expect(guest.handle(.heard(Self.bus)) == [])
        #expect(guest.handle(.heard(Self.heardCar)) == [.invite(Self.heardCar.id)])
    }

    @Test("after a failed dial the guest waits until it hears the host, with a pause that doubles up to a limit")
    func backoff() {
        var guest = connected()
        _ = guest.handle(.linkLost)
        var pauses: [Duration] = []
        for attempt in 2...7 {
            #expect(guest.handle(.dialFailed) == [.browse])
            let failedAt = guest.now
            #expect(guest.handle(.heard(Self.heardCar)) == [])
            guest.now = guest.policy.deadline ?? .zero
            pauses.append(guest.now - failedAt)
            #expect(
                guest.handle(.tick) == [
                    .show(.reconnecting(attempt: attempt)), .invite(Self.car.id),
                ])
        }
        #expect(pauses == [100, 200, 400, 800, 1_600, 2_000].map { .milliseconds($0) })
    }

    @Test("a host that was heard during the pause is dialled at its end, without being heard again")
    func heardInPause() {
        var guest = Guest(policy: ReconnectPolicy())
        _ = guest.handle(.start)
        _ = guest.handle(.heard(Self.heardCar))
        #expect(guest.handle(.dialFailed) == [.browse])
        #expect(guest.handle(.heard(Self.heardCar)) == [])
        #expect(guest.policy.deadline == .milliseconds(100))
        guest.now = .milliseconds(100)
        #expect(guest.handle(.tick) == [.invite("c0ffee00")])
    }

    @Test("another host does not replace a lost one within the 30 seconds")
    func faithful() {
        var guest = connected()
        _ = guest.handle(.linkLost)
        _ = guest.handle(.dialFailed)
        guest.now = .seconds(5)
        #expect(guest.handle(.heard(Self.bus)) == [])
    }

    @Test("a host that refuses is not dialled again without a person's command")
    func refused() {
        var guest = Guest(policy: ReconnectPolicy())
        _ = guest.handle(.start)
        _ = guest.handle(.heard(Self.heardCar))
        #expect(
            guest.handle(.refused(.banned, by: Self.car.id)) == [
                .show(.failed(.connectionFailed(reason: "refused: banned"))), .browse,
            ])
        #expect(guest.handle(.heard(Self.heardCar)) == [])
        #expect(guest.handle(.start) == [.browse, .show(.connecting)])
        #expect(guest.handle(.heard(Self.heardCar)) == [.invite("c0ffee00")])
    }

    @Test("a host without room is asked again automatically, less and less often, and at least once a minute")
    func full() {
        var guest = Guest(policy: ReconnectPolicy())
        _ = guest.handle(.start)
        _ = guest.handle(.heard(Self.heardCar))
        var pauses: [Duration] = []
        for _ in 0..<6 {
            _ = guest.handle(.refused(.full, by: Self.car.id))
            let refusedAt = guest.now
            // Heard once: a host that stays in range may not be reported again.
            #expect(guest.handle(.heard(Self.heardCar)) == [])
            guest.now = guest.policy.deadline ?? .zero
            pauses.append(guest.now - refusedAt)
            #expect(guest.handle(.tick) == [.invite("c0ffee00")])
        }
        #expect(pauses == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
        #expect(guest.handle(.linked(Self.car)) == [.show(.connected)])
        #expect(guest.policy.deadline == nil)
    }

    @Test("during the pause for a full host, another one is joined at once")
    func fullAndAnother() {
        var guest = Guest(policy: ReconnectPolicy())
        _ = guest.handle(.start)
        _ = guest.handle(.heard(Self.heardCar))
        _ = guest.handle(.refused(.full, by: Self.car.id))
        _ = guest.handle(.heard(Self.heardCar))
        #expect(guest.handle(.heard(Self.bus)) == [.invite(Self.bus.id)])
        guest.now = .seconds(100)
        #expect(guest.handle(.tick) == [], "it has another one now")
    }

    // MARK: The host of --host

    @Test("a full identifier is that key and never a name, even if a name has room for it")
    func wholeIdentifierIsNoName() {
        var guest = Guest(policy: ReconnectPolicy(wanted: Self.car.id))
        _ = guest.handle(.start)
        for count in [29, 32] {
            let impostor = Peer(id: Self.bus.id, name: String(Self.car.id.prefix(count)))
            #expect(guest.handle(.heard(impostor)) == [])
        }
        #expect(guest.handle(.heard(Self.heardCar)) == [.invite(Self.car.id)])
        let proved = Peer(id: "c0ffee99999999999999999999999999", name: Self.car.id)
        #expect(!guest.accepts(proved))
        #expect(guest.accepts(Self.car))
    }

    @Test(
        "digits of an identifier are not a name: a host with such a name is neither dialled nor accepted"
    )
    func digitsAreNoName() {
        for count in [8, 12, 31, 32] {
            let digits = String(Self.car.id.prefix(count))
            var guest = Guest(policy: ReconnectPolicy(wanted: digits))
            _ = guest.handle(.start)
            #expect(guest.handle(.heard(Peer(id: Self.bus.id, name: digits))) == [])
            let decoy = Peer(id: Self.bus.id + String(repeating: "0", count: 24), name: digits)
            #expect(!guest.accepts(decoy) && !guest.isMeant(decoy))
            _ = guest.handle(.heard(Self.heardCar))
            #expect(guest.policy.isDialling)
        }
    }

    @Test("an identifier is the same in capital letters")
    func capitalLetters() {
        for wanted in [Self.car.id.uppercased(), String(Self.car.id.uppercased().prefix(9))] {
            var guest = Guest(policy: ReconnectPolicy(wanted: wanted))
            _ = guest.handle(.start)
            _ = guest.handle(.heard(Self.heardCar))
            #expect(guest.policy.isDialling)
            #expect(guest.accepts(Self.car))
        }
    }

    @Test(
        "more digits than are advertised count once a host has proved its key: another host is left, and not in a loop"
    )
    func longPrefix() {
        let wanted = String(Self.car.id.prefix(Identity.headDigits + 6))
        var guest = Guest(policy: ReconnectPolicy(wanted: wanted))
        let other = Peer(id: Identity.head(of: Self.car.id) + String(repeating: "9", count: 26), name: "Dad's Car")
        _ = guest.handle(.start)
        let heard = Peer(id: Identity.head(of: Self.car.id), name: "Dad's Car")
        #expect(guest.handle(.heard(heard)) == [.invite(heard.id)])
        var pauses: [Duration] = []
        for _ in 0..<5 {
            let now = guest.now
            #expect(guest.handle(.linked(other)) == [.cancelInvite(other.id), .browse])
            #expect(guest.handle(.heard(heard)) == [])
            guest.now = guest.policy.deadline ?? .zero
            pauses.append(guest.now - now)
            #expect(guest.handle(.tick) == [.invite(heard.id)])
        }
        #expect(pauses == [5, 10, 20, 40, 60].map { .seconds($0) })
        #expect(guest.handle(.linked(Self.car)) == [.show(.connected)])
    }

    @Test("a host that proves to have another name is left for the named one")
    func falseName() {
        let name = "The longest name that anybody ever gave to a car"
        var guest = Guest(policy: ReconnectPolicy(wanted: name))
        _ = guest.handle(.start)
        let liar = Peer(id: Self.bus.id, name: String(name.prefix(Limits.advertisedNameBytes)))
        _ = guest.handle(.heard(liar))
        let proved = Peer(id: Self.bus.id + String(repeating: "0", count: 24), name: name + " 2")
        #expect(guest.handle(.linked(proved)) == [.cancelInvite(proved.id), .browse])
        #expect(guest.handle(.heard(liar)) == [])
        #expect(
            guest.handle(.heard(Peer(id: "c0ffee00", name: String(name.prefix(Limits.advertisedNameBytes))))) == [
                .invite("c0ffee00")
            ])
        #expect(guest.handle(.linked(Peer(id: Self.car.id, name: name))) == [.show(.connected)])
    }

    @Test("a refusal by another host with the same head does not keep a guest from the named one")
    func refusedByAnother() {
        var guest = Guest(policy: ReconnectPolicy(wanted: Self.car.id))
        _ = guest.handle(.start)
        _ = guest.handle(.heard(Self.heardCar))
        _ = guest.handle(.refused(.full, by: "c0ffee00999999999999999999999999"))
        #expect(guest.handle(.heard(Self.heardCar)) == [.invite(Self.car.id)])
    }

    @Test("when the host ends the session, the guest chooses a host again")
    func hostEnded() {
        var guest = connected()
        #expect(guest.handle(.hostEnded) == [.show(.disconnected), .browse, .show(.connecting)])
    }

    @Test("a guest that leaves stays away until its person starts again")
    func leave() {
        var guest = connected()
        #expect(guest.handle(.leave) == [.show(.disconnected)])
        #expect(guest.handle(.heard(Self.heardCar)) == [])
        #expect(guest.handle(.start) == [.browse, .show(.connecting)])
    }
}
