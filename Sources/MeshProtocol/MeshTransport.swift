// SPDX-License-Identifier: Apache-2.0

/// What carries the SDUs of one link. Above it there are peers, messages and events; what a radio calls an address, a PSM
/// or a file descriptor stays below.
///
/// A transport is used for one link: `connect`, then `send` and `receive` at the same time, then `close`.
public protocol MeshTransport: Sendable {
    /// The identifier, or the head of one, that the other side has advertised. Nil where nobody is expected.
    var expectedPeer: Peer.ID? { get async }

    /// The flags of the advertisement that led here: heard by who dials, its own for who was dialled. Nil where nothing was
    /// advertised.
    var advertisedFlags: AdvertisedFlags? { get async }

    /// Opens the channel. It stays pending through a gap, until the radio gives up or the task is cancelled. On a
    /// transport that was accepted it returns at once. Throws `MeshTransportError`.
    func connect() async throws

    /// Largest SDU that the other side takes, in bytes. Known once connected.
    var sendMTU: Int { get async }

    /// Sends one SDU whole. Suspends while the other side takes no more. Throws where the channel is broken.
    func send(_ sdu: [UInt8]) async throws

    /// Sends one SDU whole where that takes no waiting. Whether it was sent: not, where the other side takes no more at present,
    /// or where this transport cannot tell. Throws where the channel is broken.
    func sendAtOnce(_ sdu: [UInt8]) throws -> Bool

    /// The next SDU, or nil when the other side has closed. Throws where the channel is broken.
    func receive() async throws -> [UInt8]?

    /// Signal strength in dBm, nil where the radio cannot tell.
    func signalStrength() async -> Int?

    /// What the link layer was asked for, and what it does. Nil where there is none.
    func linkCondition() async -> LinkCondition?

    /// The radio at the other end says this of the link below. A transport without one ignores it.
    func heed(_ note: AirNote) async

    /// Closes the channel, or gives up `connect`; whatever waits ends. Safe to call again.
    func close() async
}

extension MeshTransport {
    /// A transport without a link layer that anybody could tell of.
    public func linkCondition() async -> LinkCondition? { nil }

    /// A transport without a link layer that anybody could advise.
    public func heed(_ note: AirNote) async {}

    /// A transport that may always have to wait.
    public func sendAtOnce(_ sdu: [UInt8]) throws -> Bool { false }

    /// A transport that nothing was advertised for.
    public var advertisedFlags: AdvertisedFlags? { nil }
}

/// Why a transport has no channel, or none any more.
public enum MeshTransportError: Error, Hashable, Sendable {
    /// No connection, for this reason.
    case connectionFailed(reason: String)
}
