// SPDX-License-Identifier: Apache-2.0

import Bearers
import Glibc
import MeshProtocol
import NIOConcurrencyHelpers
import NIOCore

/// A TCP connection as a channel of stream bytes. `FramedChannel` converts them to SDUs.
///
/// The channel buffers up to `LANLimits.bufferBytes` of sent data. It reads from the connection only when its reader
/// asks for data.
final class TCPStream: BearerChannel {
    let endpoint: BearerEndpoint
    let framesPerSecond: Int
    let sendMTU = Int(UInt16.max)

    private let channel: any Channel
    private let inlet: Inlet
    /// Bytes that were not sent yet.
    private let waiting = NIOLockedValueBox(0)

    /// Takes over a connection whose pipeline contains this inlet.
    init(
        _ channel: any Channel, _ inlet: Inlet, endpoint: BearerEndpoint,
        framesPerSecond: Int = LANLimits.framesPerSecond
    ) {
        self.framesPerSecond = framesPerSecond
        self.channel = channel
        self.inlet = inlet
        self.endpoint = endpoint
    }

    deinit { close() }

    /// Completes when the connection has ended.
    var ended: EventLoopFuture<Void> { channel.closeFuture }

    func send(_ sdu: [UInt8]) async throws(BearerError) {
        if let end = inlet.end { throw end }
        waiting.withLockedValue { $0 += sdu.count }
        defer { waiting.withLockedValue { $0 -= sdu.count } }
        do {
            try await channel.writeAndFlush(ByteBuffer(bytes: sdu)).get()
        } catch {
            throw inlet.end ?? Self.lost(error)
        }
    }

    func sendAtOnce(_ sdu: [UInt8]) throws(BearerError) -> Bool {
        if let end = inlet.end { throw end }
        let hasRoom = waiting.withLockedValue { waiting in
            guard waiting + sdu.count <= LANLimits.bufferBytes else { return false }
            waiting += sdu.count
            return true
        }
        guard hasRoom else { return false }
        let waiting = waiting
        channel.writeAndFlush(ByteBuffer(bytes: sdu)).whenComplete { _ in
            waiting.withLockedValue { $0 -= sdu.count }
        }
        return true
    }

    func receive() async throws(BearerError) -> [UInt8]? { try await inlet.next(from: channel) }

    func signalStrength() async -> Int? { nil }

    func close() {
        guard inlet.finish(with: BearerError(.closed)) else { return }
        let channel = channel
        // Pending data is sent before the close, because a final frame contains the reason.
        channel.eventLoop.execute {
            let alarm = channel.eventLoop.scheduleTask(in: TimeAmount(LANLimits.farewell)) {
                channel.close(promise: nil)
            }
            channel.writeAndFlush(ByteBuffer()).whenComplete { _ in
                alarm.cancel()
                channel.close(promise: nil)
            }
        }
    }

    /// Ends a connection that is useless, without waiting for its data.
    func lose(_ cause: String) {
        _ = inlet.finish(with: BearerError(.channelLost, cause))
        channel.close(promise: nil)
    }

    static func lost(_ error: any Error) -> BearerError {
        let cause = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        return BearerError(.channelLost, cause)
    }

    /// Buffers data that has arrived on a connection. It reads more when its reader asks for data.
    final class Inlet: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private struct State {
            var arrived: [[UInt8]] = []
            /// Whether no more data follows. `end` is nil if the peer has closed, otherwise it is the error.
            var isEnded = false
            var end: BearerError?
            var reader: CheckedContinuation<Void, Never>?
        }

        private let state = NIOLockedValueBox(State())

        /// Why the channel has ended, as far as this side knows.
        var end: BearerError? {
            state.withLockedValue {
                $0.isEnded ? $0.end ?? BearerError(.channelLost, "the other side has closed") : nil
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = Array(unwrapInboundIn(data).readableBytesView)
            wake { $0.arrived.append(bytes) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            _ = finish(with: TCPStream.lost(error))
            context.close(promise: nil)
        }

        /// Repeats a read request, because a connection forgets requests from before its registration. An accepted
        /// connection may get its reader at any time after its creation.
        func channelActive(context: ChannelHandlerContext) {
            if state.withLockedValue({ $0.reader != nil }) { context.read() }
        }

        func channelInactive(context: ChannelHandlerContext) { wake { $0.isEnded = true } }

        /// Returns the next bytes, or nil after the peer has closed. Bytes that arrived before the end are still
        /// returned.
        func next(from channel: any Channel) async throws(BearerError) -> [UInt8]? {
            while true {
                let (bytes, isEnded, end) = state.withLockedValue { state -> ([UInt8]?, Bool, BearerError?) in
                    // A channel that this side has closed returns no more bytes.
                    let isClosed = state.end?.code == .closed
                    return (
                        state.arrived.isEmpty || isClosed ? nil : state.arrived.removeFirst(), state.isEnded, state.end
                    )
                }
                if let bytes { return bytes }
                if let end { throw end }
                if isEnded { return nil }
                guard !Task.isCancelled else { throw BearerError(.cancelled) }
                await more(from: channel)
            }
        }

        private func more(from channel: any Channel) async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { reader in
                    let waits = state.withLockedValue { state in
                        guard state.arrived.isEmpty, !state.isEnded, !Task.isCancelled else { return false }
                        precondition(state.reader == nil, "a channel has one reader")
                        state.reader = reader
                        return true
                    }
                    if waits { channel.read() } else { reader.resume() }
                }
            } onCancel: {
                wake { _ in }
            }
        }

        /// Ends the connection from this side. Returns whether this call has ended it.
        func finish(with end: BearerError) -> Bool {
            var isFirst = false
            wake { state in
                isFirst = state.end == nil
                state.end = state.end ?? end
                state.isEnded = true
            }
            return isFirst
        }

        private func wake(_ change: (inout State) -> Void) {
            let reader = state.withLockedValue { state in
                change(&state)
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume()
        }
    }
}
