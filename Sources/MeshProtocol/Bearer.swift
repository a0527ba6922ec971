// SPDX-License-Identifier: Apache-2.0

/// What a link goes over, as programs are told.
public enum Bearer: String, Hashable, Sendable, CaseIterable, Codable {
    /// A Bluetooth channel of packets, or of a stream.
    case l2cap
    /// Wi-Fi or Ethernet.
    case lan
    /// An MQTT broker, wherever it is.
    case broker
    /// Sockets in a folder that stands for the air.
    case virtual

    /// Whether it is a network or a broker: its links take nothing of a node's radio, and their loss says nothing about that.
    public var isBesideRadio: Bool {
        switch self {
        case .lan, .broker: true
        case .l2cap, .virtual: false
        }
    }
}
