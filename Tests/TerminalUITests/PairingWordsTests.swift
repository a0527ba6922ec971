// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing

@testable import BLETransport
@testable import Bearers
@testable import TerminalUI

@Suite("Messages about a pairing, for people and programs")
struct PairingWordsTests {
    @Test(
        "people and programs can answer in their own form",
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
        .radio(BearerError(.radioOff, "off")), .weakHere(van, .shortKey(bytes: 7)), .weakHere(van, .unasked),
        .weakHere(van, .notSecureConnections), .weakThere(van), .misspoke(van), .stopped,
    ]

    @Test(
        "each failed pairing is explained in sentences, with the other device if there is one", arguments: failures)
    func ends(outcome: PairingOutcome) {
        #expect(outcome.sentence.hasSuffix(".") && !outcome.sentence.contains(".."))
        #expect(outcome.device == nil || outcome.sentence.contains("\"the van\""))
        #expect(outcome.exitCode != nil)
    }

    @Test("each outcome has a line in the reference, with its exit code")
    func documented() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().path + "/../../docs/reference.md"
        let rows = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n")
        for outcome in Self.failures + [.bonded(Self.van), .alreadyBonded(Self.van)] {
            let isThere = rows.contains { row in
                row.hasPrefix("| `") && row.contains("`\(outcome.code)`")
                    && row.contains(" \(outcome.exitCode?.rawValue ?? 0)")
            }
            #expect(isThere, "\(outcome.code)")
        }
    }

    @Test("a radio that this user may not use is reported as not permitted")
    func notPermitted() {
        #expect(PairingOutcome.radio(BearerError(.notPermitted, "no")).exitCode == .notPermitted)
    }
}
