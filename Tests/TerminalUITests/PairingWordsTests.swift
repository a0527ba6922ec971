// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import MeshNode
import Testing

@testable import BLETransport
@testable import TerminalUI

@Suite("What people and programs are told of a pairing")
struct PairingWordsTests {
    @Test(
        "people and programs answer in their own words",
        arguments: [
            ("yes", .answer(true)), ("Y", .answer(true)), ("accept", .answer(true)), ("no", .answer(false)),
            ("n", .answer(false)), ("refuse", .answer(false)), (" quit ", .quit), ("yes please", .other("yes please")),
            ("", nil),
        ] as [(String, PairingLine?)])
    func lines(text: String, line: PairingLine?) {
        #expect(PairingLine(text) == line)
    }

    static let van = PairingDevice(id: "02:00:00:00:00:01", name: "the van")

    static let failures: [PairingOutcome] = [
        .nobody(wanted: nil), .nobody(wanted: "the bus"), .several([van, van]), .refusedHere(van), .refusedThere(van),
        .unansweredHere(van), .unansweredThere(van), .leftThere(van), .lost(van), .failed(van, cause: "Page Timeout."),
        .radio(RadioError(.radioOff, "off")), .weakHere(van, .shortKey(bytes: 7)), .weakHere(van, .unasked),
        .weakHere(van, .notSecureConnections), .weakThere(van), .misspoke(van), .stopped,
    ]

    @Test(
        "every end without a bond is told in sentences, with the other device where there is one", arguments: failures)
    func ends(outcome: PairingOutcome) {
        #expect(outcome.sentence.hasSuffix(".") && !outcome.sentence.contains(".."))
        #expect(outcome.device == nil || outcome.sentence.contains("\"the van\""))
        #expect(outcome.exitCode != nil)
    }

    @Test("every end has its line in the manual, with its exit code")
    func documented() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().path + "/../../docs/using.md"
        let rows = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
        for outcome in Self.failures + [.bonded(Self.van), .alreadyBonded(Self.van)] {
            let isThere = rows.contains { row in
                row.hasPrefix("| `") && row.contains("`\(outcome.code)`")
                    && row.contains(" \(outcome.exitCode?.rawValue ?? 0)")
            }
            #expect(isThere, "\(outcome.code)")
        }
    }

    @Test("a radio that this user may not use is not permitted")
    func notPermitted() {
        #expect(PairingOutcome.radio(RadioError(.notPermitted, "no")).exitCode == .notPermitted)
    }
}
