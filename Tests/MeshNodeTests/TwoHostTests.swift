// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

/// Whole nodes, in virtual time.
@Suite("Two hosts in range")
struct TwoHostTests {
    /// Ana has joined the car, and another host is there.
    private func met() -> ConvoyOfCores {
        var street = ConvoyOfCores(guests: ["Ana"], others: ["Stranger"])
        street.meet("Ana", "Car")
        street.pass(.seconds(5))
        return street
    }

    @Test("of 50 starts with its own car and a stranger's in range, a guest joins the stranger in none")
    func starts() {
        var random = SeededGenerator(seed: 43)
        var street = met()
        for _ in 0..<50 {
            street.restart("Ana")
            for host in ["Car", "Stranger"].shuffled(using: &random) {
                street.meet("Ana", host)
                street.pass(.milliseconds(Int.random(in: 0...6_000, using: &random)))
            }
            street.pass(.seconds(5))
            #expect(street.isLinked("Ana"))
        }
        #expect(street.joined(by: "Ana") == Array(repeating: "Car", count: 51))
    }

    @Test("of 20 returns after a gap with a stranger in range all the time, a guest joins the stranger in none")
    func returns() {
        var random = SeededGenerator(seed: 44)
        var street = met()
        street.meet("Ana", "Stranger")
        for _ in 0..<20 {
            street.part("Ana", "Car")
            street.pass(.seconds(Int.random(in: 1...900, using: &random)))
            #expect(!street.isLinked("Ana"))
            street.meet("Ana", "Stranger")
            street.meet("Ana", "Car")
            street.pass(.seconds(5))
            #expect(street.isLinked("Ana"))
        }
        #expect(street.joined(by: "Ana") == Array(repeating: "Car", count: 21))
        #expect(street.notices(at: "Ana").contains("unknownHost"))
    }

    @Test("a guest that is removed from its car does not try the next one")
    func removed() {
        var street = met()
        street.meet("Ana", "Stranger")
        street.type(.host(.kick("Ana")), at: "Car")
        street.pass(.seconds(600))
        street.meet("Ana", "Stranger")
        street.pass(.seconds(600))
        #expect(street.joined(by: "Ana") == ["Car"])
    }

    @Test("a guest joins its second known host while its own is away, and is back in its own when that is heard")
    func secondKnown() {
        var street = met()
        street.part("Ana", "Car")
        street.meet("Ana", "Stranger")
        street.type(.join("Stranger"), at: "Ana")
        street.pass(.seconds(5))
        street.part("Ana", "Stranger")
        street.meet("Ana", "Car")
        street.type(.join("Car"), at: "Ana")
        street.pass(.seconds(5))
        #expect(street.joined(by: "Ana") == ["Car", "Stranger", "Car"])

        street.restart("Ana")
        street.meet("Ana", "Stranger")
        street.pass(.seconds(5))
        #expect(street.joined(by: "Ana").last == "Stranger")
        street.meet("Ana", "Car")
        street.pass(.seconds(15))
        #expect(street.joined(by: "Ana").suffix(2) == ["Stranger", "Car"])
        street.type(.guest(.vote("s2")), at: "Ana")
        street.pass(.seconds(1))
        #expect(street.votes(for: "s2", at: "Car") == 1 && street.votes(for: "s2", at: "Ana") == 1)
        street.pass(.seconds(3_600))
        #expect(street.joined(by: "Ana").count == 5)
    }

    @Test("the notice that a host has ended its session stays over the next link until the person has seen it")
    func endIsSeen() {
        var street = met()
        street.type(.end, at: "Car")
        street.pass(.seconds(1))
        street.meet("Ana", "Car")
        street.pass(.seconds(60))
        #expect(street.isLinked("Ana"))
        #expect(!cleared(street).contains("hostEnded"))
        street.type(.retry, at: "Ana")
        #expect(cleared(street).contains("hostEnded"))
        #expect(street.joined(by: "Ana") == ["Car", "Car"])
    }

    private func cleared(_ street: ConvoyOfCores) -> [String] {
        (street.nodes["Ana"]?.shown ?? []).compactMap { if case .noticeCleared(let code) = $0 { code } else { nil } }
    }
}
