// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Promises to passengers with browsers, which are the same as to all other guests.
extension World {
    /// The person at a browser is shown the result of a wish.
    mutating func told(_ wish: ShownWishes.Entry, _ browser: Int) {
        let (id, name) = (people.browsers[browser].peer.id, people.browsers[browser].name)
        trace(browser: browser, "\(wish.kind) of \(wish.songID): \(wish.state)")
        hash.add([103, browser])
        guard wish.state.isAnswer else { return people.story.waits(id, wish.songID, by: .browser, at: instant) }
        if wish.state == .confirmed { people.figures.confirmed += 1 } else { people.figures.rejected += 1 }
        let snapshot = people.browsers[browser].guest?.feature.state.hostSnapshot
        report(
            people.story.answered(id, wish.songID, wish.kind, wish.state, by: .browser, seeing: snapshot), name)
    }

    /// The node acknowledges before it answers, so the messages of one step are checked together.
    mutating func checkAcknowledgements() {
        for link in people.browserLinks.keys.sorted() {
            guard let numbers = people.browserLinks[link]?.acknowledged, !numbers.isEmpty else { continue }
            for number in numbers { checkAcknowledged(number, on: link) }
            people.browserLinks[link]?.acknowledged = []
            people.browserLinks[link]?.rejected = []
        }
    }

    /// The node acknowledges a message: once, in order, and after it is on the disk.
    private mutating func checkAcknowledged(_ number: UInt64, on link: MeshCore.LinkID) {
        guard let entry = people.browserLinks[link] else { return }
        let browser = people.browsers[entry.browser]
        if number <= entry.lastAcknowledged {
            broken(.deliveredTwice, browser.name, "\(number) is acknowledged after \(entry.lastAcknowledged)")
        }
        people.browserLinks[link]?.lastAcknowledged = number
        guard let said = entry.said[number] else { return }
        let finding = people.story.acknowledged(
            said.intent, of: browser.peer.id, at: said.at, count: said.count,
            isRejected: entry.rejected.contains(said.intent), nodes[0].disk.content.host,
            turns: nodes[0].core?({ $0.app.host?.state.turns }), now: instant)
        report(finding, browser.name)
    }

    /// Only a banned guest may be refused as banned, and there is room for all.
    mutating func checkRefusal(_ reason: RefusalReason, _ browser: Int) {
        switch reason {
        case .banned where people.story.kicked.contains(people.browsers[browser].peer.id), .ended: break
        // The guest also connects and disconnects fast by radio with the same key.
        case .twin where people.story.shared.contains(people.browsers[browser].peer.id): break
        default: broken(.givenUp, people.browsers[browser].name, "it is refused: \(reason)")
        }
    }

    /// A page shows only states that the host has shown, and none older than before.
    mutating func checkState(_ snapshot: HostSnapshot, _ browser: Int) {
        hash.add([104, browser, Int(snapshot.revision)])
        if !people.story.hasShown(snapshot) {
            broken(.wrongState, people.browsers[browser].name, "state \(snapshot.revision)")
        }
    }

    /// A banned guest has no link. A guest with a link on any bearer is present, and no others are.
    mutating func checkBrowserLinks() {
        guard !people.browsers.isEmpty, !nodes[0].isEnding, let core = nodes[0].core, core({ $0.isAtRest }),
            let guests = core({ $0.app.host?.state.connectedPeers })
        else { return }
        let present = Set(guests.map(\.id))
        let linked = Set(people.browserLinks.values.filter { !$0.isOver }.map { people.browsers[$0.browser].peer.id })
        let byRadio = Set(core { $0.mesh.connectedPeers })
        let banned = nodes[0].disk.content.host?.banned ?? []
        for browser in people.browsers {
            let id = browser.peer.id
            if linked.contains(id), banned.contains(id) { broken(.banForgotten, browser.name, "its page is linked") }
            let isLinked = linked.contains(id) || byRadio.contains(id)
            if isLinked != present.contains(id) {
                broken(.outOfOrder, browser.name, "it is \(isLinked ? "" : "not ")linked, and the host shows otherwise")
            }
        }
    }

    /// Describes the data that a browser still lacks. Nil if it lacks nothing.
    func whatIsMissing(_ browser: SimulatedBrowser) -> String? {
        let isLinked = browser.guest?.link.flatMap { people.browserLinks[$0] }?.isOver == false
        if nodes[0].disk.content.host?.banned.contains(browser.peer.id) == true {
            return isLinked ? "\(browser.name) is linked, and was sent away" : nil
        }
        guard isLinked, let guest = browser.guest else { return "\(browser.name) is not linked" }
        if !browser.taps.isEmpty { return "\(browser.name) keeps \(browser.taps)" }
        if !guest.unacknowledged.isEmpty { return "\(browser.name) waits for \(guest.unacknowledged)" }
        if let wish = guest.feature.state.wishes.first { return "\(browser.name) has no answer to \(wish)" }
        let shown = nodes[0].core?({ $0.app.host?.snapshot.still })
        return guest.feature.state.hostSnapshot?.still == shown ? nil : "\(browser.name) lacks the host's state"
    }
}
