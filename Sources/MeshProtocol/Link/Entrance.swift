// SPDX-License-Identifier: Apache-2.0

/// The way in which a stranger reaches a node. Limits for strangers count for each entrance separately, so strangers at
/// a broker do not affect Bluetooth.
public enum Entrance: Hashable, Sendable, CaseIterable {
    /// Bluetooth, including relays on it.
    case air
    /// Wi-Fi or Ethernet.
    case network
    /// An MQTT broker, which strangers from anywhere can reach.
    case broker
    /// The node's page.
    case page

    /// The entrance of a bearer. `air` if the bearer is unknown.
    public init(_ bearer: BearerKind?) {
        self =
            switch bearer {
            case nil, .l2cap, .virtual: .air
            case .lan: .network
            case .broker: .broker
            }
    }
}
