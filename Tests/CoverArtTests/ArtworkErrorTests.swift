// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import TestSupport
import Testing

@testable import CoverArt

/// Each of the ten errors, from real behaviour of a server.
@Suite("Cover art that cannot be loaded")
struct ArtworkErrorTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n"

    /// The notice for a person, as the name of the case.
    private func error(_ url: String, _ limits: ArtworkLimits = .standard) async -> String {
        let loader = ArtworkLoader(cache: newFolder(), limits: limits)
        var name = "none"
        do throws(NetworkError) {
            _ = try await loader.artwork(at: url)
        } catch {
            name = error.caseName
        }
        await loader.shutdown()
        return name
    }

    @Test(
        "an answer that is not a picture is reported by its cause",
        arguments: [
            (.status(204), "noData"), (.status(200), "emptyData"),
            (.bytes(head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "emptyData"),
            (.status(400), "httpError(statusCode: 400)"), (.status(404), "httpError(statusCode: 404)"),
            (.status(500), "httpError(statusCode: 500)"),
            (.status(429), "rateLimited"), (.status(503), "serverMaintenance"), (.status(304), "invalidResponse"),
            (.status(206), "invalidResponse"), (.ok(type: "text/html"), "invalidResponse"),
            (.ok(Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), type: "image/svg+xml"), "decodingError"),
            (.ok([0x89]), "decodingError"), (.bytes("Good morning\r\n\r\n"), "invalidResponse"),
            (.bytes(head + "Content-Length: 4194305\r\n\r\n"), "invalidResponse"),
            (.endless(head + "\r\n"), "invalidResponse"),
            (.cut(head + "Content-Length: 2000\r\n\r\n", body: picture()), "requestFailed"),
            (.cut("HTTP/1.1 200 OK\r\nConte"), "requestFailed"), (.reset, "requestFailed"),
            (.redirect(to: "ftp://127.0.0.1/a"), "invalidResponse"), (.status(302), "invalidResponse"),
            (.redirect(to: "/a"), "invalidResponse"), (.redirect(to: "http://u:p@127.0.0.1/"), "invalidResponse"),
        ] as [(PictureServer.Answer, String)])
    func answers(answer: PictureServer.Answer, expected: String) async throws {
        let server = try await PictureServer(["/a": answer])
        #expect(await error(server.url("/a")) == expected)
        try await server.close()
    }

    @Test(
        "a server that sends too slowly or not at all is dropped",
        arguments: [.drip(head + "\r\n"), .silence] as [PictureServer.Answer])
    func slow(answer: PictureServer.Answer) async throws {
        let server = try await PictureServer(["/a": answer])
        var limits = ArtworkLimits()
        limits.requestTime = .milliseconds(200)
        #expect(await error(server.url("/a"), limits) == "requestFailed")
        _ = try await server.events.first { $0 == .connectionClosed ? true : nil }
        try await server.close()
    }

    @Test("bytes beyond the announced length do not belong to the picture")
    func tooLong() async throws {
        let server = try await PictureServer([
            "/a": .bytes(Self.head + "Content-Length: 1000\r\n\r\n", body: picture() + picture())
        ])
        let folder = newFolder()
        let loader = ArtworkLoader(cache: folder)
        let file = try? await loader.artwork(at: server.url("/a"))
        #expect(file?.bytes == 1_000)
        await loader.shutdown()
        try await server.close()
    }

    @Test("five redirects are followed, and the sixth is an error")
    func redirects() async throws {
        var answers: [String: PictureServer.Answer] = ["/0": .ok()]
        for index in 1...6 { answers["/\(index)"] = .redirect(to: "/\(index - 1)") }
        let server = try await PictureServer(answers)
        #expect(await error(server.url("/5")) == "none")
        #expect(await error(server.url("/6")) == "invalidResponse")
        try await server.close()
    }

    @Test("a closed port is a failed request, and so is a server without TLS")
    func refused() async throws {
        let server = try await PictureServer([:])
        #expect(await error("https://127.0.0.1:\(server.port)/a") == "requestFailed")
        try await server.close()
        #expect(await error(server.url("/a")) == "requestFailed")
    }

    // Neither leaves this machine: the kernel makes no TCP connection to a multicast group, and the resolver does not
    // ask for a label of more than 63 bytes.
    @Test(
        "a missing route to a server, or a name without an address, means offline",
        arguments: ["http://224.0.0.1/a.png", "http://\(String(repeating: "a", count: 64)).invalid/a.png"])
    func offline(url: String) async {
        #expect(await error(url) == "offline")
    }

    @Test(
        "an invalid URL is reported without a request",
        arguments: [
            "", "a.png", "/a.png", "file:///etc/passwd", "ftp://a.example/a", "http://", "http:///a.png",
            "http://user@a.example/", "http://user:word@a.example/", "http://a.example:99999/", "data:image/png,1",
            "unix:///run/s", "http+unix://%2Frun%2Fs/a", "http://a.example/" + String(repeating: "a", count: 2_048),
        ])
    func badURL(url: String) async {
        #expect(await error(url) == "invalidURL")
    }
}

extension NetworkError {
    /// The case, without the text of its cause.
    var caseName: String {
        switch self {
        case .requestFailed: "requestFailed"
        case .decodingError: "decodingError"
        default: "\(self)"
        }
    }
}
