// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import CoverArt

@Suite("The decisions about cover art")
struct ArtworkDecisionTests {
    private let limits = ArtworkLimits()

    private func url(_ text: String) throws -> ArtworkURL { try ArtworkURL(text) }

    @Test(
        "a server outside cannot redirect the node into the car's own network",
        arguments: [
            "http://127.0.0.1/", "http://localhost/", "http://router.local/", "http://10.1.2.3/", "http://172.16.0.1/",
            "http://192.168.1.1/", "http://169.254.169.254/", "http://[::1]/", "http://[fe80::1]/", "http://[fd00::1]/",
            "http://[::ffff:192.168.1.1]/", "http://2130706433/", "http://0x7f.1/", "http://0.0.0.0/",
            "http://localhost./",
            "http://100.64.0.1/",
        ])
    func inside(location: String) throws {
        #expect(throws: NetworkError.self) { try url("https://a.example/").redirected(to: location) }
        // A server at home may redirect to another place at home.
        #expect(try url("http://192.168.1.2/").redirected(to: location).text == location)
    }

    @Test(
        "a redirect may lead to another server, or to another path on the same one",
        arguments: [
            ("http://b.example/x", "http://b.example/x"), ("/x", "https://a.example/x"),
            ("x", "https://a.example/covers/x"), ("//8.8.8.8/x", "https://8.8.8.8/x"),
            ("https://172.32.0.1/", "https://172.32.0.1/"), ("https://[2001:db8::1]/", "https://[2001:db8::1]/"),
        ])
    func outside(location: String, expected: String) throws {
        #expect(try url("https://a.example/covers/1").redirected(to: location).text == expected)
    }

