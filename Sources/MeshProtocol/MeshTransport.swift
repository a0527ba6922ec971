// SPDX-License-Identifier: Apache-2.0

/// Carries the SDUs of one link. Above it there are peers, messages and events. A radio's addresses, PSMs and file
/// descriptors stay below it.
///
/// A transport is used for one link: call `connect`, then `send` and `receive` concurrently, then `close`.
public protocol MeshTransport: Sendable {
    /// The identifier that the other side has advertised, or its head. Nil if no particular peer is expected.
    var expectedPeer: Peer.ID? { get async }

    /// The flags of the advertisement that led to this link: the heard ones on the dialling side, its own on the other.
    /// Nil without an advertisement.
    var advertisedFlags: AdvertisedFlags? { get async }

    /// Opens the channel. It stays pending during a gap, until the radio gives up or the task is cancelled. On an
    /// accepted transport it returns at once. Throws `MeshTransportError`.
    func connect() async throws

    /// Largest SDU that the other side accepts, in bytes. Known once connected.
    var sendMTU: Int { get async }

    /// Frames per second that may be read from the link. More have to wait.
    var framesPerSecond: Int { get async }

    /// Sends one SDU in one piece. Suspends while the other side accepts no more. Throws if the channel is broken.
    func send(_ sdu: [UInt8]) async throws

    /// Sends one SDU in one piece if this needs no waiting. Returns whether it was sent: false if the other side
    /// accepts no more at present, or if this transport cannot tell. Throws if the channel is broken.
    func sendAtOnce(_ sdu: [UInt8]) throws -> Bool

    /// The next SDU, or nil after the other side has closed. Throws if the channel is broken.
    func receive() async throws -> [UInt8]?

    /// Signal strength in dBm. Nil if the radio does not report it.
    func signalStrength() async -> Int?

    /// The link parameters that were requested, and those in use. Nil without a link layer.
    func linkCondition() async -> LinkCondition?

    /// Passes on what the radio at the other end reports about the link. A transport without a radio ignores it.
    func heed(_ note: AirNote) async

    /// Closes the channel, or cancels `connect`, and ends all waits. You can call it again.
    func close() async
}

extension MeshTransport {
    /// By default a transport has no link layer to report.
    public func linkCondition() async -> LinkCondition? { nil }

    /// By default a transport has no link layer to advise.
    public func heed(_ note: AirNote) async {}

    /// By default `Limits.framesPerSecond`.
    public var framesPerSecond: Int { Limits.framesPerSecond }

    /// By default every send may have to wait.
    public func sendAtOnce(_ sdu: [UInt8]) throws -> Bool { false }

    /// By default a transport has no advertisement.
    public var advertisedFlags: AdvertisedFlags? { nil }
}
