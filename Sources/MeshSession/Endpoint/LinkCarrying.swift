// SPDX-License-Identifier: Apache-2.0

import Logging
import MeshProtocol

/// What carries one link: its transport, and the tasks that read and write it.
package struct LinkCarrier: Sendable {
    let transport: any MeshTransport
    let sendMTU: Int
    let signal: AsyncStream<Void>.Continuation
    var reader: Task<Void, Never>?
    var writer: Task<Void, Never>?
    /// What the channel did not take at once: it leaves before anything else.
    var unsent: [UInt8]?
    /// The writer waits for the channel, and sends all that there is.
    var isWriting = false
}

/// An actor that reads and writes the transports of a node's links, for a struct that decides what is said on them.
package protocol LinkCarrying: Actor {
    /// What carries each link. Only `LinkCarrying` changes it.
    var carriers: [MeshCore.LinkID: LinkCarrier] { get set }
    /// For what nobody but who looks after a machine wants to know.
    var logger: Logger { get }

    /// An SDU has arrived.
    func received(_ sdu: [UInt8], on id: MeshCore.LinkID)
    /// Returns when the next SDU of a link may be read.
    func untilReadable(_ id: MeshCore.LinkID) async
    /// The next SDU that leaves on a link, of at most this many bytes.
    func nextSDU(for id: MeshCore.LinkID, limit: Int) -> [UInt8]?
    /// A link's channel is closed: nothing of it is left.
    func channelClosed(_ id: MeshCore.LinkID)
}

extension LinkCarrying {
    /// Takes over a transport that is connected, and carries its link until it ends. `begin` tells the struct that decides,
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

    /// A link has something to send.
    package func wake(_ id: MeshCore.LinkID) { carriers[id]?.signal.yield() }

    /// A link has something to send, which leaves at once as far as its channel takes it: no task is woken for that. Not to be
    /// called from `nextSDU`, or the next SDU overtakes the one that is made.
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
            // The reader is told by the channel itself, and ends the link.
            Task { await carrier.transport.close() }
        }
    }

    /// Closes a link's channel; with a final frame, when that had time to leave.
    package func close(_ id: MeshCore.LinkID, afterFinalFrame: Bool) {
        guard let transport = carriers[id]?.transport else { return }
        Task {
            // The other side closes when it has read the final frame. This is for one that does not.
            if afterFinalFrame { try? await Task.sleep(for: Limits.goodbyeTimeout) }
            await transport.close()
        }
    }

    /// Returns when nothing is read or written any more. For an owner that has closed all links.
    package func untilAllAreClosed() async {
        for carrier in carriers.values {
            await carrier.reader?.value
            await carrier.writer?.value
        }
    }

    /// What the radio knows of a link.
    package func condition(
        of id: MeshCore.LinkID
    ) async -> (rssi: Int?, condition: LinkCondition?) {
        guard let transport = carriers[id]?.transport else { return (nil, nil) }
        return (await transport.signalStrength(), await transport.linkCondition())
    }

    /// The radio at the other end of a link says this of it.
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
            // The reader is told by the channel itself, and ends the link.
            await carrier.transport.close()
        }
    }
}
