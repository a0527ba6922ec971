// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import BLETransport

@Suite("Closing of unused links")
struct UnusedLinksTests {
    private var links = UnusedLinks()

    @Test("a device that opens no channel loses its link after half a minute, and a guest keeps its link")
    mutating func empty() throws {
        links.linked("guest", now: .seconds(1))
        links.opened("guest")
        links.linked("idler", now: .seconds(2))
        #expect(links.deadline == .seconds(32))
        #expect(links.due(now: .seconds(31)).isEmpty)
        let gone = try #require(links.due(now: .seconds(32)).first)
        #expect(gone == (address: "idler", wasUsed: false))
        #expect(links.deadline == nil)
    }

    @Test("devices that only connect do not fill a controller: beyond three, the oldest are closed after seconds")
    mutating func crowd() {
        let began = MeshInstant.seconds(10)
        for number in 0..<40 { links.linked("idler\(number)", now: began + .milliseconds(number)) }
        let due = began + RadioLimits.firstChannel
        #expect(links.due(now: due - .milliseconds(1)).isEmpty)
        let gone = (0..<40).flatMap { links.due(now: due + .milliseconds($0)).map(\.address) }
        #expect(gone == (0..<37).map { "idler\($0)" })
        #expect(links.deadline == began + .milliseconds(37) + RadioLimits.emptyLink)
    }

    @Test("before a dial that needs their room, unused links are closed at once; used and new links stay")
    mutating func vacated() {
        links.linked("idler", now: .zero)
        links.linked("newcomer", now: .seconds(1))
        links.opened("guest")
        links.opened("former")
        links.closed("former", now: .seconds(1))
        links.opened("parent")
        links.closed("parent", now: .seconds(1))
        let gone = links.vacate(now: RadioLimits.firstChannel) { $0 != "parent" }
        #expect(gone.map(\.address) == ["former", "idler"] && gone.map(\.wasUsed) == [true, false])
        #expect(links.due(now: .seconds(60)).map(\.address) == ["newcomer", "parent"])
    }

    @Test("guests that all link at once keep their links, even if they open their channels a little later")
    mutating func bus() {
        for number in 0..<8 { links.linked("guest\(number)", now: .seconds(10) + .milliseconds(30 * number)) }
        for number in 0..<8 {
            let now = MeshInstant.seconds(11) + .milliseconds(400 * number)
            #expect(links.due(now: now).isEmpty)
            links.opened("guest\(number)")
        }
        #expect(links.deadline == nil)
    }

    @Test("a link that could not be closed is closed later, unless it is used again")
    mutating func kept() {
        links.linked("idler", now: .seconds(1))
        #expect(links.due(now: .seconds(31)).count == 1 && !links.knows("idler"))
        links.kept("idler", wasUsed: false, now: .seconds(31))
        #expect(links.knows("idler"))
        #expect(links.due(now: .seconds(31) + RadioLimits.unusedLink).map(\.wasUsed) == [false])
        links.opened("guest")
        links.kept("guest", wasUsed: true, now: .seconds(40))
        #expect(links.deadline == nil)
    }

    @Test("a guest that closes its last channel keeps the link for a short time, in which it may return")
    mutating func used() {
        links.opened("guest")
        links.opened("guest")
        links.closed("guest", now: .seconds(1))
        #expect(links.deadline == nil)
        links.closed("guest", now: .seconds(2))
        #expect(links.deadline == .seconds(2) + RadioLimits.unusedLink)
        links.opened("guest")
        #expect(links.deadline == nil)
        links.closed("guest", now: .seconds(3))
        #expect(links.due(now: .seconds(3) + RadioLimits.unusedLink).map(\.wasUsed) == [true])
    }

    @Test("a broken link is forgotten, with or without a channel on it")
    mutating func broken() {
        links.linked("idler", now: .seconds(1))
        links.unlinked("idler")
        // The channel's end is reported after its link's.
        links.opened("guest")
        links.unlinked("guest")
        links.closed("guest", now: .seconds(2))
        links.unlinked("guest")
        #expect(links.deadline == nil)
    }
}
