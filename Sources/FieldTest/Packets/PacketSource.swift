// SPDX-License-Identifier: Apache-2.0

/// Keeps the last packets of a radio while a drive is recorded, and makes files of them.
public protocol PacketSource: Sendable {
    /// Reads packets until `close`.
    func run() async

    /// Stops reading.
    func close()

    /// A file of the packets of this time, without what belongs to others. Nil without a packet in it.
    func file(from: ContinuousClock.Instant, to: ContinuousClock.Instant) -> [UInt8]?
}
