// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import NodeStore
import Testing

@testable import Dashboard

@Suite("Access to the dashboard")
struct AccessTests {
    @Test("an address is parsed, or its fault is reported")
    func addresses() throws {
        let good: [(String, DashboardAddress)] = [
            ("127.0.0.1:0", .listen(host: "127.0.0.1", port: 0)),
            ("localhost:8080", .listen(host: "127.0.0.1", port: 8080)),
            ("0.0.0.0:80", .listen(host: "0.0.0.0", port: 80)), ("[::1]:8080", .listen(host: "::1", port: 8080)),
            ("8080", .listen(host: "127.0.0.1", port: 8080)), ("none", .none),
        ]
        for (text, address) in good { #expect(try DashboardAddress(parsing: text) == address) }
        let bad = [
            "": "no port", "80800": "from 0 to 65535", "127.0.0.1": "no port", "127.0.0.1:": "from 0 to 65535",
            "127.0.0.1:65536": "from 0 to 65535", "127.0.0.1:-1": "from 0 to 65535", "::1:8080": "brackets",
            ":8080": "nothing before", "car.example:80": "a numeric address", "127.0.0.1:http": "from 0 to 65535",
        ]
        for (text, word) in bad {
            let problem = #expect(throws: DashboardAddress.Problem.self) { try DashboardAddress(parsing: text) }
            #expect(problem?.description.contains(word) == true, "\(text): \(problem?.description ?? "")")
        }
    }

    @Test("tokens have 128 bits, are never repeated, and are compared completely")
    func tokensAreRandom() {
        let tokens = DashboardTokens.make()
        #expect(tokens.driver.count == 32 && tokens.driver != tokens.guest)
        #expect(tokens != DashboardTokens.make())
        #expect(DashboardTokens.areSame("abc", "abc"))
        for other in ["", "ab", "abcd", "abd"] { #expect(!DashboardTokens.areSame("abc", other)) }
    }

    @Test("a restart of the node does not ask a browser for its code again, unless the stored tokens are damaged")
    func tokensAreKept() throws {
        let made = KeptTokens(stored: nil)
        #expect(made.stored.count <= StoreLimits.secretBytes)
        #expect(KeptTokens(stored: made.stored) == made)
        #expect(KeptTokens(stored: nil) != made)
        let line = String(decoding: made.stored, as: UTF8.self)
        for damaged in ["", " ", "\(line) ", "\(line) 1000000", String(line.dropFirst()), String(line.dropLast())] {
            let new = KeptTokens(stored: Array(damaged.utf8))
            #expect(new.tokens.driver != made.tokens.driver && new.tokens.driver.count == 32, "\(damaged)")
        }
    }

    static let tokens = DashboardTokens(driver: "d1", guest: "g1")

    private func visit(
        _ method: String = "GET", _ path: String = "/events", _ change: (inout Gate.Visit) -> Void = { _ in }
    ) -> Gate.Visit {
        var made = Gate.Visit(method: method, path: path, host: "10.0.0.1:8080", localAddress: "10.0.0.1")
        if method == "POST" {
            made.origin = "http://10.0.0.1:8080"
            made.contentType = "application/json"
        }
        change(&made)
        return made
    }

    private let reachable = Gate(host: "0.0.0.0", tokens: Self.tokens, invites: true)
    private let local = Gate(host: "127.0.0.1", tokens: Self.tokens, invites: true)

    @Test("the driver's token opens everything, a guest's token opens the guest's page, and no token opens nothing")
    func rights() {
        let protected = ["/events", "/api/search", "/art/s1", "/invitation.svg", "/join"]
        for path in protected { #expect(reachable.judge(visit("GET", path)) == .refuse(.noToken)) }
        // Some routers treat these as equal.
        for path in ["//events", "/events/", "//art/s1", "/./events", "/%65vents", "/nothing"] {
            #expect(reachable.judge(visit("GET", path)) == .refuse(.noToken), "\(path)")
        }
        for path in ["/", "/style.css", "/app.js"] { #expect(reachable.judge(visit("GET", path)) == .pass(.none)) }
        #expect(reachable.judge(visit { $0.access = "d1" }) == .pass(.driver))
        #expect(reachable.judge(visit { $0.access = "g1" }) == .pass(.invited(session: nil)))
        #expect(
            reachable.judge(
                visit {
                    $0.access = "g1"
                    $0.session = "x"
                }) == .pass(.invited(session: "x")))
        #expect(reachable.judge(visit { $0.access = "other" }) == .refuse(.noToken))
        // A session is useless without the token.
        #expect(reachable.judge(visit { $0.session = "x" }) == .refuse(.noToken))
    }

    @Test("the access of one guest belongs to it: no other name can use it, and new tokens end it")
    func boundAccess() {
        let mia = String(repeating: "1a", count: 16), eve = String(repeating: "2b", count: 16)
        let access = Self.tokens.access(of: mia)
        #expect(!access.contains(Self.tokens.guest) && !access.contains(Self.tokens.driver))
        #expect(reachable.judge(visit { $0.access = access }) == .pass(.invited(session: nil, only: mia)))
        #expect(
            local.judge(visit { ($0.access, $0.host) = (access, "localhost") })
                == .pass(.invited(session: nil, only: mia)))
        for forged in [eve + access.dropFirst(mia.count), mia + "-", mia, String(access.dropLast()), access + "0", "-"]
        {
            #expect(reachable.judge(visit { $0.access = forged }) == .refuse(.noToken), "\(forged)")
        }
        let renewed = Gate(host: "0.0.0.0", tokens: DashboardTokens(driver: "d2", guest: "g1"), invites: true)
        #expect(renewed.judge(visit { $0.access = access }) == .refuse(.noToken))
        // It is not valid as a token of the page.
        #expect(reachable.judge(visit("GET", "/join") { $0.token = access }) == .refuse(.wrongToken))
    }

    @Test("a token opens only its own page")
    func doors() {
        func enter(_ gate: Gate, _ path: String, _ token: String) -> Gate.Verdict {
            gate.judge(visit("GET", path) { $0.token = token })
        }
        #expect(enter(reachable, "/", "d1") == .enter(access: "d1"))
        #expect(enter(reachable, "/join", "g1") == .enterAsGuest(access: "g1"))
        #expect(enter(reachable, "/", "g1") == .refuse(.wrongToken))
        #expect(enter(reachable, "/join", "d1") == .refuse(.wrongToken))
        #expect(enter(reachable, "/join", "") == .refuse(.wrongToken))
        #expect(enter(reachable, "/", "") == .refuse(.wrongToken))
        let uninviting = Gate(host: "0.0.0.0", tokens: Self.tokens, invites: false)
        #expect(enter(uninviting, "/join", "g1") == .refuse(.wrongToken))
        // A person follows a link in a message, which is a cross-site request.
        let link = visit("GET", "/join") { ($0.token, $0.fetchSite) = ("g1", "cross-site") }
        #expect(reachable.judge(link) == .enterAsGuest(access: "g1"))
        // At any other path a token grants nothing.
        #expect(enter(reachable, "/events", "d1") == .refuse(.noToken))
    }

    @Test("a guest's link leaves the driver's browser the driver's")
    func linkOfPassengers() {
        let both = visit { ($0.access, $0.guestAccess) = ("d1", "g1") }
        #expect(reachable.judge(both) == .pass(.driver))
        // A cookie of an earlier version, and a driver's cookie with an earlier token.
        #expect(reachable.judge(visit { $0.access = "g1" }) == .pass(.invited(session: nil)))
        #expect(
            reachable.judge(visit { ($0.access, $0.guestAccess) = ("d0", "g1") }) == .pass(.invited(session: nil)))
    }

    @Test("on this device alone no token is needed, and a browser that came as a guest is one")
    func loopback() {
        let here = visit { $0.host = "localhost:8080" }
        #expect(local.judge(here) == .pass(.driver))
        var guest = here
        guest.guestAccess = "g1"
        #expect(local.judge(guest) == .pass(.invited(session: nil)))
        // Another site cannot turn the driver's browser into a guest.
        var link = here
        (link.path, link.token, link.fetchSite) = ("/join", "g1", "cross-site")
        #expect(local.judge(link) == .refuse(.foreignOrigin))
        var back = here
        (back.path, back.token) = ("/", "")
        #expect(local.judge(back) == .enter(access: ""))
    }

    @Test("a name that points to this device is not one of its names")
    func rebinding() {
        let ours = [
            "10.0.0.1:8080", "10.0.0.1", "localhost:8080", "LOCALHOST", "127.0.0.1:1", "[::1]:8080", "[::1]",
        ]
        for host in ours {
            #expect(reachable.judge(visit("GET", "/") { $0.host = host }) == .pass(.none), "\(host)")
        }
        let foreign = [
            nil, "", "evil.example", "evil.example:8080", "10.0.0.2", "localhost.evil.example", "[::1", "[::1]x",
            "10.0.0.1:80:80", "10.0.0.1@evil.example", ":8080", "localhost:80a",
        ]
        for host in foreign {
            #expect(reachable.judge(visit("GET", "/") { $0.host = host }) == .refuse(.foreignHost), "\(host ?? "nil")")
        }
        let mapped = visit("GET", "/") { $0.localAddress = "::ffff:10.0.0.1" }
        #expect(reachable.judge(mapped) == .pass(.none))
    }

    @Test("a page of another site can change nothing and read nothing")
    func crossSite() {
        let command = "/api/command"
        func post(_ change: (inout Gate.Visit) -> Void) -> Gate.Verdict {
            local.judge(
                visit("POST", command) {
                    ($0.host, $0.origin) = ("localhost:80", "http://localhost:80")
                    change(&$0)
                })
        }
        #expect(post { _ in } == .pass(.driver))
        #expect(post { $0.fetchSite = "same-origin" } == .pass(.driver))
        for origin in [nil, "", "null", "http://evil.example", "https://localhost:80", "http://localhost:81"] {
            #expect(post { $0.origin = origin } == .refuse(.foreignOrigin), "\(origin ?? "nil")")
        }
        for site in ["cross-site", "same-site", "other"] {
            #expect(post { $0.fetchSite = site } == .refuse(.foreignOrigin))
            #expect(
                local.judge(
                    visit {
                        ($0.host, $0.fetchSite) = ("localhost", site)
                    }) == .refuse(.foreignOrigin))
        }
        for type in [nil, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
            #expect(post { $0.contentType = type } == .refuse(.notJSON))
        }
        #expect(post { $0.contentType = "Application/JSON; charset=utf-8" } == .pass(.driver))
        #expect(post { $0.contentLength = 100_000 } == .refuse(.tooLarge))
        for method in ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"] {
            #expect(local.judge(visit(method, "/") { $0.host = "localhost" }) == .refuse(.otherMethod))
        }
    }
}
