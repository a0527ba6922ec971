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
    /// Data that the channel did not accept at once. They are sent before all others.
    var unsent: [UInt8]?
    /// The writer waits for the channel, and will send everything.
    var isWriting = false
}

/// An actor that reads and writes the transports of a node's links, for a struct that decides what to send.
package protocol LinkCarrying: Actor {
    /// The carrier of each link. Only `LinkCarrying` changes it.
    var carriers: [MeshCore.LinkID: LinkCarrier] { get set }
    /// For messages that only the person who maintains a machine needs.
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
    /// Takes over a connected transport, and carries its link until it ends. `begin` notifies the deciding struct
    /// before anything is read or written.
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

    /// A link has data to send. They are sent at once as far as the channel accepts them, without waking a task. Do not
    /// call this from `nextSDU`, or the next SDU would overtake the current one.
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

    /// Closes a link's channel. With a final frame, it closes after time to send the frame.
    package func close(_ id: MeshCore.LinkID, afterFinalFrame: Bool) {
        guard let transport = carriers[id]?.transport else { return }
        Task {
            // The other side closes after it has read the final frame. This is for a peer that does not.
            if afterFinalFrame { try? await Task.sleep(for: Limits.goodbyeTimeout) }
            await transport.close()
        }
    }

    /// Returns when all reading and writing has ended. For an owner that has closed all links.
    package func untilAllAreClosed() async {
        for carrier in carriers.values {
            await carrier.reader?.value
            await carrier.writer?.value
        }
    }

    /// The radio's facts about a link.
    package func condition(
        of id: MeshCore.LinkID
    ) async -> (rssi: Int?, condition: LinkCondition?) {
        guard let transport = carriers[id]?.transport else { return (nil, nil) }
        return (await transport.signalStrength(), await transport.linkCondition())
    }

    /// Passes on a note of the radio at the other end of a link.
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
