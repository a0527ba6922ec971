// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// The settings and callbacks of a dashboard.
public struct DashboardOptions: Sendable {
    /// A change of the page's address after `bind` has returned.
    public enum Change: Hashable, Sendable {
        /// The page has the address `url`. Guests' browsers join at `door`. `passengers` is the link that admits them.
        case shown(url: String, door: String?, passengers: String?, port: Int)
        /// Whether phones can open the page, if it listens on all networks of the device.
        case reachable(Bool)
        /// The page cannot listen at this address yet, for this cause.
        case notShown(at: String, cause: String)
    }

    /// Returns this device's addresses.
    var networks: @Sendable () -> ReachableAddress = { LocalAddresses.now() }
    /// Called for each change while `run` runs.
    public var changed: @Sendable (Change) async -> Void = { _ in }
    /// The tokens for browsers on other devices.
    public var tokens = DashboardTokens.make()
    /// The port of the previous start. If any port may be used, this port is tried first, because browsers look for the
    /// page there.
    public var formerPort: Int?
    /// Whether passengers may join with a browser. Only a host uses this.
    public var webGuests = false
    /// Maximum number of connections at the same time.
    public var connections = DashboardLimits.connections
    /// How long the open pages have to receive the last view when the node has ended.
    public var lastView = DashboardLimits.lastView
    /// The network that guests' phones must join. The page shows a QR code for it.
    public var wifi: WifiNetwork?
    /// The host's PIN, which the page shows for people to invite.
    public var pin: String?
    /// Whether guests can skip by majority. Nil on a guest's node, which does not know this setting.
    public var majoritySkip: Bool?
    /// Searches the host's library. Nil on a guest's node, which asks its host.
    public var search: (@Sendable (SongQuery) async -> FoundSongs)?
    /// Returns a song's cover from the music file. The format follows from the first bytes. Nil if the file has no
    /// cover.
    public var art: (@Sendable (Song.ID) async -> [UInt8]?)?

    /// Options for a node without a library.
    public init() {}
}