    private func pause(_ status: Int, _ retryAfter: String) throws -> Duration? {
        var download = ArtworkDownload(try url("http://a.example/"), limits: limits)
        // Sun, 06 Nov 1994 08:49:37 GMT
        #expect(throws: NetworkError.self) {
            try download.received(.init(status: status, retryAfter: retryAfter), date: .seconds(784_111_777))
        }
        return download.retryAfter
    }

    @Test(
        "a server that requests a pause gets it, up to two hours",
        arguments: [
            ("120", 120), ("0", 0), ("99999999", 7_200), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("Sun, 06 Nov 9994 08:00:00 GMT", 7_200), ("-5", nil), ("soon", nil),
            ("99999999999999999999", nil), ("Sun, 06 Nov 1994 08:50 GMT", nil),
        ] as [(String, Int?)])
    func retryAfter(text: String, seconds: Int?) throws {
        #expect(try pause(429, text) == seconds.map { .seconds($0) })
        #expect(try pause(503, text) == seconds.map { .seconds($0) })
    }

    @Test("a temporary failure is tried again after 5 s, then after twice as long each time, up to 5 minutes")
    func doubling() throws {
        var failures = ArtworkFailures(limits: limits)
        let picture = try url("http://a.example/1")
        var now: MeshInstant = .zero
        for seconds in [5, 10, 20, 40, 80, 160, 300, 300] {
            failures.failed(picture, last: picture, error: .offline, retryAfter: nil, now: now)
            #expect(failures.obstacle(picture, now: now + .seconds(seconds) - .milliseconds(1)) != nil)
            now += .seconds(seconds)
            #expect(failures.obstacle(picture, now: now) == nil)
        }
        failures.succeeded(picture, last: picture)
        failures.failed(picture, last: picture, error: .offline, retryAfter: nil, now: now)
        #expect(failures.obstacle(picture, now: now + .seconds(5)) == nil)
    }

    @Test("a missing picture is not requested again for an hour")
    func refused() throws {
        var failures = ArtworkFailures(limits: limits)
        let picture = try url("http://a.example/1")
        failures.failed(picture, last: picture, error: .httpError(statusCode: 404), retryAfter: nil, now: .zero)
        #expect(failures.obstacle(picture, now: .seconds(3_599)) != nil)
        #expect(failures.obstacle(picture, now: .seconds(3_600)) == nil)
    }

    @Test("a server's request for a pause applies to all its pictures")
    func wholeServer() throws {
        var failures = ArtworkFailures(limits: limits)
        let asked = try url("http://a.example/1"), answered = try url("http://b.example/1")
        failures.failed(asked, last: answered, error: .rateLimited, retryAfter: .seconds(60), now: .zero)
        failures.failed(asked, last: answered, error: .rateLimited, retryAfter: nil, now: .zero)
        #expect(failures.obstacle(try url("http://b.example/2"), now: .seconds(59)) != nil)
        #expect(failures.obstacle(try url("http://b.example/2"), now: .seconds(60)) == nil)
        #expect(failures.obstacle(try url("http://a.example/2"), now: .zero) == nil)
        #expect(failures.obstacle(try url("https://b.example/2"), now: .zero) == nil)
    }

    @Test("a server that has sent a picture gets the requests that it wanted to delay, and no other server does")
    func serverIsWell() throws {
        var failures = ArtworkFailures(limits: limits)
        let pictures = try ["http://a.example/1", "http://a.example/2", "http://b.example/1"].map { try url($0) }
        for picture in pictures {
            failures.failed(picture, last: picture, error: .serverMaintenance, retryAfter: .seconds(60), now: .zero)
        }
        failures.succeeded(pictures[0], last: pictures[0])
        #expect(pictures.map { failures.obstacle($0, now: .seconds(1)) } == [nil, nil, .serverMaintenance])
    }

    @Test("the number of remembered failures is limited, and the oldest is forgotten first")
    func boundedFailures() throws {
        var failures = ArtworkFailures(limits: limits)
        for index in 0...limits.rememberedFailures {
            let picture = try url("http://a.example/\(index)")
            failures.failed(picture, last: picture, error: .noData, retryAfter: nil, now: .milliseconds(index))
        }
        #expect(failures.count == limits.rememberedFailures)
        #expect(failures.obstacle(try url("http://a.example/0"), now: .seconds(1)) == nil)
        #expect(failures.obstacle(try url("http://a.example/1"), now: .seconds(1)) != nil)
    }

    @Test("the picture that was not used for longest is removed, and never the newest")
    func eviction() {
        var limits = ArtworkLimits()
        (limits.cacheBytes, limits.cachedPictures) = (100, 3)
        var cache = ArtworkCachePolicy(limits: limits)
        for (key, used) in [("a", 3), ("b", 1), ("c", 2)] {
            cache.stored(key, .init(kind: .png, bytes: 10, storedAt: .zero, usedAt: .seconds(used)))
        }
        #expect(cache.evict(sparing: nil) == [])
        cache.stored("d", .init(kind: .png, bytes: 10, storedAt: .zero, usedAt: .zero))
        #expect(cache.evict(sparing: "d") == ["b"])
        cache.stored("e", .init(kind: .png, bytes: 95, storedAt: .zero, usedAt: .seconds(9)))
        #expect(cache.evict(sparing: "e") == ["d", "c", "a"])
        #expect(cache.bytes == 95)
    }

    @Test("a limited number of downloads runs at once, in the order of the requests, and a limited number waits")
    func flights() throws {
        var limits = ArtworkLimits()
        (limits.concurrentRequests, limits.waitingRequests) = (2, 1)
        var flights = ArtworkFlights(limits: limits)
        let urls = try (0..<4).map { try url("http://a.example/\($0)") }
        #expect(flights.asked(urls[0], by: 1) == [.start(urls[0])])
        #expect(flights.asked(urls[1], by: 2) == [.start(urls[1])])
        #expect(flights.asked(urls[2], by: 3) == [])
        #expect(flights.asked(urls[3], by: 4) == [.refuse(4)])
        #expect(flights.asked(urls[0], by: 5) == [])
        let (waiters, actions) = flights.ended(urls[0])
        #expect(waiters == [1, 5])
        #expect(actions == [.start(urls[2])])
    }

    @Test("a download is cancelled when its last caller gives up, and starts again for a later caller")
    func abandoned() throws {
        var flights = ArtworkFlights(limits: limits)
        let picture = try url("http://a.example/")
        _ = flights.asked(picture, by: 1)
        _ = flights.asked(picture, by: 2)
        #expect(flights.abandoned(picture, by: 1) == [])
        #expect(flights.abandoned(picture, by: 2) == [.cancel(picture)])
        #expect(flights.asked(picture, by: 3) == [])
        let (nobody, again) = flights.ended(picture)
        #expect(nobody == [] && again == [.start(picture)])
        #expect(flights.ended(picture).waiters == [3])
    }
}
