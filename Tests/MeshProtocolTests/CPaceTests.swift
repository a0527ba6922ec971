// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import MeshProtocol

/// The cryptography of a PIN, compared with the vectors of draft-irtf-cfrg-cpace for ristretto255 with SHA-512.
@Suite("CPace")
struct CPaceTests {
    private static let secret = Array("Password".utf8)
    private static let channel = bytes("0b415f696e69746961746f720b425f726573706f6e646572")
    private static let session = bytes("7e4b4791d6a8ef019b936c79fb7f2c57")
    private static let shares = (
        initiator: bytes("d6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0eec482b9157"),
        responder: bytes("3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258")
    )

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    private static func run(_ side: CPace.Side) throws -> CPace {
        let scalar =
            side == .initiator
            ? "da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08"
            : "d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d"
        let number = try #require(RistrettoElement.Scalar(encoded: bytes(scalar)))
        return try #require(CPace(side, secret: secret, channel: channel, session: session, scalar: number))
    }

    @Test("Strings are concatenated as in the draft, and the secret fills a block of the hash with zeros")
    func strings() {
        let parts = ["1234", "5", "", "678"].map { Array($0.utf8) }
        #expect(CPace.lengthed(parts) == Self.bytes("043132333401350003363738"))
        let long = [UInt8](repeating: 7, count: 200)
        #expect(CPace.lengthed([long]) == [0xC8, 0x01] + long)
        let string = CPace.generatorString(secret: Self.secret, channel: Self.channel, session: Self.session)
        #expect(string.count == 170)
        #expect(string.prefix(27) == Self.bytes("11435061636552697374726574746f3235350850617373776f7264")[...])
        #expect(string[27] == 100)
        #expect(string[28..<128].allSatisfy { $0 == 0 })
        #expect(string[128...] == ([24] + Self.channel + [16] + Self.session)[...])
        #expect(CPace.generatorString(secret: long, channel: [], session: [])[220...] == [0, 0, 0])
    }

    @Test("The shares, the agreed point and the key are the draft's")
    func agreement() throws {
        let (one, other) = (try Self.run(.initiator), try Self.run(.responder))
        #expect(one.share.bytes == Self.shares.initiator)
        #expect(other.share.bytes == Self.shares.responder)
        let associated = (initiator: Array("ADa".utf8), responder: Array("ADb".utf8))
        let atOne = try #require(one.agree(with: other.share, associated: associated))
        let atOther = try #require(other.agree(with: one.share, associated: associated))
        #expect(
            atOne.key
                == Self.bytes(
                    "b69effbf61b51d56401c0f65601abe428de8206feaaf0e32198896dcae7b35cd"
                        + "2b38950a39dfd5d4a79164614c2984f7daa460b588c1e80c3fa2068af7900447"))
        #expect(atOne.key == atOther.key)
        #expect(atOne.initiatorProof == atOther.initiatorProof)
        #expect(atOne.responderProof == atOther.responderProof)
        #expect(atOne.initiatorProof != atOne.responderProof)
    }

    @Test("Scalar times element is the draft's, and non-elements and the identity are refused")
    func elements() throws {
        let scalar = try #require(
            RistrettoElement.Scalar(
                encoded: Self.bytes("7cd0e075fa7955ba52c02759a6c90dbbfc10e6d40aea8d283e407d88cf538a05")))
        func product(_ hex: String) -> [UInt8]? {
            RistrettoElement(encoded: Self.bytes(hex))?.multiplied(by: scalar)?.bytes
        }
        #expect(
            product("2c3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c")
                == Self.bytes("7c13645fe790a468f62c39beb7388e541d8405d1ade69d1778c5fe3e7f6b600e"))
        #expect(product("2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c") == nil)
        #expect(product(String(repeating: "00", count: 32)) == nil)
        #expect(RistrettoElement(encoded: [UInt8](repeating: 1, count: 31)) == nil)
        let identity = try #require(RistrettoElement(encoded: [UInt8](repeating: 0, count: 32)))
        #expect(try Self.run(.responder).agree(with: identity) == nil)
    }

    @Test("With another secret, channel, session or share, the proofs differ")
    func bindings() throws {
        let (one, other) = (try Self.run(.initiator), try Self.run(.responder))
        let honest = try #require(one.agree(with: other.share))
        let scalar = RistrettoElement.Scalar(uniform: [UInt8](repeating: 9, count: 64))
        for (secret, channel, session) in [
            (Array("password".utf8), Self.channel, Self.session), (Self.secret, Self.channel + [0], Self.session),
            (Self.secret, Self.channel, Self.session + [0]),
        ] {
            let guess = try #require(
                CPace(.responder, secret: secret, channel: channel, session: session, scalar: scalar))
            let (here, there) = (one.agree(with: guess.share), guess.agree(with: one.share))
            #expect(here?.initiatorProof != there?.initiatorProof)
            #expect(here?.responderProof != there?.responderProof)
            #expect(here?.initiatorProof != honest.initiatorProof)
        }
    }
}
