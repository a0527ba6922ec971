// SPDX-License-Identifier: Apache-2.0

import BLETransport
import Glibc
import MeshProtocol
import NIOConcurrencyHelpers
import NIOCore

/// A TCP connection as a channel whose pieces are bytes of a stream; `FramedChannel` makes SDUs of them.
///
/// What was sent at once waits in it up to `LANLimits.bufferBytes`, and what has arrived until it is asked for: nothing is read
/// before.
final class TCPStream: RadioChannel {
    let endpoint: RadioEndpoint
    let sendMTU = Int(UInt16.max)

    private let channel: any Channel
    private let inlet: Inlet
    /// Bytes that have not left yet.
    private let waiting = NIOLockedValueBox(0)

    /// Takes over a connection whose pipeline has this inlet.
    init(_ channel: any Channel, _ inlet: Inlet, endpoint: RadioEndpoint) {
        self.channel = channel
        self.inlet = inlet
        self.endpoint = endpoint
    }

    deinit { close() }

    /// The connection is there no more.
    var ended: EventLoopFuture<Void> { channel.closeFuture }

    func send(_ sdu: [UInt8]) async throws(RadioError) {
        if let end = inlet.end { throw end }
        waiting.withLockedValue { $0 += sdu.count }
        defer { waiting.withLockedValue { $0 -= sdu.count } }
        do {
            try await channel.writeAndFlush(ByteBuffer(bytes: sdu)).get()
        } catch {
            throw inlet.end ?? Self.lost(error)
        }
    }

    func sendAtOnce(_ sdu: [UInt8]) throws(RadioError) -> Bool {
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

    func receive() async throws(RadioError) -> [UInt8]? { try await inlet.next(from: channel) }

    func signalStrength() async -> Int? { nil }

    func close() {
        guard inlet.finish(with: RadioError(.closed)) else { return }
        let channel = channel
        // What was sent leaves before: a final frame says why.
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

    /// Ends a connection that leads nowhere any more: what waits in it is not waited for.
    func lose(_ cause: String) {
        _ = inlet.finish(with: RadioError(.channelLost, cause))
        channel.close(promise: nil)
    }

    static func lost(_ error: any Error) -> RadioError {
        let cause = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        return RadioError(.channelLost, cause)
    }

    /// What has arrived on a connection: it asks for more when its reader does.
    final class Inlet: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private struct State {
            var arrived: [[UInt8]] = []
            /// Why nothing follows; without a value where the other side has closed.
            var isEnded = false
            var end: RadioError?
            var reader: CheckedContinuation<Void, Never>?
        }

        private let state = NIOLockedValueBox(State())

        /// Why this channel carries nothing any more, as far as this side can tell.
        var end: RadioError? {
            state.withLockedValue { $0.isEnded ? $0.end ?? RadioError(.channelLost, "the other side has closed") : nil }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = Array(unwrapInboundIn(data).readableBytesView)
            wake { $0.arrived.append(bytes) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            _ = finish(with: TCPStream.lost(error))
            context.close(promise: nil)
        }

        /// What was asked for while the connection was not registered yet is forgotten by it, and is asked for again: an accepted one
        /// has its reader at any moment after it was made.
        func channelActive(context: ChannelHandlerContext) {
            if state.withLockedValue({ $0.reader != nil }) { context.read() }
        }

        func channelInactive(context: ChannelHandlerContext) { wake { $0.isEnded = true } }

        /// The next bytes; nil when the other side has closed. What arrived before is told first.
        func next(from channel: any Channel) async throws(RadioError) -> [UInt8]? {
            while true {
                let (bytes, isEnded, end) = state.withLockedValue { state -> ([UInt8]?, Bool, RadioError?) in
                    // What this side has closed tells no more.
                    let isClosed = state.end?.code == .closed
                    return (
                        state.arrived.isEmpty || isClosed ? nil : state.arrived.removeFirst(), state.isEnded, state.end
                    )
                }
                if let bytes { return bytes }
                if let end { throw end }
                if isEnded { return nil }
                guard !Task.isCancelled else { throw RadioError(.cancelled) }
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

        /// Ends it from this side. Whether it was not ended before.
        func finish(with end: RadioError) -> Bool {
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
