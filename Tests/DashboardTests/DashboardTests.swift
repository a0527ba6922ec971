// SPDX-License-Identifier: Apache-2.0

import NodeCore
import DemocracyDJ
import FoundationEssentials
import MeshProtocol
import TestSupport
import Testing

@testable import Dashboard

@Suite("The dashboard, over HTTP", .timeLimit(.minutes(5)))
struct DashboardTests {
    private static func snapshot(_ revision: UInt64, queue: [QueueItem] = []) -> NodeEvent {
        .snapshot(
            HostSnapshot(
                epoch: 1, revision: revision, nowPlaying: QueueItem(song: Car.songs[0], addedBy: "h0"),
                isPlaying: true, queue: queue, connectedPeers: []), isStale: false)
    }

    @Test("the page is served to every client, with its security policy, and only once while it is unchanged")
    func page() async throws {
        let car = try await Car(host: "0.0.0.0")
        let browser = car.browser
        for path in ["/", "/style.css", "/app.js"] {
            let answer = try await browser.get(path)
            #expect(answer.status == 200 && !answer.body.isEmpty)
            let policy = answer.headers["content-security-policy"].first ?? ""
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"))
            #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
            #expect(answer.headers["x-content-type-options"] == ["nosniff"])
            #expect(answer.headers["referrer-policy"] == ["no-referrer"])
            let tag = try #require(answer.headers["etag"].first)
            let again = try await browser.get(path, ["if-none-match": tag])
            #expect(again.status == 304 && again.body.isEmpty)
        }
        let missing = try await browser.get("/nothing")
        #expect(missing.status == 401 && missing.headers["content-security-policy"].count == 1)
        #expect(missing.headers["cache-control"] == ["no-store"])
        try await car.stop()
    }

    @Test("that others can reach stays the driver's if the driver opens the passengers' link")
    func passengersLink() async throws {
        var options = DashboardOptions()
        options.webGuests = true
        let car = try await Car(host: "0.0.0.0", options: options)
        let browser = car.browser
        let token = try #require(car.url.split(separator: "?token=").last)
        _ = try await browser.get("/?token=\(token)")
        let link = try await browser.get("/join?token=\(options.tokens.guest)")
        #expect(link.status == 303 && link.headers["set-cookie"].first?.hasPrefix("roadmesh-join-") == true)
        #expect(try await browser.page().view().role == "host")
        #expect(try await browser.command("pause").status == 204)
        try await car.stop()
    }

    @Test("that others can reach is opened by its token, once, and by the cookie from then on")
    func token() async throws {
        let car = try await Car(host: "0.0.0.0")
        let browser = car.browser
        let refused = try await browser.get("/events")
        #expect(refused.status == 401 && refused.reason == "token" && refused.message?.contains("code") == true)
        let wrong = try await browser.get("/?token=wrong")
        #expect(wrong.status == 401 && wrong.headers["content-type"] == ["text/html; charset=utf-8"])
        let token = try #require(car.url.split(separator: "?token=").last)
        let entered = try await browser.get("/?token=\(token)")
        #expect(entered.status == 303 && entered.headers["location"] == ["/"])
        let cookie = try #require(entered.headers["set-cookie"].first)
        #expect(cookie.hasPrefix("roadmesh-\(car.port)=") && cookie.contains("HttpOnly"))
        #expect(cookie.contains("SameSite=Strict") && cookie.contains("Path=/"))
        let page = try await browser.page()
        #expect(try await page.view().role == "host")
        #expect(try await browser.command("pause").status == 204)
        try await car.stop()
    }

    @Test("a request without content gets a page with instructions, and never raw JSON")
    func deadEnds() async throws {
        let car = try await Car(host: "0.0.0.0")
        let opened: [String: String?] = ["sec-fetch-mode": "navigate", "accept-language": "ja, de-CH;q=0.9, en;q=0.8"]
        let browser = car.browser
        for path in ["/events", "/join", "/art/s1", "/nothing", "/?token=x", "/join?token=x"] {
            let dead = try await browser.get(path, opened)
            #expect(dead.status == 401 && dead.body.contains("<script"), "\(path)")
        }
        try await browser.get("/" + (car.url.split(separator: "/").last ?? ""))
        let nothing = try await browser.get("/nothing", opened)
        #expect(nothing.status == 404 && nothing.headers["content-type"] == ["text/html; charset=utf-8"])
        #expect(nothing.body.contains("Unter dieser Adresse gibt es nichts.") && nothing.body.contains("Seite öffnen"))
        let other = try await browser.get("/", opened.merging(["host": "evil.example"]) { $1 })
        #expect(other.status == 421 && other.body.contains("Das ist nicht die Adresse dieser Seite."))
        #expect(!other.body.contains("<script"))
        let plain = try await browser.get("/nothing", ["accept": "text/html", "accept-language": nil])
        #expect(plain.body.contains("There is nothing at this address.") && plain.body.contains("<html lang=\"en\">"))
        let script = try await browser.get("/nothing", ["sec-fetch-mode": "cors", "accept": "text/html"])
        #expect(script.status == 404 && script.message == "There is nothing at this address.")
        #expect(try await browser.get("/join", opened).headers["location"] == ["/"])
        try await car.stop()
    }

