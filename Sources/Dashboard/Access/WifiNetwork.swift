// SPDX-License-Identifier: Apache-2.0

/// A wireless network that a phone can join by a picture of its name and password.
public struct WifiNetwork: Hashable, Sendable {
    /// Longest name, in bytes (IEEE 802.11, 9.4.2.2).
    public static let nameBytes = 32
    /// Bytes of a password (WPA2 passphrase, IEEE 802.11, J.4.1).
    public static let passwordBytes = 8...63

    /// Its name.
    public var name: String
    /// Its password; nil for an open one.
    public var password: String?

    /// A network. Nil where it can be none.
    public init?(name: String, password: String?) {
        guard (1...Self.nameBytes).contains(name.utf8.count),
            password.map({ Self.passwordBytes.contains($0.utf8.count) }) != false
        else { return nil }
        (self.name, self.password) = (name, password)
    }

    /// What phones read in a picture: the text of ZXing, which Android and iOS know.
    var code: String {
        let key = password.map { "T:WPA;S:\(Self.escaped(name));P:\(Self.escaped($0))" }
        return "WIFI:\(key ?? "T:nopass;S:\(Self.escaped(name))");;"
    }

    private static func escaped(_ text: String) -> String {
        String(text.flatMap { "\\;,:\"".contains($0) ? ["\\", $0] : [$0] })
    }
}
