// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Testing

@testable import Bearers
@testable import LANBearer

@Suite("Connections on a network", .timeLimit(.minutes(5)))
struct TCPStreamTests {
    @Test("a guest's first bytes arrive, however early the host reads")
    func askedEarly() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let (heard, sink) = AsyncStream<[UInt8]?>.makeStream()
        let host = try await ServerBootstrap(group: group)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                let inlet = TCPStream.Inlet()
                let asked = channel.eventLoop.makePromise(of: Void.self)
                // The connection is registered when this completes, and is read before that.
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(Asked(asked), inlet)
                    Task {
                        let stream = TCPStream(channel, inlet, endpoint: BearerEndpoint(address: "guest", bearer: .lan))
                        sink.yield(try? await stream.receive())
                    }
                }.flatMap { asked.futureResult }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let guest = try await ClientBootstrap(group: group).connect(to: #require(host.localAddress)).get()
        try await guest.writeAndFlush(ByteBuffer(bytes: [1, 2])).get()
        var answers = heard.makeAsyncIterator()
        #expect(await answers.next() == [1, 2])
        // The host's end has closed with its stream by now.
        try? await guest.close()
        try await host.close()
    }
}

/// Reports when a connection was asked for received data.
private final class Asked: ChannelOutboundHandler, Sendable {
    typealias OutboundIn = ByteBuffer
    private let promise: EventLoopPromise<Void>

    init(_ promise: EventLoopPromise<Void>) { self.promise = promise }

    func read(context: ChannelHandlerContext) {
        context.read()
        promise.succeed()
    }
}