    @Test("a browser that comes back gets its cookie renewed")
    func renewal() async throws {
        let car = try await Car(host: "0.0.0.0")
        let browser = car.browser
        try await browser.get("/" + (car.url.split(separator: "/").last ?? ""))
        let line = try await Line(port: car.port)
        try await line.ask(.GET, "/events", browser.headers(), body: nil)
        let head = try await line.parts.first { if case .head(let head) = $0 { head } else { nil } }
        let cookie = try #require(head.headers["set-cookie"].first)
        #expect(cookie.contains(browser.cookies.values.first ?? "none"))
        #expect(cookie.contains("Max-Age=\(400 * 86_400)"))
        try await car.stop()
    }

    @Test("with any port allowed, the dashboard opens again on its former one, and on another if that is taken")
    func formerPort() async throws {
        var options = DashboardOptions()
        // The port is below the range that the system assigns.
        var first: Car?
        while first == nil {
            options.formerPort = Int.random(in: 20_000..<30_000)
            let car = try await Car(options: options)
            if car.port == options.formerPort { first = car } else { try await car.stop() }
        }
        let former = try #require(first)
        let beside = try await Car(options: options)
        #expect(beside.port != former.port)
        try await former.stop()
        // A busy machine frees the port some time after `stop` has returned.
        var again = try await Car(options: options)
        while again.port != former.port {
            try await again.stop()
            again = try await Car(options: options)
        }
        try await again.stop()
        try await beside.stop()
    }

    @Test("a page of another site, and a name that is not this device's, cannot give commands")
    func foreign() async throws {
        let car = try await Car()
        let browser = car.browser
        #expect(try await browser.get("/events", ["host": "evil.example"]).status == 421)
        let skip = "{\"command\": \"skip\"}"
        #expect(try await browser.post("/api/command", skip, ["origin": "http://evil.example"]).status == 403)
        #expect(try await browser.post("/api/command", skip, ["origin": nil]).status == 403)
        #expect(try await browser.post("/api/command", skip, ["sec-fetch-site": "cross-site"]).status == 403)
        #expect(try await browser.post("/api/command", skip, ["content-type": "text/plain"]).status == 415)
        #expect(try await browser.post("/api/command", String(repeating: "x", count: 5_000)).status == 413)
        #expect(try await browser.get("/nothing").status == 404)
        #expect(try await browser.get("/", ["x": String(repeating: "x", count: 20_000)]).status == 400)
        for body in ["", "[]", "{}", "{\"command\": \"dance\"}", "{\"command\": \"add\"}", "{\"command\": 3}"] {
            #expect(try await browser.post("/api/command", body).status == 400, "\(body)")
        }
        #expect(try await browser.command("vote", "s1").status == 400)
        // No part of it has reached the node.
        #expect(try await browser.command("play").status == 204)
        #expect(try await car.heard.first { $0 } == .host(.play))
        try await car.stop()
    }

    @Test("commands reach the node")
    func commands() async throws {
        let host = try await Car(), guest = try await Car(role: .guest)
        let ofHost: [(String, NodeInput)] = [
            ("{\"command\": \"play\"}", .host(.play)), ("{\"command\": \"pause\"}", .host(.pause)),
            ("{\"command\": \"skip\"}", .host(.skip)),
            ("{\"command\": \"add\", \"songID\": \"s1\"}", .host(.add("s1"))),
            ("{\"command\": \"remove\", \"songID\": \"s1\"}", .host(.remove("s1"))),
            ("{\"command\": \"kick\", \"peer\": \"a\"}", .host(.kick("a"))), ("{\"command\": \"end\"}", .end),
            ("{\"command\": \"retry\"}", .retry),
        ]
        let ofGuest: [(String, NodeInput)] = [
            ("{\"command\": \"vote\", \"songID\": \"s1\"}", .guest(.vote("s1"))),
            ("{\"command\": \"takeBack\", \"songID\": \"s1\"}", .guest(.takeBackVote("s1"))),
            ("{\"command\": \"suggest\", \"songID\": \"s1\"}", .guest(.suggest("s1"))),
            ("{\"command\": \"skip\"}", .guest(.skip)), ("{\"command\": \"retry\"}", .retry),
            ("{\"command\": \"leave\"}", .leave),
        ]
        for (car, table) in [(host, ofHost), (guest, ofGuest)] {
            let browser = car.browser
            for (body, input) in table {
                #expect(try await browser.post("/api/command", body).status == 204)
                #expect(try await car.heard.first { $0 } == input)
            }
            try await car.stop()
        }
    }

