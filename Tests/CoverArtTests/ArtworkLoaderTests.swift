// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import CoverArt

@Suite("Loading cover art")
struct ArtworkLoaderTests {
    private let folder = newFolder()

    private func files() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }

    /// Runs a test with a loader, and shuts it down afterwards in any case.
    @discardableResult
    private func withLoader<Result: Sendable>(
        _ limits: ArtworkLimits = .standard, cache: String? = nil, _ body: (ArtworkLoader) async throws -> Result
    ) async throws -> Result {
        let loader = ArtworkLoader(cache: cache ?? folder, limits: limits, userAgent: "RoadMesh/1.2.3")
        do {
            let result = try await body(loader)
            await loader.shutdown()
            return result
        } catch {
            await loader.shutdown()
            throw error
        }
    }

    @Test("a picture is loaded, its file name contains nothing from the server, and its format comes from its bytes")
    func loads() async throws {
        let server = try await PictureServer(["/a%20b.exe?x=1": .ok(type: "image/jpeg")])
        try await withLoader { loader in
            let file = try await loader.artwork(at: server.url("/a%20b.exe?x=1"))
            #expect(file.mediaType == "image/png")
            #expect(file.bytes == 1_000)
            #expect(try Data(contentsOf: URL(filePath: file.path)) == Data(picture()))
            #expect(files().count == 1)
            #expect(files()[0].utf8.count == 64 && !file.path.contains("exe"))
        }
        let headers = try await server.request("/a%20b.exe?x=1").map { $0.lowercased() }
        #expect(headers.contains("user-agent: roadmesh/1.2.3"))
        #expect(
            !headers.contains { $0.hasPrefix("cookie") || $0.hasPrefix("authorization") || $0.hasPrefix("referer") })
        try await server.close()
    }

    @Test("a stored picture is shown without its server, even after a restart")
    func cached() async throws {
        let server = try await PictureServer(["/a": .ok()])
        let first = try await withLoader { try await $0.artwork(at: server.url("/a")) }
        try await server.close()
        let again = try await withLoader { try await $0.artwork(at: server.url("/a")) }
        #expect(first == again)
    }

    @Test("an old picture is requested again, and still shown if that fails")
    func stale() async throws {
        let server = try await PictureServer(["/a": .ok()])
        var limits = ArtworkLimits()
        limits.freshFor = .zero
        try await withLoader(limits) { loader in
            let first = try await loader.artwork(at: server.url("/a"))
            _ = try await loader.artwork(at: server.url("/a"))
            try await server.request("/a")
            try await server.request("/a")
            try await server.close()
            #expect(try await loader.artwork(at: server.url("/a")) == first)
        }
    }

    @Test(
        "twenty simultaneous callers of one picture cause one request, even if there is no picture",
        arguments: [.ok(), .status(500)] as [PictureServer.Answer])
    func oneDownload(answer: PictureServer.Answer) async throws {
        let server = try await PictureServer(["/a": answer])
        try await withLoader { loader in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { _ = try? await loader.artwork(at: server.url("/a")) } }
            }
        }
        #expect(try await server.requests("/a") == 1)
    }

    @Test("a failure is remembered, and Retry repeats the request at once")
    func remembered() async throws {
        let server = try await PictureServer(["/a": .status(500)])
        try await withLoader { loader in
            for _ in 0..<3 {
                await #expect { try await loader.artwork(at: server.url("/a")) } throws: { $0.isHTTP(500) }
            }
            await loader.forgetFailures()
            await #expect { try await loader.artwork(at: server.url("/a")) } throws: { $0.isHTTP(500) }
        }
        #expect(try await server.requests("/a") == 2)
    }

    @Test("a server that requested a pause is not asked, even through a redirect")
    func pausedServer() async throws {
        let busy = try await PictureServer(["/a": .status(429, fields: "Retry-After: 60\r\n"), "/b": .ok()])
        let server = try await PictureServer(["/b": .redirect(to: busy.url("/b"))])
        try await withLoader { loader in
            for url in [busy.url("/a"), busy.url("/b"), server.url("/b")] {
                await #expect { try await loader.artwork(at: url) } throws: { $0.isRateLimited }
            }
        }
        #expect(try await busy.requests("/b") == 0)
        #expect(try await server.requests("/b") == 1)
    }

    @Test("a caller that gives up does not keep the others from their picture")
    func oneGivesUp() async throws {
        let server = try await PictureServer(["/a": .drip("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")])
        var limits = ArtworkLimits()
        limits.requestTime = .milliseconds(300)
        try await withLoader(limits) { loader in
            let patient = Task { try await loader.artwork(at: server.url("/a")) }
            let hasty = Task { try await loader.artwork(at: server.url("/a")) }
            try await server.request("/a")
            hasty.cancel()
            await #expect { try await hasty.value } throws: { $0.isRequestFailed }
            // It gets its own error, and not the other caller's.
            await #expect { try await patient.value } throws: { $0.isRequestFailed && !$0.isCancellation }
        }
        try await server.close()
    }

    @Test("programs that start in the meantime inherit no connection")
    func closedOnExec() async throws {
        let server = try await PictureServer(["/a": .silence])
        var limits = ArtworkLimits()
        limits.requestTime = .seconds(3_600)
        try await withLoader(limits) { loader in
            let task = Task { try await loader.artwork(at: server.url("/a")) }
            try await server.request("/a")
            // Concurrent tests can have thousands of open descriptors.
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(
                Int32.init)
            let connections = descriptors.filter { Self.peerPort(of: $0) == server.port }
            #expect(!connections.isEmpty && connections.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
            task.cancel()
            _ = await task.result
        }
        try await server.close()
    }

    private static func peerPort(of descriptor: Int32) -> Int? {
        var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
        }
        return isConnected && address.sin_family == sa_family_t(AF_INET)
            ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    @Test("a cancelled load leaves no file and no connection")
    func cancelled() async throws {
        let server = try await PictureServer([
            "/a": .bytes("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 2000\r\n\r\n", body: picture())
        ])
        try await withLoader { loader in
            let task = Task { try await loader.artwork(at: server.url("/a")) }
            try await server.request("/a")
            task.cancel()
            await #expect { try await task.value } throws: { $0.isCancellation }
            _ = try await server.events.first { $0 == .connectionClosed ? true : nil }
            #expect(files().isEmpty)
        }
        try await server.close()
    }

    @Test("a loader that is shut down loads nothing, and no caller waits")
    func shutDown() async throws {
        let server = try await PictureServer(["/a": .silence])
        let loader = ArtworkLoader(cache: folder)
        let task = Task { try await loader.artwork(at: server.url("/a")) }
        try await server.request("/a")
        await loader.shutdown()
        await #expect { try await task.value } throws: { $0.isRequestFailed }
        await #expect { try await loader.artwork(at: server.url("/a")) } throws: { $0.isRequestFailed }
        try await server.close()
    }

    @Test("the picture that was not shown for longest is removed for space, even after a restart")
    func evicted() async throws {
        let server = try await PictureServer(["/a": .ok(), "/b": .ok(), "/c": .ok()])
        var limits = ArtworkLimits()
        limits.cacheBytes = 2_500
        let (a, b) = try await withLoader(limits) { loader in
            let a = try await loader.artwork(at: server.url("/a")), b = try await loader.artwork(at: server.url("/b"))
            _ = try await loader.artwork(at: server.url("/a"))
            return (a, b)
        }
        try await withLoader(limits) { loader in
            let c = try await loader.artwork(at: server.url("/c"))
            #expect(FileManager.default.fileExists(atPath: c.path))
            #expect(FileManager.default.fileExists(atPath: a.path))
            #expect(!FileManager.default.fileExists(atPath: b.path))
        }
        try await server.close()
    }

    @Test("the remains of a power cut are removed, and other files are not touched")
    func leftovers() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let key = try ArtworkURL("http://a.example/").key
        for name in [key, key + ".new", "notes.txt"] {
            _ = FileManager.default.createFile(atPath: folder + "/" + name, contents: Data())
        }
        try await withLoader { loader in
            await #expect(throws: NetworkError.self) { try await loader.artwork(at: "http://224.0.0.1/") }
        }
        #expect(files() == ["notes.txt"])
    }

    @Test("a deleted picture is loaded again")
    func deleted() async throws {
        let server = try await PictureServer(["/a": .ok()])
        try await withLoader { loader in
            let file = try await loader.artwork(at: server.url("/a"))
            try FileManager.default.removeItem(atPath: folder)
            #expect(try await loader.artwork(at: server.url("/a")) == file)
            #expect(FileManager.default.fileExists(atPath: file.path))
        }
        try await server.close()
    }

    @Test("a read-only cache is an error of the picture, and the others are shown")
    func unwritable() async throws {
        let server = try await PictureServer(["/a": .ok(), "/b": .ok()])
        let file = try await withLoader { loader in
            let a = try await loader.artwork(at: server.url("/a"))
            // Root may write everywhere, but cannot write to a folder.
            let draft = folder + "/" + (try ArtworkURL(server.url("/b")).key) + ".new"
            try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: true)
            await #expect { try await loader.artwork(at: server.url("/b")) } throws: { $0.isNotStored }
            #expect(try await loader.artwork(at: server.url("/a")) == a)
            return a
        }
        try await withLoader(cache: file.path + "/below") { loader in
            await #expect { try await loader.artwork(at: server.url("/a")) } throws: { $0.isNotStored }
        }
        try await server.close()
    }
}

extension Error {
    func isHTTP(_ status: Int) -> Bool {
        if case .httpError(status)? = self as? NetworkError { true } else { false }
    }

    private var cause: (any Error)? {
        if case .requestFailed(let cause)? = self as? NetworkError { cause } else { nil }
    }

    var isRateLimited: Bool { if case .rateLimited? = self as? NetworkError { true } else { false } }
    var isRequestFailed: Bool { cause != nil }
    var isCancellation: Bool { cause is CancellationError }
    var isNotStored: Bool { if case .notStored? = cause as? ArtworkProblem { true } else { false } }
}
