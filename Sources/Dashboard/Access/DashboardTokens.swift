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

    static func isRandom(_ text: some StringProtocol) -> Bool { Hex.bytes(text)?.count == 128 / 8 }

    /// Compares without telling by the time it takes where the difference is.
    static func areSame(_ one: String, _ other: String) -> Bool {
        // Of digests, since they have one length, and what is compared is not what was sent.
        SHA256.hash(data: Array(one.utf8)) == SHA256.hash(data: Array(other.utf8))
    }
}

/// The tokens of a page, and since when they are: what is stored, so that a restart asks no browser for its code again.
public struct KeptTokens: Hashable, Sendable {
    /// The tokens.
    public let tokens: DashboardTokens
    /// When they were made, in seconds since 1970.
    private let madeAt: UInt32

    /// The tokens for a start at `now`, in seconds since 1970: the stored ones for as long as they are good
    /// (`DashboardLimits.tokenSeconds`), else new ones. Nothing is `stored` for a session that has only begun.
    public init(stored: [UInt8]?, now: UInt32) {
        let words = String(decoding: stored ?? [], as: UTF8.self).split(
            separator: " ", omittingEmptySubsequences: false)
        if words.count == 3, words.prefix(2).allSatisfy(DashboardTokens.isRandom), let madeAt = UInt32(words[2]),
            // A head unit without a clock may wake up earlier than it went to sleep.
            abs(Int(now) - Int(madeAt)) < DashboardLimits.tokenSeconds
        {
            tokens = DashboardTokens(driver: String(words[0]), guest: String(words[1]))
            self.madeAt = madeAt
        } else {
            tokens = .make()
            madeAt = now
        }
    }

    /// As they are stored: a line of text.
    public var stored: [UInt8] { Array("\(tokens.driver) \(tokens.guest) \(madeAt)".utf8) }
}
