// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import Testing

@testable import NodeCore
@testable import MeshProtocol

@Suite("Guests that hear a host with a PIN only through relays")
struct LockedRelayTests {
    private static let pin = JoiningSecret(pin: "314159")

    /// A host with a PIN, two relays that know it, and a guest behind them that does not.
    private static func convoy() -> ConvoyOfCores {
        var convoy = ConvoyOfCores(relays: ["One", "Two"], guests: ["Ana"], pin: pin)
        for relay in ["One", "Two"] { convoy.type(.pin(Self.pin), at: relay) }
        convoy.line("Car", "One", "Two")
        convoy.pass(.seconds(3))
        #expect(convoy.isLinked("One") && convoy.isLinked("Two"))
        return convoy
    }

    private static func notices(_ convoy: ConvoyOfCores) -> [String] {
        (convoy.nodes["Ana"]?.shown ?? []).compactMap { if case .notice(let notice) = $0 { notice.code } else { nil } }
    }

    @Test("a guest is asked for the PIN before its first link, one or two relays away, and joins when the PIN is typed")
    func isAsked() {
        var convoy = Self.convoy()
        #expect(convoy.nodes["One"]?.notice?.asksForPIN == true)
        #expect(convoy.nodes["Two"]?.notice?.asksForPIN == true)
        convoy.meet("Two", "Ana")
        convoy.pass(.seconds(3))
        #expect(Self.notices(convoy) == ["proofRequired"])
        #expect(convoy.sent["Ana"] == nil, "no node was dialled")
        convoy.type(.pin(Self.pin), at: "Ana")
        convoy.pass(.seconds(3))
        #expect(convoy.present() == ["Ana", "One", "Two"] && convoy.way(of: "Ana") == ["Two", "One"])
    }

    @Test("a guest is not asked again when it comes back, and never for an open host")
    func isNotAsked() {
        var convoy = Self.convoy()
        convoy.type(.pin(Self.pin), at: "Ana")
        convoy.meet("Two", "Ana")
        convoy.pass(.seconds(3))
        #expect(convoy.isLinked("Ana"))
        convoy.change("Ana") { core in
            core.change {
                $0.secret = nil
                return []
            }
        }
        convoy.part("Two", "Ana")
        convoy.pass(.seconds(1))
        #expect(!convoy.isLinked("Ana"))
        convoy.meet("Two", "Ana")
        convoy.pass(.seconds(5))
        #expect(!Self.notices(convoy).contains("proofRequired"))
        #expect(convoy.isLinked("Ana") && convoy.way(of: "Ana") == ["Two", "One"])

        var open = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        open.line("Car", "One", "Ana")
        open.pass(.seconds(3))
        #expect(open.nodes["One"]?.notice?.asksForPIN == false)
        #expect(open.isLinked("Ana") && Self.notices(open).isEmpty)
    }

    @Test("a guest behind a bonded relay is refused with the reason if the host requires bonds")
    func bond() {
        var convoy = ConvoyOfCores(relays: ["One", "Two"], guests: ["Ana", "Bob"], requiresBond: true)
        convoy.line("Car", "One", "Two", "Bob")
        convoy.meet("One", "Ana")
        convoy.pass(.seconds(30))
        #expect(convoy.present() == ["One"])
        #expect(!convoy.isLinked("Two") && !convoy.isLinked("Ana") && !convoy.isLinked("Bob"))
        #expect(Self.notices(convoy).contains("bondRequired"))
        // Near the host and with a bond, it joins without a person's command.
        convoy.meet("Car", "Ana")
        convoy.pass(.seconds(61))
        #expect(convoy.isLinked("Ana") && convoy.way(of: "Ana").isEmpty)
    }

    @Test("a guest that hears the host itself believes the host, and not a relay")
    func hostsOwnWord() {
        var convoy = ConvoyOfCores(relays: ["One"], guests: ["Ana"])
        convoy.line("Car", "One")
        convoy.pass(.seconds(3))
        convoy.lie("One")
        convoy.meet("One", "Ana")
        convoy.meet("Car", "Ana")
        convoy.pass(.seconds(3))
        #expect(convoy.way(of: "Ana") == [] && convoy.isLinked("Ana") && Self.notices(convoy).isEmpty)
    }
}
