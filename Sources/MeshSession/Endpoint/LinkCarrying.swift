// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// The transport of one link, and the tasks that read and write it.
package struct LinkCarrier: Sendable {
    let transport: any MeshTransport
    let sendMTU: Int
    let signal: AsyncStream<Void>.Continuation
    var reader: Task<Void, Never>?
    var writer: Task<Void, Never>?
    /// Data that the channel did not accept at once. The writer sends this data first.
    var unsent: [UInt8]?
    /// The writer waits for the channel. It sends all pending data when the channel accepts more.
    var isWriting = false
}

/// An actor that reads and writes the transports of a node's links, for a struct that decides what to send.
package protocol LinkCarrying: Actor {
    /// The carriers by link. Only the methods of `LinkCarrying` change them.
    var carriers: [MeshCore.LinkID: LinkCarrier] { get set }
    /// Logs messages for the person who maintains the device.
    var logger: Logger { get }

    /// An SDU has arrived.
    func received(_ sdu: [UInt8], on id: MeshCore.LinkID)
    /// Returns when the next SDU of a link may be read.
    func untilReadable(_ id: MeshCore.LinkID) async
    /// The next SDU to send on a link, of at most this many bytes.
    func nextSDU(for id: MeshCore.LinkID, limit: Int) -> [UInt8]?
    /// A link's channel has closed. The link is removed.
    func channelClosed(_ id: MeshCore.LinkID)
}

extension LinkCarrying {
    /// Takes over a connected transport, and carries its link until it ends. `begin` adds the link to the struct that
    /// decides, before anything is read or written.
    package func carry(
        _ id: MeshCore.LinkID, over transport: any MeshTransport, sendMTU: Int, begin: () -> Void
    ) {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        carriers[id] = LinkCarrier(transport: transport, sendMTU: sendMTU, signal: signal)
        begin()
        carriers[id]?.writer = Task { await self.write(link: id, signals) }
        carriers[id]?.reader = Task { await self.read(link: id) }
    }

    /// A link has data to send.
    package func wake(_ id: MeshCore.LinkID) { carriers[id]?.signal.yield() }

    /// Sends a link's data immediately, as far as the channel accepts it, without waking a task. Do not call this from
    /// `nextSDU`, because the next SDU would overtake the current one.
    package func flush(_ id: MeshCore.LinkID) {
        guard let carrier = carriers[id], !carrier.isWriting else { return }
        do {
            while let sdu = nextSDU(for: id, limit: carrier.sendMTU) {
                guard try !carrier.transport.sendAtOnce(sdu) else { continue }
                carriers[id]?.unsent = sdu
                carriers[id]?.isWriting = true
                return wake(id)
            }
        } catch {
            // The channel notifies the reader, which ends the link.
            Task { await carrier.transport.close() }
        }
    }

    /// Closes a link's channel. If a final frame is pending, the channel first gets time to send it.
    package func close(_ id: MeshCore.LinkID, afterFinalFrame: Bool) {
        guard let transport = carriers[id]?.transport else { return }
        Task {
            // A peer closes the channel after it has read the final frame. This wait covers a peer that does not.
            if afterFinalFrame { try? await Task.sleep(for: Limits.goodbyeTimeout) }
            await transport.close()
        }
    }

    /// Returns when all reading and writing has ended. Close all links first.
    package func untilAllAreClosed() async {
        for carrier in carriers.values {
            await carrier.reader?.value
            await carrier.writer?.value
        }
    }

    /// Returns the link quality that the radio measures.
    package func condition(
        of id: MeshCore.LinkID
    ) async -> (rssi: Int?, condition: LinkCondition?) {
        guard let transport = carriers[id]?.transport else { return (nil, nil) }
        return (await transport.signalStrength(), await transport.linkCondition())
    }

    /// Passes a note from the peer's radio to this side's channel.
    package func heed(_ note: AirNote, on id: MeshCore.LinkID) {
        guard let transport = carriers[id]?.transport else { return }
        Task { await transport.heed(note) }
    }

    private func read(link id: MeshCore.LinkID) async {
        guard let transport = carriers[id]?.transport else { return }
        do {
            while let sdu = try await transport.receive() {
                received(sdu, on: id)
                await untilReadable(id)
            }
        } catch {
            logger.debug("link \(id): \(error)")
        }
        channelClosed(id)
        await transport.close()
        carriers.removeValue(forKey: id)?.signal.finish()
    }

    private func write(link id: MeshCore.LinkID, _ signals: AsyncStream<Void>) async {
        guard let carrier = carriers[id] else { return }
        do {
            for await _ in signals {
                carriers[id]?.isWriting = true
                if let sdu = carriers[id]?.unsent {
                    carriers[id]?.unsent = nil
                    try await carrier.transport.send(sdu)
                }
                while let sdu = nextSDU(for: id, limit: carrier.sendMTU) { try await carrier.transport.send(sdu) }
                carriers[id]?.isWriting = false
            }
        } catch {
            // The channel notifies the reader, which ends the link.
            await carrier.transport.close()
        }
    }
}
