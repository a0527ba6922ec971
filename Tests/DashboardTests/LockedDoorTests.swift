// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import Dashboard

@Suite("A passenger's browser at a host with a PIN", .timeLimit(.minutes(5)))
struct LockedDoorTests {
    private static let pin = "314159"
    private static let key = String(repeating: "17", count: 32)
    private let host = HostInTheCar(pin: JoiningSecret(pin: Self.pin), identity: Self.identity)
    private static let identity = Identity.make()

    private func car() async throws -> Car {
        var options = DashboardOptions()
        (options.webGuests, options.pin) = (true, Self.pin)
        options.wifi = WifiNetwork(name: "Car; 7", password: "to:the\\sea")
        return try await Car(
            host: "0.0.0.0", options: options, node: host, peer: Peer(id: Self.identity.peerID, name: "Dad's Car"))
    }

    private func driver(of car: Car) async throws -> Browser {
        let browser = car.browser
        try await browser.get("/" + (car.url.split(separator: "/").last ?? ""))
        return browser
    }

    private func join(
        _ browser: Browser, _ proof: String = "", key: String = Self.key
    ) async throws -> Answer {
        try await browser.post("/api/join", "{\"key\": \"\(key)\", \"name\": \"Mia\"\(proof)}")
    }

    @Test("a page without a link asks for the PIN, and admits a browser that types it permanently")
    func bare() async throws {
        let car = try await car()
        let browser = car.browser
        let asked = try await browser.get("/events")
        #expect(asked.status == 401 && asked.reason == "pin" && asked.message?.contains("PIN") == true)
        let without = try await join(browser)
        #expect(without.status == 401 && without.reason == "pin")
        let wrong = try await join(browser, ", \"pin\": \"271828\"")
        #expect(wrong.status == 403 && wrong.reason == "pin")
        #expect(try await join(browser, ", \"pin\": \"12\"").reason == "pin")
        #expect(try await browser.get("/events").status == 401)
        #expect(try await join(browser, ", \"pin\": \"\(Self.pin)\"").status == 204)
        let page = try await browser.page()
        #expect(try await page.view { $0.guests.contains { $0.isMe } }.role == "webGuest")
        // Later the host has forgotten the session. The cookie is enough to join again.
        browser.cookies["roadmesh-guest-\(car.port)"] = nil
        #expect(try await browser.get("/events").reason == nil)
        #expect(try await join(browser).status == 204)
        try await car.stop()
    }

    @Test("guesses of the PIN in browsers leave guesses to guests on the air, and the driver is notified of each")
    func guesses() async throws {
        let car = try await car()
        let page = try await driver(of: car).page()
        let statuses = try await (0..<7).asyncMap { _ in
            try await join(car.browser, ", \"pin\": \"271828\"").status
        }
        #expect(statuses == [403, 403, 403, 429, 429, 429, 429])
        _ = try await page.view { $0.notices.contains { $0.code == "pinGuessed" } }
        try await car.stop()
    }

    @Test("an invitation admits one browser, shows its own QR code only to the driver, and is then used up")
    func invitation() async throws {
        let car = try await car()
        let driver = try await driver(of: car)
        let page = try await driver.page()
        let invite = try await driver.post("/api/command", "{\"command\": \"invite\", \"span\": \"once\"}")
        #expect(invite.status == 204)
        let open = try #require(try await page.view { $0.invitation?.open.isEmpty == false }.invitation?.open.first)
        #expect(open.once && open.text.hasPrefix("roadmesh:"))
        #expect(try await driver.get(open.qr).status == 200)
        #expect(try await car.browser.get(open.qr).status == 401)
        let (mia, eve) = (car.browser, car.browser)
        let code = open.text.dropFirst(9)
        let opened = try await mia.get("/join?invitation=\(code)", ["sec-fetch-mode": "navigate"])
        #expect(opened.status == 200 && opened.body.contains("<script"))
        let proof = ", \"invitation\": \"\(code)\""
        let spoilt = ", \"invitation\": \"\(code.dropLast())A\""
        #expect(try await join(mia, spoilt).reason == "invitation")
        #expect(try await join(mia, proof).status == 204)
        _ = try await page.view { $0.invitation?.open.isEmpty == true }
        let late = try await join(eve, proof, key: String(repeating: "18", count: 32))
        #expect(late.status == 403 && late.reason == "invitation")
        try await car.stop()
    }

    @Test("a browser that joined with the PIN or an invitation for one can add no other identity, and none after a ban")
    func oneKey() async throws {
        let car = try await car()
        let driver = try await driver(of: car)
        let page = try await driver.page()
        let tokens = await car.dashboard.options.tokens
        #expect(try await driver.post("/api/command", "{\"command\": \"invite\", \"span\": \"once\"}").status == 204)
        let open = try #require(try await page.view { $0.invitation?.open.isEmpty == false }.invitation?.open.first)
        let proofs = [", \"pin\": \"\(Self.pin)\"", ", \"invitation\": \"\(open.text.dropFirst(9))\""]
        for (number, proof) in proofs.enumerated() {
            let key = String(repeating: "2\(number)", count: 32), other = String(repeating: "3\(number)", count: 32)
            let browser = car.browser
            #expect(try await join(browser, proof, key: key).status == 204)
            #expect(browser.cookies.values.allSatisfy { !$0.contains(tokens.guest) && !$0.contains(tokens.driver) })
            // Another identity with the same cookies, and a browser that has only the access.
            let more = try await join(browser, key: other)
            #expect(more.status == 401 && more.reason == "pin")
            #expect(try await join(browser, key: key).status == 204)
            let guest = try await browser.page()
            let me = try await guest.view { $0.guests.contains { $0.isMe } }.me.id
            #expect(try await driver.post("/api/command", "{\"command\": \"ban\", \"peer\": \"\(me)\"}").status == 204)
            _ = try await guest.view { $0.ended != nil }
            try await guest.end()
            #expect(try await join(browser, key: key).reason == "banned")
            for number in 40..<44 {
                let again = try await join(browser, key: String(repeating: "\(number)", count: 32))
                #expect(again.status == 401 && again.reason == "pin")
            }
        }
        try await car.stop()
    }

    @Test("a second QR code joins the Wi-Fi, and special characters in its name and password are escaped")
    func wifi() async throws {
        #expect(WifiNetwork(name: "Car; 7", password: "to:the\\sea")?.code == #"WIFI:T:WPA;S:Car\; 7;P:to\:the\\sea;;"#)
        #expect(WifiNetwork(name: "Car", password: nil)?.code == "WIFI:T:nopass;S:Car;;")
        for (name, password) in [("", nil), (String(repeating: "x", count: 33), nil), ("Car", "short"), ("Car", "")] {
            #expect(WifiNetwork(name: name, password: password) == nil)
        }
        let car = try await car()
        let driver = try await driver(of: car)
        #expect(try await driver.page().view().invitation?.wifi?.name == "Car; 7")
        #expect(try await driver.get("/wifi.svg").headers["content-type"] == ["image/svg+xml"])
        let guest = car.browser
        #expect(try await join(guest, ", \"pin\": \"\(Self.pin)\"").status == 204)
        #expect(try await guest.get("/wifi.svg").status == 404)
        try await car.stop()
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ change: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await change(element)) }
        return values
    }
}