    @Test("a limited number of commands at once is accepted")
    func commandRate() async throws {
        // Time stands still, so that a slow machine earns no further commands.
        let car = try await Car(clock: { .zero })
        let browser = car.browser
        for _ in 0..<DashboardLimits.commandBurst {
            #expect(try await browser.command("play").status == 204)
        }
        let refused = try await browser.command("play")
        #expect(refused.status == 429 && refused.message != nil)
        try await car.stop()
    }

    @Test("a page sees the current view at once, the newest after many changes, and the end")
    func events() async throws {
        var options = DashboardOptions()
        // Longer than any machine needs: the test checks that the page is notified.
        options.lastView = .seconds(60)
        let car = try await Car(options: options)
        car.tell(Self.snapshot(1))
        let page = try await car.browser.page()
        let first = try await page.view { $0.nowPlaying != nil }
        #expect(first.role == "host" && first.connection == "hosting" && first.me.name == "Dad's Car")
        for number in 2...400 {
            car.tell(Self.snapshot(UInt64(number), queue: [QueueItem(song: Car.songs[number % 8], addedBy: "h0")]))
        }
        car.tell(Self.snapshot(401, queue: [QueueItem(song: Car.songs[7], addedBy: "h0", voters: ["a", "b"])]))
        let last = try await page.view { $0.item("s8")?.votes == 2 }
        // 400 changes give a few views, each of them the newest.
        #expect(last.version >= first.version + 400)
        let ending = Task { try await car.stop() }
        let ended = try await page.view { $0.ended != nil }
        #expect(ended.version > last.version)
        try await page.end()
        try await ending.value
        await #expect(throws: (any Error).self) { try await car.browser.get("/") }
    }

    @Test("a slow page gets no more views than one in some time")
    func coalescing() async throws {
        let car = try await Car()
        let line = try await Line(port: car.port)
        try await line.ask(.GET, "/events", car.browser.headers(), body: nil)
        let page = OpenPage(line)
        _ = try await page.view()
        let began = ContinuousClock.now
        for number in 2...1_000 {
            car.tell(Self.snapshot(UInt64(number)))
            if number.isMultiple(of: 10) { await Task.yield() }
        }
        car.tell(Self.snapshot(1_001, queue: [QueueItem(song: Car.songs[7], addedBy: "h0")]))
        let views = try await page.count { $0.item("s8") != nil }
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        print("1,000 changes in \(seconds) s were \(views) views")
        #expect(Double(views) <= seconds / (DashboardLimits.viewPause / .seconds(1)) + 2)
        try await car.stop()
    }

    @Test("a search finds songs in the host's library")
    func hostSearch() async throws {
        var options = DashboardOptions()
        options.search = { SongLibrary(Car.songs).find($0, atMost: DJLimits.searchResults) }
        let car = try await Car(options: options)
        let browser = car.browser
        let found = try await browser.get("/api/search?q=song+3")
        #expect(found.status == 200 && found.body.contains("\"id\":\"s3\"") && !found.body.contains("s4"))
        #expect(try await browser.get("/api/search?q=%20").body.contains("\"songs\":[]"))
        #expect(try await browser.get("/api/search").body.contains("\"songs\":[]"))
        #expect(try await browser.get("/api/search?q=\(String(repeating: "x", count: 200))").status == 400)
        try await car.stop()
    }

