// SPDX-License-Identifier: Apache-2.0

/// A radio with links and an adapter that a measurement may interrupt, as `roadmesh fieldtest bench` does.
public protocol InterruptibleBearer: Bearer {
    /// Ends all links of this radio. The radios at both ends notice it. Returns when the links have ended.
    func endLinks() async

    /// Switches the adapter off or on. Other programs lose their links as well. Throws `unsupported` if the radio has
    /// no switch.
    func switchAdapter(on isOn: Bool) async throws(BearerError)

    /// Asks for a PHY on every link, and returns when the controllers have answered. Throws `notPermitted` if this
    /// process may not ask, and `unsupported` if a controller does not have the PHY or does not change to it.
    func change(to phy: LinkPHY) async throws(BearerError)
}

/// A physical layer of Bluetooth Low Energy (Vol 6, Part B, 2.1).
public enum LinkPHY: String, Codable, Hashable, Sendable, CaseIterable {
    /// 1 Mbit/s.
    case oneMegabit = "1M"
    /// 2 Mbit/s.
    case twoMegabit = "2M"
    /// With error correction, for longer distances.
    case coded
}
