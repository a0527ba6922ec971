// SPDX-License-Identifier: Apache-2.0

import Crypto
import MeshProtocol

/// The words that open a dashboard which others can reach: one for the driver, one for those who are invited.
public struct DashboardTokens: Hashable, Sendable {
    /// Opens everything.
    public var driver: String
    /// Opens the door of a web guest, and nothing else.
    public var guest: String

    /// Tokens that were kept, so that cookies and printed codes outlive a start of the node.
    public init(driver: String, guest: String) {
        self.driver = driver
        self.guest = guest
    }

    /// New ones.
    public static func make() -> DashboardTokens { DashboardTokens(driver: random(), guest: random()) }

    /// 128 random bits, in hexadecimal.
    static func random() -> String {
        SymmetricKey(size: .bits128).withUnsafeBytes { Hex.text($0) }
    }

    /// The access of one guest alone: it admits the key of this identifier only. Where the driver's token changes, it ends.
    func access(of guest: Peer.ID) -> String { guest + "-" + Hex.text(Array(code(for: guest).prefix(Self.codeBytes))) }

    /// The guest of an access that `access(of:)` has made; nil for any other text.
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

    /// Compares without telling by the time it takes where the difference is.
    static func areSame(_ one: String, _ other: String) -> Bool {
        // Of digests, since they have one length, and what is compared is not what was sent.
        SHA256.hash(data: Array(one.utf8)) == SHA256.hash(data: Array(other.utf8))
    }
}

/// The tokens of a page as they are stored, so that no start of the node asks a browser for its code again.
public struct KeptTokens: Hashable, Sendable {
    /// The tokens.
    public let tokens: DashboardTokens

    /// The tokens for a start: the stored ones, or new ones where nothing usable is stored.
    public init(stored: [UInt8]?) {
        let words = String(decoding: stored ?? [], as: UTF8.self).split(
            separator: " ", omittingEmptySubsequences: false)
        let isWhole = words.count == 2 && words.allSatisfy(DashboardTokens.isRandom)
        tokens = isWhole ? DashboardTokens(driver: String(words[0]), guest: String(words[1])) : .make()
    }

    /// As they are stored: a line of text.
    public var stored: [UInt8] { Array("\(tokens.driver) \(tokens.guest)".utf8) }
}
