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

    /// Compares without telling by the time it takes where the difference is.
    static func areSame(_ one: String, _ other: String) -> Bool {
        // Of digests, since they have one length, and what is compared is not what was sent.
        SHA256.hash(data: Array(one.utf8)) == SHA256.hash(data: Array(other.utf8))
    }
}
