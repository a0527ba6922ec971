// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import NIOPosix

/// The address of gpsd.
public struct GPSDAddress: Hashable, Sendable {
    /// The host name or address of gpsd.
    public var host: String
    /// The TCP port of gpsd.
    public var port: Int

    /// gpsd on this device, at its usual port.
    public static let standard = GPSDAddress(host: "localhost", port: 2_947)

    /// `HOST:PORT`.
    public var text: String { "\(host):\(port)" }

    private init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    /// Reads `PORT` on this device, or `HOST:PORT`. Nil if it is neither.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, let last = parts.last, let port = UInt16(last), port > 0 else { return nil }
        let host = parts.count == 2 ? String(parts[0]) : Self.standard.host
        guard !host.isEmpty else { return nil }
        self.init(host: host, port: Int(port))
    }
}

/// Reads positions from gpsd. gpsd may start later than the drive, end, and start again.
struct GPSDClient: Sendable {
    let address: GPSDAddress
    let logger: Logger

    /// Calls `handle` with each position, until the task is cancelled.
    func follow(_ handle: @Sendable (PositionRow) async -> Void) async {
        while !Task.isCancelled {
            do {
                try await read(handle)
                logger.debug("gpsd has closed its connection")
            } catch {
                logger.debug("no position from gpsd at \(address.text): \(error)")
            }
            try? await Task.sleep(for: FieldTestLimits.gpsdRetry)
        }
    }

    private func read(_ handle: (PositionRow) async -> Void) async throws {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(FieldTestLimits.gpsdPatience))
            .connect(host: address.host, port: address.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: GPSDReader.watch))
            var reader = GPSDReader()
            for try await bytes in inbound {
                for position in reader.take(bytes.readableBytesView) { await handle(position) }
            }
        }
    }
}