    @Test("a guest's search goes to its host, and reports a missing host or a later search")
    func guestSearch() async throws {
        let car = try await Car(role: .guest)
        let browser = car.browser
        #expect(try await browser.get("/api/search?q=song").status == 503)
        car.tell(.connection(.connected))
        _ = try await browser.page().view { $0.connection == "connected" }
        async let answer = car.browser.get("/api/search?q=caf%C3%A9")
        #expect(try await car.heard.first { $0 } == .guest(.search("café")))
        car.tell(.searchResults([Car.songs[1]], query: "other"), .searchResults([Car.songs[0]], query: "café"))
        #expect(try await answer.body.contains("\"id\":\"s1\""))
        async let overtaken = car.browser.get("/api/search?q=a")
        #expect(try await car.heard.first { $0 } == .guest(.search("a")))
        async let second = car.browser.get("/api/search?q=ab")
        #expect(try await overtaken.status == 503)
        #expect(try await car.heard.first { $0 } == .guest(.search("ab")))
        car.tell(.searchResults([], query: "ab"))
        #expect(try await second.body.contains("\"songs\":[]"))
        try await car.stop()
    }

    @Test("covers of the node and of the music's files are sent, and other data are not")
    func covers() async throws {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: 65, count: 500_000)
        let path = newFolder()
        try Data(png).write(to: URL(filePath: path))
        var options = DashboardOptions()
        options.art = { id in id == "a/b" ? Array("GIF89a...".utf8) : id == "text" ? Array("<html>".utf8) : nil }
        let car = try await Car(options: options)
        car.tell(.artwork("s1", path: path))
        let browser = car.browser
        _ = try await browser.page().view { $0.version > 1 }
        let cover = try await browser.get("/art/s1")
        #expect(cover.status == 200 && cover.headers["content-type"] == ["image/png"])
        #expect(cover.headers["content-length"] == ["\(png.count)"])
        let tag = try #require(cover.headers["etag"].first)
        // More requests at once than memory has room for. All are answered.
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<3 * DashboardLimits.picturesAtOnce {
                group.addTask {
                    let phone = car.browser
                    var cover = try await phone.get("/art/s1")
                    // On a busy machine a request may time out. A phone asks again.
                    for _ in 0..<10 where cover.status != 200 { cover = try await phone.get("/art/s1") }
                    return cover.body.utf8.count
                }
            }
            for try await count in group { #expect(count > 500_000) }
        }
        for _ in 0..<3 * DashboardLimits.picturesAtOnce {
            #expect(try await browser.get("/art/s1", ["if-none-match": tag]).status == 304)
        }
        let own = try await browser.get("/art/a%2Fb")
        #expect(own.status == 200 && own.headers["content-type"] == ["image/gif"])
        for id in ["text", "none", "%zz", "..%2F..%2Fetc%2Fpasswd"] {
            #expect(try await browser.get("/art/\(id)").status == 404)
        }
        try await car.stop()
        try FileManager.default.removeItem(atPath: path)
    }

    @Test("the dashboard waits for its address if it is taken, and opens nothing if it is off")
    func addresses() async throws {
        let car = try await Car()
        #expect(try await Car.another(at: car.port) == nil)
        #expect(try await Car.another(at: nil) == nil)
        try await car.stop()
    }

    @Test("the dashboard tries again until its address is free, and reports both")
    func late() async throws {
        let car = try await Car()
        let (changes, changed) = AsyncStream.makeStream(of: DashboardOptions.Change.self)
        let (dashboard, events) = Car.dashboardAndEvents(at: car.port) { changed.yield($0) }
        let running = Task { try await dashboard.run() }
        let told = EventQueue(changes)
        let cause = try await told.first { change in
            if case .notShown("127.0.0.1:\(car.port)", let cause) = change { cause } else { nil }
        }
        #expect(cause == "Address already in use")
        try await car.stop()
        let url = try await told.first { if case .shown(let url, _, _, car.port) = $0 { url } else { nil } }
        #expect(url == "http://127.0.0.1:\(car.port)/")
        #expect(try await Browser(port: car.port).get("/").status == 200)
        events.yield(.bye(.quit))
        events.finish()
        try await running.value
    }

    @Test("without a page, nothing of the node's events is stored", arguments: [nil, 0])
    func nothingKept(port: Int?) async throws {
        let (dashboard, events) = Car.dashboardAndEvents(at: port)
        var isOver = false
        if case .terminated = events.yield(.bye(.quit)) { isOver = true }
        #expect(isOver == (port == nil))
        events.finish()
        try await dashboard.run()
    }
}

extension OpenPage {
    /// Number of views until one satisfies the condition, with that view.
    func count(until fits: @escaping @Sendable (SeenView) -> Bool) async throws -> Int {
        var count = 0
        while true {
            count += 1
            if fits(try await view()) { return count }
        }
    }
}
