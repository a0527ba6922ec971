// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("Names, service types and identities")
struct NamesTests {
    @Test("a valid service type is accepted", arguments: ["democracy-dj", "a", "a-1", "abcdefghijklmno"])
    func goodServiceType(text: String) throws {
        #expect(try ServiceType(text).text == text)
    }

    @Test(
        "any other service type is refused with the reason",
        arguments: [
            ("", .empty), ("abcdefghijklmnop", .tooLong(characters: 16)), ("1abc", .firstNotLetter),
            ("-abc", .firstNotLetter), ("Democracy", .forbiddenCharacter("D")), ("a_b", .forbiddenCharacter("_")),
            ("a b", .forbiddenCharacter(" ")), ("caf\u{E9}", .forbiddenCharacter("\u{E9}")),
            ("e\u{301}", .forbiddenCharacter("e\u{301}")),
        ] as [(String, ServiceType.Problem)])
    func badServiceType(text: String, problem: ServiceType.Problem) {
        #expect(throws: problem) { try ServiceType(text) }
    }

    @Test("the service UUID is a UUIDv5, and never changes")
    func serviceUUID() throws {
        // Computed with Python: uuid.uuid5(uuid.UUID("6f1d3a52-8c0e-4b7a-9d15-2e54c1a7f0b3"), "democracy-dj")
        #expect(ServiceType.democracyDJ.uuid.description == "8d62c5f7-572b-5d3e-8633-732afc4236cc")
        #expect(try ServiceType("other").uuid != ServiceType.democracyDJ.uuid)
    }

    @Test("discovery carries version 2")
    func discoveryInfo() {
        #expect(ServiceType.democracyDJ.discoveryInfo == ["version": "2"])
    }

    @Test("a name is trimmed and kept")
    func goodName() throws {
        #expect(try NodeName("  Dad's Car ").text == "Dad's Car")
        #expect(try NodeName(String(repeating: "x", count: 64)).text.count == 64)
    }

    @Test("an empty name, one of 300 characters and one of two lines are refused")
    func badNames() {
        #expect(throws: NodeName.Problem.empty) { try NodeName(" \t ") }
        #expect(throws: NodeName.Problem.tooLong(characters: 300)) {
            try NodeName(String(repeating: "x", count: 300))
        }
        #expect(throws: NodeName.Problem.tooLong(characters: 63)) {
            try NodeName(String(repeating: "👨‍👩‍👧‍👦", count: 63))
        }
        #expect(throws: NodeName.Problem.controlCharacter) { try NodeName("a\nb") }
    }

    @Test("a name that could be taken for an identifier is refused, and no peer has one")
    func identifierNames() throws {
        for name in [
            "153f2ea6", "DEADBEEF", " 153f2ea6 ", "00000000", String(repeating: "a", count: 32), "\u{200B}153f2ea6",
        ] {
            #expect(throws: NodeName.Problem.self) { try NodeName(name) }
            #expect(NodeName(untrusted: name).text == "?", "\(name)")
        }
        #expect(throws: NodeName.Problem.identifier) { try NodeName("153f2ea6") }
        for name in ["153f2ea", "cafe42", "153f2ea6x", "153f 2ea6", "Ada", String(repeating: "a", count: 33)] {
            #expect(try NodeName(name).text == name)
            #expect(NodeName(untrusted: name).text == name)
        }
        // An advertisement may cut a name so that it looks like an identifier.
        let cut = try NodeName("0123456789abXYZ is my car")
        #expect(cut.isPerhaps(heard: NodeName(untrusted: cut.advertisedByRelay).text))
    }

    static let invisible = [
        "\u{200B}", "\u{2060}", "\u{3164}", "\u{AD}", "\u{115F}", "\u{180E}", "\u{FEFF}", "\u{2800}", "\u{200D}",
        "\u{E0041}\u{E0042}\u{E007F}", "\u{FE0F}", "\u{E0100}", " \u{200B}\u{3164} \u{2060}",
    ]

    @Test("a name without visible characters is refused", arguments: invisible)
    func invisibleNames(name: String) {
        #expect(throws: NodeName.Problem.empty) { try NodeName(name) }
        #expect(NodeName(untrusted: name).text == "?")
    }

    @Test(
        "joiners and variation selectors stay in a name with visible characters",
        arguments: ["👨‍👩‍👧‍👦", "❤️", "🏴\u{E0067}\u{E0062}\u{E007F}", "नि"])
    func joinedNames(name: String) throws {
        #expect(try NodeName(name).text == name)
        #expect(NodeName(untrusted: name).text == name)
    }

    @Test(
        "marks that change the direction of text, and noncharacters, are removed from a name",
        arguments: [0x200E, 0x200F, 0x061C, 0x202E, 0x2066, 0xFDD0, 0xFDEF, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF]
            as [UInt32])
    func marks(value: UInt32) throws {
        let mark = String(try #require(Unicode.Scalar(value)))
        #expect(throws: NodeName.Problem.controlCharacter) { try NodeName("Dad\(mark)s Car") }
        #expect(NodeName(untrusted: "Dad\(mark)s Car").text == "Dads Car")
        #expect(UntrustedText.shown("a\(mark)b") == "ab")
    }

    @Test("any name of a peer becomes one line within the limits")
    func untrustedNames() {
        #expect(NodeName(untrusted: "").text == "?")
        #expect(NodeName(untrusted: "\u{1B}[31m").text == "[31m")
        let long = NodeName(untrusted: String(repeating: "👨‍👩‍👧‍👦", count: 1_000)).text
        #expect(long.utf8.count <= Limits.nameBytes && !long.isEmpty)
        #expect(NodeName(untrusted: String(repeating: "x", count: 300)).text.count == 64)
    }

    @Test("a name that is cut after a space has no space at its end, so it is the same when it is read again")
    func cutBehindSpace() {
        let name = NodeName(untrusted: String(repeating: "a", count: 63) + " b").text
        #expect(name == String(repeating: "a", count: 63))
        #expect(NodeName(untrusted: name).text == name)
    }

    @Test("the advertised name fits a scan response and ends between characters")
    func advertisedName() throws {
        #expect(try NodeName("Dad's Car").advertised == "Dad's Car")
        // A receiver drops the space at the cut, and a guest that names this host must find it.
        #expect(try NodeName("The Grand Old Coach of the Northern Valley").advertised == "The Grand Old Coach")
        let family = try NodeName(String(repeating: "👨‍👩‍👧‍👦", count: 9)).advertised
        #expect(family.unicodeScalars.starts(with: "👨\u{200D}👩".unicodeScalars))
        #expect(family.utf8.count <= Limits.advertisedNameBytes)
        #expect(try NodeName("e" + String(repeating: "é", count: 20)).advertised.utf8.count == 19)
    }

    @Test("an identity can be stored and restored, and its identifier is derived from its public key")
    func identity() throws {
        let identity = Identity.make()
        let again = try #require(Identity(stored: identity.stored))
        #expect(again.peerID == identity.peerID)
        #expect(identity.peerID.count == 32)
        #expect(Identity.make().peerID != identity.peerID)
        #expect(Identity(stored: [1, 2, 3]) == nil)
    }

    @Test("hexadecimal text is read as it was written, and other text is refused")
    func hex() {
        #expect(Hex.text([0, 0x7F, 0xFF]) == "007fff")
        #expect(Hex.bytes("007fFF") == [0, 0x7F, 0xFF])
        #expect(Hex.bytes("0") == nil)
        #expect(Hex.bytes("0g") == nil)
    }
}
