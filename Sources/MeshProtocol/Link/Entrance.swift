// SPDX-License-Identifier: Apache-2.0

/// How a stranger reaches a node. Limits for strangers count for each entrance, so strangers at a broker do not affect
/// the air.
public enum Entrance: Hashable, Sendable, CaseIterable {
    /// Bluetooth, also through relays there.
    case air
    /// Wi-Fi or Ethernet.
    case network
    /// An MQTT broker: strangers from everywhere.
    case broker
    /// The node's page.
    case page

    /// The entrance of what comes over a bearer; the air's where that is not known.
    public init(_ bearer: Bearer?) {
        self =
            switch bearer {
            case nil, .l2cap, .virtual: .air
            case .lan: .network
            case .broker: .broker
            }
    }
}
