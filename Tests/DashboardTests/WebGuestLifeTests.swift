// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import Dashboard

@Suite("A passenger's browser, from the QR code to the goodbye", .timeLimit(.minutes(5)))
struct WebGuestLifeTests {
    private let host = HostInTheCar()

    private func car(
        pause: @escaping Dashboard.Pause = { try await Task.sleep(for: $0) }
    ) async throws -> Car {
        var options = DashboardOptions()
        options.webGuests = true
        options.majoritySkip = true
        options.search = { SongLibrary(Car.songs).find($0, atMost: DJLimits.searchResults) }
        return try await Car(options: options, node: host, pause: pause)
    }

    private func invited(to car: Car) async throws -> Browser {
        let url = try #require(try await car.browser.page().view().invitation?.url)
        let browser = car.browser
        let path = try #require(url.split(separator: ":\(car.port)").last)
        let entered = try await browser.get(String(path))
        #expect(entered.status == 303 && entered.headers["location"] == ["/"])
        return browser
    }

    private func join(_ browser: Browser, _ key: String = Self.key, _ name: String = "Mia") async throws -> Answer {
        try await browser.post("/api/join", "{\"key\": \"\(key)\", \"name\": \"\(name)\"}")
    }

    private static let key = String(repeating: "17", count: 32)
    private static let otherKey = String(repeating: "18", count: 32)

    @Test("a browser scans the code, joins by name, votes, is counted, and is gone when it leaves")
    func life() async throws {
        let car = try await car()
        let code = try await car.browser.get("/invitation.svg")
        #expect(code.status == 200 && code.headers["content-type"] == ["image/svg+xml"])
        let browser = try await invited(to: car)
        let early = try await browser.get("/events")
        #expect(early.status == 401 && early.message == "Type your name to join.")
        #expect(try await join(browser).status == 204)

        let page = try await browser.page()
        let driver = try await car.browser.page()
        let first = try await page.view { $0.guests.contains { $0.isMe } }
        let id = Identity(stored: [UInt8](repeating: 0x17, count: 32))?.peerID
        #expect(first.me.id == id && first.me.name == "Mia" && first.role == "webGuest")
        #expect(first.connection == "connected" && first.invitation == nil)
        let seen = try await driver.view { !$0.guests.isEmpty }
        #expect(seen.guests.map(\.isWeb) == [true] && seen.role == "host")

        #expect(try await browser.command("vote", "s4").status == 204)
        let voted = try await page.view { $0.item("s4")?.wish?.state == "confirmed" }
        #expect(voted.queue.first?.id == "s4" && voted.queue.first?.mine == true)
        #expect(try await driver.view { $0.item("s4")?.votes == 1 }.item("s4")?.voters.first?.name == "Mia")
        #expect(try await browser.command("suggest", "s99").status == 204)
        _ = try await page.view { $0.notices.contains { $0.code == "unknownSong" && $0.kind == "toast" } }
        #expect(try await browser.get("/api/search?q=song+3").body.contains("s3"))
        #expect(try await browser.command("takeBack", "s4").status == 204)
        _ = try await page.view { $0.item("s4")?.votes == 0 }

        #expect(try await browser.command("leave").status == 204)
        try await page.end()
        #expect(try await browser.get("/events").status == 401)
        _ = try await driver.view { $0.guests.isEmpty }
        try await car.stop()
    }

