// SPDX-License-Identifier: Apache-2.0

import Bearers
import MeshProtocol
import NIOCore
import NIOPosix

extension LANBearer {
    /// Opens a connection to a found service. It tries the service's current addresses until a connection opens or
    /// `BearerLimits.dialLimit` is over.
    public func dial(_ endpoint: BearerEndpoint) async throws(BearerError) -> any BearerChannel {
        guard !isClosed else { throw BearerError(.closed) }
        lastDial += 1
        let number = lastDial
        dials[number] = Dial(name: endpoint.address)
        defer { dials[number] = nil }
        let limit = ContinuousClock.now + BearerLimits.dialLimit
        while true {
            if let channel = await tryAll(endpoint) {
                guard !Task.isCancelled, !isClosed else {
                    channel.close()
                    throw BearerError(isClosed ? .closed : .cancelled)
                }
                tell(services.answered(endpoint.address, now: now))
                return channel
            }
            if Task.isCancelled { throw BearerError(.cancelled) }
            if isClosed { throw BearerError(.closed) }
            tell(services.unanswered(endpoint.address, now: now))
            guard ContinuousClock.now < limit else { throw BearerError(.dialFailed, "no answer") }
            await pause(number)
        }
    }

    /// Waits for `LANLimits.dialPause`, or until the directory reports a change that helps the dial.
    private func pause(_ number: Int) async {
        let alarm = Task {
            try? await Task.sleep(for: LANLimits.dialPause)
            if !Task.isCancelled { wake(number) }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                guard dials[number]?.isNews == false, !Task.isCancelled, !isClosed else { return waiter.resume() }
                dials[number]?.waiter = waiter
            }
        } onCancel: {
            Task { await self.wake(number) }
        }
        alarm.cancel()
        dials[number]?.isNews = false
    }

    /// Ends the pause of a dial, because another attempt makes sense.
    func wake(_ number: Int, isNews: Bool = false) {
        if isNews { dials[number]?.isNews = true }
        dials[number]?.waiter?.resume()
        dials[number]?.waiter = nil
    }

    /// Tries all addresses, with a short delay between them, and returns the first that answers.
    private func tryAll(_ endpoint: BearerEndpoint) async -> (any BearerChannel)? {
        let places = services.addresses(of: endpoint.address).filter { isLocal($0.address) }
        return await withTaskGroup(of: (TCPStream, Int)?.self) { group in
            for (number, (place, address)) in places.enumerated() {
                group.addTask {
                    if number > 0 { try? await Task.sleep(for: LANLimits.nextAddress * number) }
                    guard !Task.isCancelled else { return nil }
                    return await self.connect(to: address, endpoint).map { ($0, place.interface) }
                }
            }
            var first: (TCPStream, Int)?
            for await opened in group {
                guard let opened else { continue }
                if first == nil {
                    first = opened
                    group.cancelAll()
                } else {
                    opened.0.close()
                }
            }
            return first.map { track($0.0, interface: $0.1) }
        }
    }

    private func connect(to address: SocketAddress, _ endpoint: BearerEndpoint) async -> TCPStream? {
        let inlet = TCPStream.Inlet()
        let opening = ClientBootstrap(group: group)
            .connectTimeout(TimeAmount(LANLimits.connect))
            .channelOption(.socketOption(.so_rcvbuf), value: LANLimits.bufferBytes)
            .streamOptions()
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(inlet) }
            }
            .connect(to: address)
        do {
            let channel = try await opening.get()
            let stream = TCPStream(channel, inlet, endpoint: endpoint, framesPerSecond: framesPerSecond)
            // If another connection was faster, this one is closed.
            return stream
        } catch {
            logger.debug("\(address): \(error)")
            return nil
        }
    }
}

extension ClientBootstrap {
    fileprivate func streamOptions() -> ClientBootstrap {
        channelOption(.autoRead, value: false)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: LANLimits.readBytes))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_sndbuf), value: LANLimits.bufferBytes)
            .channelOption(.tcpOption(.tcp_user_timeout), value: LANLimits.silence.inMilliseconds)
    }
}

extension ServerBootstrap {
    /// Options of each accepted connection.
    func childStreamOptions() -> ServerBootstrap {
        childChannelOption(.autoRead, value: false)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: LANLimits.readBytes))
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.socketOption(.so_sndbuf), value: LANLimits.bufferBytes)
            .childChannelOption(.tcpOption(.tcp_user_timeout), value: LANLimits.silence.inMilliseconds)
    }
}

extension NIOBSDSocket.Option {
    /// TCP_USER_TIMEOUT (tcp(7)), in milliseconds.
    fileprivate static let tcp_user_timeout = NIOBSDSocket.Option(rawValue: 18)
}

extension Duration {
    fileprivate var inMilliseconds: Int { Int(self / .milliseconds(1)) }
}
