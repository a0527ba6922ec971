// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import TestSupport

@testable import Dashboard

/// The answer to a browser.
struct Answer {
    var status: Int
    var headers: HTTPHeaders
    var body: String

    /// The sentence of a refusal.
    var message: String? { said?.message }
    var reason: String? { said?.reason }

    /// The cookies that it sets, as a browser sends them back.
    var cookies: [String] { headers["set-cookie"].map { String($0.prefix { $0 != ";" }) } }

    private struct Said: Decodable {
        var message: String
        var reason: String?
    }

    private var said: Said? { try? JSONDecoder().decode(Said.self, from: Data(body.utf8)) }
}

/// A connection to the dashboard that sends any text, valid or not.
struct Line {
    let channel: any Channel
    let parts: EventQueue<HTTPClientResponsePart>

    init(port: Int) async throws {
        let (stream, sink) = AsyncStream.makeStream(of: HTTPClientResponsePart.self)
        parts = EventQueue(stream)
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(Listener(sink))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    func ask(_ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders, body: String?) async throws {
        var headers = headers
        if let body { headers.replaceOrAdd(name: "content-length", value: "\(body.utf8.count)") }
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers)
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        if let body { channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(string: body))), promise: nil) }
        try await channel.writeAndFlush(HTTPClientRequestPart.end(nil))
    }

    func answer() async throws -> Answer {
        let head = try await parts.first { if case .head(let head) = $0 { head } else { nil } }
        var body = ByteBuffer()
        try await parts.first { part in
            if case .body(var more) = part { body.writeBuffer(&more) }
            return if case .end = part { () } else { nil }
        }
        return Answer(status: Int(head.status.code), headers: head.headers, body: String(buffer: body))
    }

    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        private let sink: AsyncStream<HTTPClientResponsePart>.Continuation
        /// The incomplete event of a stream of events. Nil for other answers.
        private var rest: ByteBuffer?

        init(_ sink: AsyncStream<HTTPClientResponsePart>.Continuation) { self.sink = sink }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let part = unwrapInboundIn(data)
            switch part {
            case .head(let head):
                rest = head.headers["content-type"] == [DashboardRoutes.eventStream] ? ByteBuffer() : nil
            case .body(var body):
                guard rest != nil else { break }
                rest?.writeBuffer(&body)
                guard rest?.readableBytesView.suffix(2).elementsEqual([10, 10]) == true else { return }
                if let whole = rest { sink.yield(.body(whole)) }
                rest = ByteBuffer()
                return
            case .end: break
            }
            sink.yield(part)
        }

        func channelInactive(context: ChannelHandlerContext) { sink.finish() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// A browser: it stores cookies, and sends the origin of a request.
final class Browser {
    let port: Int
    var cookies: [String: String] = [:]
    private var line: Line?

    init(port: Int) { self.port = port }

    var origin: String { "http://127.0.0.1:\(port)" }

    func headers(_ more: [String: String?] = [:]) -> HTTPHeaders {
        var headers: HTTPHeaders = ["host": "127.0.0.1:\(port)"]
        if !cookies.isEmpty {
            headers.add(name: "cookie", value: cookies.map { "\($0)=\($1)" }.joined(separator: "; "))
        }
        for (name, value) in more {
            headers.remove(name: name)
            if let value { headers.add(name: name, value: value) }
        }
        return headers
    }

    @discardableResult
    func get(_ path: String, _ more: [String: String?] = [:]) async throws -> Answer {
        try await ask(.GET, path, headers(more), nil)
    }

    @discardableResult
    func post(_ path: String, _ body: String, _ more: [String: String?] = [:]) async throws -> Answer {
        let all = ["origin": origin, "content-type": "application/json"].merging(more) { $1 }
        return try await ask(.POST, path, headers(all), body)
    }

    @discardableResult
    func command(_ command: String, _ songID: String? = nil) async throws -> Answer {
        let song = songID.map { ", \"songID\": \"\($0)\"" } ?? ""
        return try await post("/api/command", "{\"command\": \"\(command)\"\(song)}")
    }

    private func ask(_ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders, _ body: String?) async throws
        -> Answer
    {
        let answer = try await answered(method, path, headers, body)
        for cookie in answer.cookies {
            let parts = cookie.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            cookies[String(parts[0])] = parts[1].isEmpty ? nil : String(parts[1])
        }
        return answer
    }

    /// Like real browsers, it repeats the request if a kept connection was closed since.
    private func answered(
        _ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders, _ body: String?
    ) async throws -> Answer {
        let wasKept = line != nil
        do {
            let line = try await openLine()
            try await line.ask(method, path, headers, body: body)
            return try await line.answer()
        } catch  where wasKept {
            line = nil
            return try await answered(method, path, headers, body)
        }
    }

    private func openLine() async throws -> Line {
        if let line, line.channel.isActive { return line }
        let new = try await Line(port: port)
        line = new
        return new
    }

    /// Opens the stream of views on a separate connection.
    func page() async throws -> OpenPage {
        while true {
            do {
                let line = try await Line(port: port)
                try await line.ask(.GET, "/events", headers(), body: nil)
                return OpenPage(line)
            } catch ChannelError.ioOnClosedChannel {
                // On a busy machine the server can close a connection before this test sends its request. Browsers
                // connect again.
                continue
            }
        }
    }
}

/// An open page.
struct OpenPage {
    let line: Line

    init(_ line: Line) { self.line = line }

    /// The next view that satisfies the condition.
    func view(where fits: @escaping @Sendable (SeenView) -> Bool = { _ in true }) async throws -> SeenView {
        try await line.parts.first { part in
            guard case .body(let body) = part else { return nil }
            let views = String(buffer: body).split(separator: "\n").filter { $0.hasPrefix("data: ") }.compactMap {
                try? JSONDecoder().decode(SeenView.self, from: Data($0.dropFirst(6).utf8))
            }
            return views.first(where: fits)
        }
    }

    /// Waits for the end of the stream.
    func end() async throws {
        try await line.parts.first { if case .end = $0 { () } else { nil } }
    }

    func close() async throws { try await line.channel.close() }
}
