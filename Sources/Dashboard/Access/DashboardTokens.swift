// SPDX-License-Identifier: Apache-2.0

import Crypto
import MeshProtocol

/// The tokens of a dashboard that other devices can open: one for the driver, one for invited guests.
public struct DashboardTokens: Hashable, Sendable {
    /// Grants every right.
    public var driver: String
    /// Allows a browser to join as a web guest. It grants no other right.
    public var guest: String

    /// Creates tokens with stored values, so that cookies and printed codes stay valid after the node restarts.
    public init(driver: String, guest: String) {
        self.driver = driver
        self.guest = guest
    }

    /// Creates random tokens.
    public static func make() -> DashboardTokens { DashboardTokens(driver: random(), guest: random()) }

    /// 128 random bits, in hexadecimal.
    static func random() -> String {
        SymmetricKey(size: .bits128).withUnsafeBytes { Hex.text($0) }
    }

    /// Returns an access token that admits only the guest with this key. It becomes invalid when the driver's token
    /// changes.
    func access(of guest: Peer.ID) -> String { guest + "-" + Hex.text(Array(code(for: guest).prefix(Self.codeBytes))) }

    /// The guest of a token from `access(of:)`. Nil for any other text.
    func guest(ofAccess access: String) -> Peer.ID? {
        guard let end = access.firstIndex(of: "-") else { return nil }
        let guest = String(access[..<end])
        return Self.areSame(access, self.access(of: guest)) ? guest : nil
    }

    private static let codeBytes = 16

    private func code(for guest: Peer.ID) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(
            for: Array("RoadMesh access \(guest)".utf8), using: SymmetricKey(data: Array(driver.utf8)))
    }

    static func isRandom(_ text: some StringProtocol) -> Bool { Hex.bytes(text)?.count == 128 / 8 }

    /// Compares two texts in a time that does not depend on the position of the difference.
    static func areSame(_ one: String, _ other: String) -> Bool {
        // Digests have equal lengths. The compared bytes are not those that the sender chose.
        SHA256.hash(data: Array(one.utf8)) == SHA256.hash(data: Array(other.utf8))
    }
}

/// The stored tokens of a page. With them a browser needs no new code after the node restarts.
public struct KeptTokens: Hashable, Sendable {
    /// The tokens.
    public let tokens: DashboardTokens

    /// Reads the stored tokens, or creates new ones if nothing usable is stored.
    public init(stored: [UInt8]?) {
        let words = String(decoding: stored ?? [], as: UTF8.self).split(
            separator: " ", omittingEmptySubsequences: false)
        let isWhole = words.count == 2 && words.allSatisfy(DashboardTokens.isRandom)
        tokens = isWhole ? DashboardTokens(driver: String(words[0]), guest: String(words[1])) : .make()
    }

    /// The stored form: a line of text.
    public var stored: [UInt8] { Array("\(tokens.driver) \(tokens.guest)".utf8) }
}
