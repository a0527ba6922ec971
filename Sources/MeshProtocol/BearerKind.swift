// SPDX-License-Identifier: Apache-2.0

/// The kind of network that carries a link, as programs see it.
public enum BearerKind: String, Hashable, Sendable, CaseIterable, Codable {
    /// A Bluetooth channel, of packets or as a stream.
    case l2cap
    /// Wi-Fi or Ethernet.
    case lan
    /// An MQTT broker, near or far.
    case broker
    /// Sockets in a folder that represents the air.
    case virtual

    /// Whether the bearer is a network or a broker. Links over such a bearer use none of the radio's slots, and their
    /// loss says nothing about the radio.
    public var isBesideRadio: Bool {
        switch self {
        case .lan, .broker: true
        case .l2cap, .virtual: false
        }
    }
}
