// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides what to send to each open page: the newest view if the page has not seen it, or a ping after a silence. It
/// never sends an outdated view.
struct ViewStreams: Sendable {
    typealias ID = Int

    /// The person who looks at a page.
    enum Viewer: Hashable, Sendable {
        /// The person at the node.
        case node
        /// A passenger with a browser.
        case webGuest(Peer.ID)
    }

    /// What to send next.
    enum Next: Hashable, Sendable {
        case view, ping
        /// The last view, after which the stream ends.
        case lastView
        /// Send nothing yet.
        case wait
    }

    private struct Stream: Sendable {
        let viewer: Viewer
        let address: String
        var sentVersion = 0
        var sentAt: MeshInstant
    }

    private var streams: [ID: Stream] = [:]
    private var last = 0

    var count: Int { streams.count }

    /// A viewer's streams. Nil means all streams.
    func all(of viewer: Viewer?) -> [ID] {
        streams.filter { viewer == nil || $0.value.viewer == viewer }.keys.sorted()
    }

    func viewer(_ id: ID) -> Viewer? { streams[id]?.viewer }

    /// Opens a stream. Nil if there are too many. `ends` is an older stream of the same guest that has to close. Guests
    /// and the driver have separate slots.
    mutating func open(_ viewer: Viewer, from address: String, now: MeshInstant) -> (id: ID, ends: ID?)? {
        let isDriver = viewer == .node
        let own = isDriver ? [] : all(of: viewer)
        let ends = own.count < DashboardLimits.streamsPerGuest ? nil : own.first
        if let ends {
            streams[ends] = nil
        } else {
            let alike = streams.values.filter { ($0.viewer == .node) == isDriver }
            let limit = isDriver ? DashboardLimits.driverStreams : DashboardLimits.guestStreams
            let limitPerAddress =
                isDriver ? DashboardLimits.driverStreamsPerAddress : DashboardLimits.streamsPerAddress
            guard alike.count < limit, alike.count(where: { $0.address == address }) < limitPerAddress else {
                return nil
            }
        }
        last += 1
        streams[last] = Stream(viewer: viewer, address: address, sentAt: now)
        return (last, ends)
    }

    /// Closes a stream. Returns whether it was open.
    mutating func close(_ id: ID) -> Bool { streams.removeValue(forKey: id) != nil }

    /// Decides what to send on a stream, given the version of its viewer's view. The result counts as sent.
    mutating func next(_ id: ID, version: Int, isLast: Bool, now: MeshInstant) -> Next {
        guard let stream = streams[id] else { return .wait }
        if stream.sentVersion < version {
            streams[id]?.sentVersion = version
            streams[id]?.sentAt = now
            return isLast ? .lastView : .view
        }
        guard stream.sentAt + DashboardLimits.ping <= now else { return .wait }
        streams[id]?.sentAt = now
        return .ping
    }
}
