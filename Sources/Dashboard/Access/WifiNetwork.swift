// SPDX-License-Identifier: Apache-2.0

/// A wireless network that a phone can join with a QR code of its name and password.
public struct WifiNetwork: Hashable, Sendable {
    /// The longest name, in bytes (IEEE 802.11, 9.4.2.2).
    public static let nameBytes = 32
    /// The length of a password, in bytes (WPA2 passphrase, IEEE 802.11, J.4.1).
    public static let passwordBytes = 8...63

    /// The network's name.
    public var name: String
    /// The network's password. Nil for an open network.
    public var password: String?

    /// Creates a network. Nil if the name or the password has an invalid length.
    public init?(name: String, password: String?) {
        guard (1...Self.nameBytes).contains(name.utf8.count),
            password.map({ Self.passwordBytes.contains($0.utf8.count) }) != false
        else { return nil }
        (self.name, self.password) = (name, password)
    }

    /// The text of the QR code, in ZXing's format, which Android and iOS read.
    var code: String {
        let key = password.map { "T:WPA;S:\(Self.escaped(name));P:\(Self.escaped($0))" }
        return "WIFI:\(key ?? "T:nopass;S:\(Self.escaped(name))");;"
    }

    private static func escaped(_ text: String) -> String {
        String(text.flatMap { "\\;,:\"".contains($0) ? ["\\", $0] : [$0] })
    }
}
