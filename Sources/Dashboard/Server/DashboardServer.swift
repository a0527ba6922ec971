// SPDX-License-Identifier: Apache-2.0

import Glibc
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOPosix

/// The dashboard's network server: it listens, holds connections to their limits, and passes requests to Hummingbird.
struct DashboardServer: Sendable {
    private typealias Child = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let connections: Connections
    /// The port that the server listens on.
    let port: Int
    private let channel: NIOAsyncChannel<Child, Never>
    private let http: HTTP1Channel
    private let logger: Logger

    /// Starts to listen. Throws the system's error if it cannot.
    init(
        host: String, port: Int, responder: some HTTPResponder<DashboardContext>, connections: Connections,
        logger: Logger
    ) async throws {
        let configuration = Self.configuration(connections)
        let http = HTTP1Channel(responder: Self.answer(responder, logger), configuration: configuration)
        let noDelay = ChannelOptions.tcpOption(.tcp_nodelay)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: CInt(DashboardLimits.backlog))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(noDelay, value: 1)
            .childChannelOption(.socketOption(.so_sndbuf), value: .init(DashboardLimits.sendBufferBytes))
            .childChannelOption(Self.userTimeout, value: .init(DashboardLimits.writeTime / .milliseconds(1)))
            .bind(host: host, port: port) { channel in http.setup(channel: channel, logger: logger) }
        self.http = http
        self.connections = connections
        self.port = channel.channel.localAddress?.port ?? port
        self.logger = logger
    }

    /// The kernel closes a connection if the client acknowledges no data for this long (tcp(7)), such as a phone that
    /// has left.
    private static let userTimeout = ChannelOptions.Types.SocketOption(
        level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT))

    private static func configuration(_ connections: Connections) -> HTTP1Channel.Configuration {
        var decoder = HTTP1Channel.Configuration.DecoderConfiguration()
        decoder.maxHeaderFieldSize = DashboardLimits.headerBytes
        decoder.maxHeaderListSize = DashboardLimits.headerBytes
        decoder.maxHeaderFieldCount = DashboardLimits.headerFields
        return HTTP1Channel.Configuration(
            additionalChannelHandlers: [ConnectionGuard(connections)], idleTimeout: nil,
            httpDecoderConfiguration: decoder)
    }

    private static func answer(
        _ responder: some HTTPResponder<DashboardContext>, _ logger: Logger
    ) -> HTTPChannelHandler.Responder {
        { request, writer, channel in
            let context = DashboardContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            var response: Response
            do {
                response = try await responder.respond(to: request, context: context)
            } catch {
                logger.debug("the dashboard has no answer: \(error)")
                response = Response(status: .internalServerError)
            }
            try await writer.write(response: response.head, body: response.body)
        }
    }

    /// Serves requests until the server is closed.
    func run() async {
        await withDiscardingTaskGroup { group in
            do {
                try await channel.executeThenClose { inbound in
                    for try await child in inbound {
                        group.addTask { await http.handle(value: child, logger: logger) }
                    }
                }
            } catch {
                // The node and its music continue.
                logger.error("the dashboard accepts no more connections: \(error)")
            }
            connections.closeAll()
        }
    }

    /// Stops listening and closes all connections.
    func close() {
        channel.channel.close(promise: nil)
        connections.closeAll()
    }
}

/// The context of a request: the connection that it came on.
struct DashboardContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// The right that the gate granted.
    var right = Gate.Right.none

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// The client's address.
    var address: String { channel.remoteAddress?.ipAddress ?? "" }
}