    @Test("a browser has none of the driver's rights, and no rights without joining")
    func rights() async throws {
        let car = try await car()
        let browser = try await invited(to: car)
        #expect(try await browser.command("vote", "s4").status == 401)
        #expect(try await browser.get("/api/search?q=song").status == 401)
        #expect(try await browser.get("/art/s1").status == 401)
        #expect(try await join(browser).status == 204)
        for command in ["play", "pause", "end", "quit"] { #expect(try await browser.command(command).status == 400) }
        let ban = "{\"command\": \"ban\", \"peer\": \"x\"}"
        #expect(try await browser.post("/api/command", ban).status == 400)
        // A device that is not a co-host is refused a co-host's command.
        let refused = try await browser.command("remove", "s4")
        #expect(refused.status == 409 && refused.message?.contains("only the driver can do that") == true)
        #expect(try await browser.get("/invitation.svg").status == 404)
        // Another guest's id is useless without the key, and the session cannot be guessed.
        browser.cookies["roadmesh-guest-\(car.port)"] = "0123456789abcdef0123456789abcdef"
        #expect(try await browser.command("vote", "s4").status == 401)
        // Without web guests, the host has no page for them.
        let closed = try await Car()
        let answer = try await join(closed.browser)
        #expect(answer.status == 403)
        #expect(try await closed.browser.get("/join?token=x").status == 401)
        try await closed.stop()
        try await car.stop()
    }

    @Test("a browser gets an error for an invalid name or key")
    func badNames() async throws {
        let car = try await car()
        let browser = try await invited(to: car)
        for name in ["", "   ", String(repeating: "x", count: 65), "a\\u0007b"] {
            let answer = try await join(browser, Self.key, name)
            #expect(answer.status == 400 && answer.reason == "name", "\(name)")
        }
        for key in ["", "17", String(repeating: "1", count: 63), String(repeating: "x", count: 64)] {
            #expect(try await join(browser, key).status == 400, "\(key)")
        }
        try await car.stop()
    }

    @Test("the same key on two phones is one guest, another key is another guest, and votes count accordingly")
    func keys() async throws {
        let car = try await car()
        let one = try await invited(to: car), same = try await invited(to: car), other = try await invited(to: car)
        #expect(try await join(one).status == 204)
        #expect(try await join(same).status == 204)
        #expect(try await join(other, Self.otherKey).status == 204)
        let pages = [try await one.page(), try await same.page(), try await other.page()]
        for browser in [one, same, other] { #expect(try await browser.command("vote", "s5").status == 204) }
        for page in pages {
            let view = try await page.view { $0.item("s5")?.votes == 2 }
            #expect(view.guests.count == 2)
        }
        try await car.stop()
    }

    @Test("a browser that the driver removes is notified, its stream ends, and its key opens nothing more")
    func sentAway() async throws {
        let car = try await car()
        let browser = try await invited(to: car)
        #expect(try await join(browser).status == 204)
        let page = try await browser.page()
        let me = try await page.view { $0.guests.contains { $0.isMe } }.me.id
        let kick = "{\"command\": \"kick\", \"peer\": \"\(me)\"}"
        #expect(try await car.browser.post("/api/command", kick).status == 204)
        #expect(try await page.view { $0.ended != nil }.ended?.contains("kicked") == true)
        try await page.end()
        let again = try await join(browser)
        #expect(again.status == 403 && again.reason == "banned")
        #expect(try await join(browser, Self.otherKey).status == 204)
        try await car.stop()
    }

    @Test("a vote is confirmed when the disk has it, and otherwise refused with a text, without being lost")
    func disk() async throws {
        // A tap times out at once.
        let car = try await car { if $0 != DashboardLimits.tapTime { try await Task.sleep(for: $0) } }
        let browser = try await invited(to: car)
        #expect(try await join(browser).status == 204)
        let page = try await browser.page()
        for (disk, song) in [(HostInTheCar.Disk.hangs, "s4"), (.refuses, "s5")] {
            await host.disk(disk)
            let early = try await browser.command("vote", song)
            #expect(early.status == 504 && early.message?.contains("not stored it yet") == true)
            #expect(try await page.view { $0.item(song)?.wish?.state == "sent" }.item(song)?.votes == 0)
            await host.disk(.takes)
            _ = try await page.view { $0.item(song)?.wish?.state == "confirmed" }
            // The page taps again later, which does not make a second vote.
            while try await browser.command("vote", song).status == 504 {}
            #expect(try await car.browser.page().view().item(song)?.votes == 1)
        }
        try await car.stop()
    }

    @Test("the driver's commands on the page are also confirmed when the disk has them")
    func driversDisk() async throws {
        let car = try await car { if $0 != DashboardLimits.tapTime { try await Task.sleep(for: $0) } }
        await host.disk(.hangs)
        let add = "{\"command\": \"add\", \"songID\": \"s8\"}", pause = "{\"command\": \"pause\"}"
        let early = try await car.browser.post("/api/command", add)
        #expect(early.status == 504 && early.message?.contains("not stored it yet") == true)
        await host.disk(.takes)
        while try await car.browser.post("/api/command", pause).status == 504 {}
        #expect(try await car.browser.page().view().item("s8") != nil)
        try await car.stop()
    }

    @Test("a limited number of taps waits for the disk, and further ones are refused with a message")
    func waiting() async throws {
        let car = try await car()
        let browser = try await invited(to: car)
        #expect(try await join(browser).status == 204)
        await host.disk(.hangs)
        let id = try #require(await car.dashboard.webGuests.present.first)
        // The first must be written, and the others wait for it: a refusal alone needs no disk.
        for song in ["s5"] + (1..<DashboardLimits.waitingTaps).map({ "x\($0)" }) {
            await car.dashboard.tap(song, by: id)
        }
        let answer = try await browser.command("vote", "s4")
        #expect(answer.status == 503 && answer.message?.contains("busy with its disk") == true)
        try await car.stop()
    }

    @Test("one page too many ends the first one, and the guest stays")
    func pages() async throws {
        let car = try await car()
        let browser = try await invited(to: car)
        #expect(try await join(browser).status == 204)
        let first = try await browser.page()
        _ = try await first.view()
        var last = first
        for _ in 0..<DashboardLimits.streamsPerGuest {
            last = try await browser.page()
            _ = try await last.view()
        }
        try await first.end()
        #expect(try await browser.command("vote", "s6").status == 204)
        #expect(try await last.view { $0.item("s6")?.votes == 1 }.guests.count == 1)
        try await car.stop()
    }
}

extension Dashboard {
    /// A guest's tap without a wait for its answer.
    fileprivate func tap(_ songID: Song.ID, by id: Peer.ID) {
        if let (_, actions) = webGuests.want(.suggest(songID), by: id, now: now) { perform(actions) }
    }
}
