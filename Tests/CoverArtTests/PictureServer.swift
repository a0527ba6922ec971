// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import TestSupport

/// A server on this machine's loopback that answers as configured, even in invalid ways.
struct PictureServer: Sendable {
    /// The reaction to a request.
    enum Answer: Sendable {
        /// It sends these bytes and waits for the next request.
        case bytes(String, body: [UInt8] = [])
        /// It sends these bytes and closes the connection.
        case cut(String, body: [UInt8] = [])
        /// It sends this head, and then bytes forever, as fast as they are read.
        case endless(String)
        /// It sends this head, and then a byte from time to time, forever.
        case drip(String)
        /// It resets the connection.
        case reset
        /// It sends nothing.
        case silence
    }

    /// An observation of the server.
    enum Event: Hashable, Sendable {
        case request(path: String, headers: [String])
        case connectionClosed
    }

    private let channel: any Channel
    private let sink: AsyncStream<Event>.Continuation
    private let answers: NIOLockedValueBox<[String: Answer]>
    let events: EventQueue<Event>
    let port: Int

    init(_ answers: [String: Answer]) async throws {
        let (stream, sink) = AsyncStream.makeStream(of: Event.self)
        let answers = NIOLockedValueBox(answers)
        self.sink = sink
        self.answers = answers
        events = EventQueue(stream)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 64)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        ByteToMessageHandler(HTTPRequestDecoder()), Answerer(answers: answers, sink: sink),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Changes the answer for a path.
    func change(_ path: String, to answer: Answer) { answers.withLockedValue { $0[path] = answer } }

    /// Stops listening. Its port is closed from then on.
    func close() async throws {
        try await channel.close()
        sink.finish()
    }

    /// Waits for a request, and returns its header fields.
    @discardableResult
    func request(_ path: String) async throws -> [String] {
        try await events.first { if case .request(path, let headers) = $0 { headers } else { nil } }
    }

    /// Number of requests for a path, after the server has closed.
    func requests(_ path: String) async throws -> Int {
        try await close()
        var count = 0
        while (try? await request(path)) != nil { count += 1 }
        return count
    }
}

/// A picture of this many bytes: the head of a PNG, and filling.
func picture(bytes: Int = 1_000, fill: UInt8 = 7) -> [UInt8] {
    let head: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    return head + [UInt8](repeating: fill, count: bytes - head.count)
}

extension PictureServer.Answer {
    /// A good answer.
    static func ok(_ body: [UInt8] = picture(), type: String = "image/png", fields: String = "") -> Self {
        .bytes("HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\(fields)\r\n", body: body)
    }

    /// A status and nothing else.
    static func status(_ code: Int, fields: String = "") -> Self {
        .bytes("HTTP/1.1 \(code) Word\r\n\(code == 204 ? "" : "Content-Length: 0\r\n")\(fields)\r\n")
    }

    static func redirect(to location: String) -> Self { .status(302, fields: "Location: \(location)\r\n") }
}

/// One connection of the server. It lives on its event loop.
private final class Answerer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    private let answers: NIOLockedValueBox<[String: PictureServer.Answer]>
    private let sink: AsyncStream<PictureServer.Event>.Continuation

    init(
        answers: NIOLockedValueBox<[String: PictureServer.Answer]>,
        sink: AsyncStream<PictureServer.Event>.Continuation
    ) {
        self.answers = answers
        self.sink = sink
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        sink.yield(.request(path: head.uri, headers: head.headers.map { "\($0.name): \($0.value)" }))
        let channel = context.channel
        switch answers.withLockedValue({ $0[head.uri] }) ?? .status(404) {
        case .bytes(let text, let body): channel.writeAndFlush(buffer(text, body), promise: nil)
        case .cut(let text, let body):
            channel.writeAndFlush(buffer(text, body)).whenComplete { _ in channel.close(promise: nil) }
        case .endless(let text):
            channel.writeAndFlush(buffer(text), promise: nil)
            Self.flood(channel)
        case .drip(let text):
            channel.writeAndFlush(buffer(text), promise: nil)
            channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(5)) { task in
                guard channel.isActive else { return task.cancel() }
                channel.writeAndFlush(ByteBuffer(bytes: [0x89]), promise: nil)
            }
        case .reset:
            (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                .whenComplete { _ in channel.close(promise: nil) }
        case .silence: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) { sink.yield(.connectionClosed) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func buffer(_ text: String, _ body: [UInt8] = []) -> ByteBuffer {
        ByteBuffer(bytes: Array(text.utf8) + body)
    }

    private static func flood(_ channel: any Channel) {
        channel.writeAndFlush(ByteBuffer(bytes: picture(bytes: 16_384))).whenSuccess { flood(channel) }
    }
}
