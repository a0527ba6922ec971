// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// What a dashboard is given beside its node.
public struct DashboardOptions: Sendable {
    /// Where the page is, as far as that was not known when `bind` returned.
    public enum Change: Hashable, Sendable {
        /// It is at this address. `door` is where browsers of guests enter, and `passengers` the link that lets them in.
        case shown(url: String, door: String?, passengers: String?, port: Int)
        /// Whether phones can open it, where it is for all networks that the device is on.
        case reachable(Bool)
        /// It cannot be shown at this address yet, and why.
        case notShown(at: String, cause: String)
    }

    /// Says which addresses this device has.
    var networks: @Sendable () -> ReachableAddress = { LocalAddresses.now() }
    /// Hears of such changes, from `run` on.
    public var changed: @Sendable (Change) async -> Void = { _ in }
    /// What opens it, where others than programs on this device can reach it.
    public var tokens = DashboardTokens.make()
    /// The port of an earlier start, which is tried first where any will do: that is where browsers look for the page.
    public var formerPort: Int?
    /// Whether passengers may join with a browser. For hosts.
    public var webGuests = false
    /// Connections that it takes at a time.
    public var connections = DashboardLimits.connections
    /// How long the open pages have, when the node has ended, to take the view that says so.
    public var lastView = DashboardLimits.lastView
    /// The network that guests' phones have to be on, to be shown as a picture that joins it.
    public var wifi: WifiNetwork?
    /// The host's PIN, to be shown to who is to be invited.
    public var pin: String?
    /// Whether guests can skip; nil on a guest's node, which is not told.
    public var majoritySkip: Bool?
    /// Looks through the host's library. Nil on a guest's node, which asks its host.
    public var search: (@Sendable (SongQuery) async -> FoundSongs)?
    /// A song's cover, as it is in the music's file. What kind of picture it is, its bytes tell. Nil where there is none.
    public var art: (@Sendable (Song.ID) async -> [UInt8]?)?

    /// Those of a node without a library of its own.
    public init() {}
}
