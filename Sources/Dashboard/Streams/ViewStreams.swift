// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides what each open page is sent: the newest view where it has not seen that, a ping where nothing was sent for a
/// while, and nothing that has been overtaken.
struct ViewStreams: Sendable {
    typealias ID = Int

    /// Whose page it is.
    enum Viewer: Hashable, Sendable {
        /// The person at the node.
        case node
        /// A passenger with a browser.
        case webGuest(Peer.ID)
    }

    /// What is sent next.
    enum Next: Hashable, Sendable {
        case view, ping
        /// The last view, and nothing more.
        case lastView
        /// Nothing for now.
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

    /// All of a viewer's; nil for everybody's.
    func all(of viewer: Viewer?) -> [ID] {
        streams.filter { viewer == nil || $0.value.viewer == viewer }.keys.sorted()
    }

    func viewer(_ id: ID) -> Viewer? { streams[id]?.viewer }

    /// Opens one. Nil where there are too many; `ends` is one of the same guest that has to go for it. Guests and the
    /// driver take no places of one another.
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

    /// Closes one; whether it was open.
    mutating func close(_ id: ID) -> Bool { streams.removeValue(forKey: id) != nil }

    /// What is sent on a stream whose viewer's view has this version. It counts as sent from then on.
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
