// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

@Suite("An invitation")
struct InvitationTests {
    private static let example = Invitation(
        host: "f35e5616160a30bf3c6e79fa73c576d4", service: .democracyDJ, name: Array(0..<8), secret: Array(16..<32))

    @Test("an invitation's text is the document's example")
    func text() {
        let text = "roadmesh:AfNeVhYWCjC_PG55-nPFdtQAAQIDBAUGBxAREhMUFRYXGBkaGxwdHh9kZW1vY3JhY3ktZGoGrRpL"
        #expect(Self.example.text == text)
        #expect(Invitation(text: text) == Self.example)
    }

    @Test("an invitation is read from a link, from a message with other words, and alone")
    func surroundings() {
        let code = Self.example.code
        let link = Self.example.link(at: "http://192.168.4.1:8080")
        #expect(link == "http://192.168.4.1:8080/join?invitation=" + code)
        for text in [link, link + "&x=1", "  \(Self.example.text)\n", "Come: \(Self.example.text)!", code] {
            #expect(Invitation(text: text) == Self.example, "\(text)")
        }
    }

    @Test("is read whatever white space a terminal or a message has put into it", arguments: ["\n", " ", "\r\n  "])
    func broken(space: String) {
        let text = Self.example.text
        for width in [20, 33, 80] {
            var rest = text[...]
            var lines: [Substring] = []
            while !rest.isEmpty {
                lines.append(rest.prefix(width))
                rest = rest.dropFirst(width)
            }
            let broken = lines.joined(separator: space)
            #expect(Invitation(text: broken) == Self.example, "\(width)")
            #expect(Invitation(text: "Come:\n\(broken)\nand bring songs") == Self.example, "\(width)")
        }
    }

    @Test("that is cut off, mistyped or of another version is invalid")
    func damaged() {
        let text = Self.example.text
        for length in 0..<text.count { #expect(Invitation(text: String(text.prefix(length))) == nil) }
        for place in text.indices.dropFirst(9) {
            var other = text
            other.replaceSubrange(place...place, with: text[place] == "A" ? "B" : "A")
            #expect(Invitation(text: other) == nil)
        }
        for text in ["", "hello", "roadmesh:", "invitation=", String(repeating: "A", count: 100_000)] {
            #expect(Invitation(text: text) == nil)
        }
    }

    @Test("bytes of any length are the same after encoding and decoding")
    func base64() {
        for count in 0...70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
            #expect(Base64URL.bytes(Base64URL.text(bytes)) == bytes)
        }
        for wrong in ["A", "AB", "A=", "AAA=", "A A", "ä"] { #expect(Base64URL.bytes(wrong) == nil) }
    }

    @Test("an invitation is valid until its time is over or one guest has used it, and their number is limited")
    func door() {
        var door = AdmissionPolicy(pin: JoiningSecret(pin: "314159"), wallClockSeconds: 1_000)
        let once = door.invite([1], [1], seconds: 100, isOnce: true, now: .zero)
        let timed = door.invite([2], [2], seconds: 100, isOnce: false, now: .seconds(50))
        #expect(once?.until == 1_100 && timed?.until == 1_150)
        let known = door.secret(ofInvitation: [1], now: .seconds(99))
        #expect(known?.bytes == [1])
        let used = [door.use(invitation: [1], now: .seconds(99)), door.use(invitation: [1], now: .seconds(99))]
        #expect(used == [true, false])
        let again = [door.use(invitation: [2], now: .seconds(99)), door.use(invitation: [2], now: .seconds(149))]
        #expect(again == [true, true])
        let late = door.use(invitation: [2], now: .seconds(150)),
            gone = door.secret(ofInvitation: [2], now: .seconds(150))
        #expect(!late && gone == nil && door.invitations.isEmpty)
        var count = 0
        while door.invite([UInt8(count)], [0], seconds: .max, isOnce: true, now: .zero) != nil { count += 1 }
        #expect(count == Limits.invitations)
        #expect(door.invitations.allSatisfy { $0.until == 1_000 + Limits.invitationSeconds })
        #expect(door.takeBack(invitation: [3]) && !door.takeBack(invitation: [3]))
        #expect(door.invitations.count == count - 1)
        count -= 1
        let taken = door.takeBackInvitations()
        #expect(taken == count && door.invitations.isEmpty)
    }

    @Test("a browser's invitation is judged like one over the air, and its PIN counts as a guess")
    func browser() throws {
        var door = AdmissionPolicy(pin: JoiningSecret(pin: "314159"), wallClockSeconds: 0)
        _ = door.invite(Array(0..<8), Array(16..<32), seconds: 100, isOnce: true, now: .zero)
        let claim = Self.example.joiningSecret
        var forged = claim
        forged.bytes[0] ^= 1
        let answers = [forged, claim].map { door.judge($0, at: .page, now: .zero) }
        #expect(answers == [.invitation, nil])
        let used = (0..<2).map { _ in door.use(invitation: claim.invitation, now: .zero) }
        let later = door.judge(claim, at: .page, now: .zero)
        #expect(used == [true, false] && later == .invitation)
        let wrong = try #require(JoiningSecret(pin: "271828")), right = try #require(JoiningSecret(pin: "314159"))
        let guesses = (1...7).map { _ in door.judge(wrong, at: .page, now: .zero) }
        #expect(guesses == Array(repeating: .wrongProof, count: 3) + Array(repeating: .tooManyGuesses, count: 4))
        let early = door.judge(right, at: .page, now: .seconds(199))
        let late = door.judge(right, at: .page, now: .seconds(200))
        #expect(early == .tooManyGuesses && late == nil)
    }
}
