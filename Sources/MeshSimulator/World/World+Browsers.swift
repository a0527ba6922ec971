// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Passengers with browsers: their pages, and the work of the host's process for them, as in `Dashboard`. Their guests
/// are the product's own `WebGuest`, and the node treats their links as in the product.
extension World {
    /// How long a tap waits until the node has it on its disk, and the maximum number of waiting taps of a guest, as in
    /// `DashboardLimits`.
    private static let tapTime = 5_000...5_000
    private static let waitingTaps = 64

    mutating func opens(_ browser: Int) {
        people.browsers[browser].isOpen = true
        goesOn(browser)
    }

    func trace(browser: Int, _ text: @autoclosure () -> String) { trace("\(people.browsers[browser].name): \(text())") }

    // MARK: People

    /// The person at a page makes a wish, or a program makes many at once.
    mutating func actsAtAPage() {
        let browser = random.below(people.browsers.count)
        guard !random.chance(5) else {
            trace(browser: browser, "floods the host")
            for _ in 0..<80 {
                let tap = anyTap()
                people.story.wished(people.browsers[browser].peer.id, tap.songID, by: .browser, at: instant)
                later(0...300) { $0.asks(0, tap, browser) }
            }
            return
        }
        for _ in 0..<random.pick(1...scenario.burst) {
            let tap = anyTap()
            later(random.chance(50) ? 0...0 : 0...2_000) { $0.taps(tap, browser) }
        }
    }

    private mutating func anyTap() -> GuestFeature.Event {
        while true {
            if case .guest(let event) = anyWish(), event.isWish { return event }
        }
    }

    private mutating func taps(_ tap: GuestFeature.Event, _ browser: Int) {
        trace(browser: browser, "taps \(tap)")
        people.story.wished(people.browsers[browser].peer.id, tap.songID, by: .browser, at: instant)
        if tap.songID != nil { people.figures.wishes += 1 }
        people.browsers[browser].keep(tap)
        goesOn(browser)
    }

    // MARK: The page

    /// Asks for the view or posts the oldest kept tap, one request after another.
    private mutating func goesOn(_ browser: Int) {
        guard people.browsers[browser].isOpen, people.browsers[browser].request == nil else { return }
        let (request, tap) = people.browsers[browser].ask()
        later(1...40) { $0.asks(request, tap, browser) }
    }

    private mutating func reply(_ answer: BrowserAnswer, _ request: Int, _ browser: Int) {
        later(answer == .lost ? 10...1_500 : 1...40) { $0.answered(request, answer, browser) }
    }

    private mutating func answered(_ request: Int, _ answer: BrowserAnswer, _ browser: Int) {
        guard people.browsers[browser].request == request else { return }
        trace(browser: browser, "is answered: \(answer)")
        people.browsers[browser].answered(dropsTap: answer == .done || answer == .refused)
        switch answer {
        case .done, .refused: if !people.browsers[browser].taps.isEmpty { goesOn(browser) }
        case .later: later(1_000...1_000) { $0.goesOn(browser) }
        case .lost: later(300...1_500) { $0.goesOn(browser) }
        case .keptOut: people.browsers[browser].forgetTaps()
        }
    }

    /// One of four faults. The page is closed during a request, or moves out of the Wi-Fi's range: no answer arrives,
    /// and the host notices it late. The page's person leaves. The host's process falls behind with the events on the
    /// link.
    mutating func pageFault() {
        guard let browser = people.browsers.indices.randomElement(using: &random) else { return }
        switch random.below(4) {
        case 0:
            trace(browser: browser, "leaves")
            if let link = people.browsers[browser].guest?.link { leave(link, .goodbye()) }
            people.story.spoken.leaves(people.browsers[browser].peer.id)
            people.browsers[browser].leaves()
            people.browsers[browser].forgetTaps()
            people.browsers[browser].closes()
        case 1:
            guard let link = people.browsers[browser].guest?.link else { return }
            trace(browser: browser, "has fallen behind")
            tell(.ended(.linkLost), on: link)
            return feed(.left(link, .linkLost), 0)
        default:
            trace(browser: browser, "is out of reach")
            people.browsers[browser].closes()
            later(500...8_000) { $0.isAbsent(browser) }
        }
        later(100...5_000) { $0.opens(browser) }
    }

    // MARK: The host's process

    /// A request has reached the host.
    private mutating func asks(_ request: Int, _ tap: GuestFeature.Event?, _ browser: Int) {
        guard nodes[0].core != nil, !nodes[0].isEnding else { return reply(.lost, request, browser) }
        switch link(browser) {
        case nil: break
        case .banned: return reply(.keptOut, request, browser)
        case .some: return reply(.later, request, browser)
        }
        guard let tap else { return reply(.done, request, browser) }
        guard let guest = people.browsers[browser].guest, guest.unacknowledged.count < Self.waitingTaps else {
            return reply(.later, request, browser)
        }
        var tapped = WebGuest.Tapped.said([], until: nil)
        let time = localTime(of: 0)
        change(browser) { guest in
            tapped = guest.want(tap, now: time)
            return if case .said(let said, _) = tapped { said } else { [] }
        }
        switch tapped {
        case .refused: reply(.refused, request, browser)
        case .said(_, nil): reply(.done, request, browser)
        case .said(_, .some(let number)):
            people.browsers[browser].waiting[request] = number
            later(Self.tapTime) { world in
                guard world.people.browsers[browser].waiting.removeValue(forKey: request) != nil else { return }
                world.reply(.later, request, browser)
            }
        }
    }

    /// Gives a link to a guest without one. Returns why the node does not admit it, or nil if it has a link.
    private mutating func link(_ browser: Int) -> RefusalReason? {
        guard people.browsers[browser].guest?.link == nil else { return nil }
        let peer = people.browsers[browser].peer
        guard let (link, refusal) = nodes[0].core?.loop.join(peer, now: localTime(of: 0)) else { return nil }
        people.browserLinks[link] = BrowserLink(browser: browser)
        perform(0)
        finish(0)
        if let refusal {
            people.browserLinks[link] = nil
            checkRefusal(refusal, browser)
            return refusal
        }
        people.figures.visits += 1
        trace(browser: browser, "is let in by link \(link)")
        if people.browsers[browser].guest.map({ $0.viewpoint.ended != nil }) != false {
            people.browsers[browser].guest = WebGuest(
                people.browsers[browser].peer, host: Peer(id: nodes[0].peer, name: nodes[0].name),
                behind: people.browsers[browser].stillComing)
            people.browsers[browser].stillComing = [:]
        }
        let (snapshot, time) = (people.screens[0].snapshot, localTime(of: 0))
        change(browser) { $0.connect(link, snapshot, now: time) }
        return nil
    }

    /// Ends a guest's link.
    private mutating func leave(_ link: MeshCore.LinkID, _ end: LinkEnd) {
        guard people.browserLinks[link] != nil else { return }
        people.browserLinks[link]?.toNode.append(.left(link, end))
        later(0...3) { $0.nodeHears(link) }
    }

    private mutating func isAbsent(_ browser: Int) {
        guard !people.browsers[browser].isOpen, let guest = people.browsers[browser].guest, let link = guest.link,
            guest.unacknowledged.isEmpty
        else { return }
        trace(browser: browser, "counts as gone")
        leave(link, .linkLost)
        let time = localTime(of: 0)
        change(browser) { guest in
            guest.disconnect(now: time)
            return []
        }
    }

    /// Changes a guest, sends its messages, and checks the results that its person sees.
    private mutating func change(_ browser: Int, _ body: (inout WebGuest) -> [WebGuest.Said]) {
        guard var guest = people.browsers[browser].guest else { return }
        let before = guest.viewpoint.wishes.entries
        let said = body(&guest)
        people.browsers[browser].guest = guest
        for wish in guest.viewpoint.wishes.entries where !before.contains(wish) { told(wish, browser) }
        people.story.settle(isAtRest: true)
        guard let link = guest.link else { return }
        for one in said {
            people.browserLinks[link]?.toNode.append(.said(one.message, number: one.number, on: link))
            later(0...3) { $0.nodeHears(link) }
        }
    }

    /// The node gets the oldest event of a link.
    private mutating func nodeHears(_ link: MeshCore.LinkID) {
        guard let entry = people.browserLinks[link], nodes[0].core != nil, !nodes[0].isEnding, !entry.toNode.isEmpty
        else {
            return
        }
        guard nodes[0].core?({ $0.hasRoom }) == true else { return later(5...5) { $0.nodeHears(link) } }
        let event = entry.toNode[0]
        people.browserLinks[link]?.toNode.removeFirst()
        switch event {
        case .said(.intent(let intent), let number, _) where !entry.isOver:
            trace(browser: entry.browser, "\(intent) is at the node as \(number)")
            let said = (intent, instant, people.story.said(intent, by: people.browsers[entry.browser].peer.id))
            people.browserLinks[link]?.said[number] = said
        case .left: people.browserLinks[link]?.isOver = true
        default: break
        }
        feed(event, 0)
    }

    /// The node reports an event on a link, as `Node.tell` does.
    mutating func tell(_ event: LocalLink.Event, on link: MeshCore.LinkID) {
        guard people.browserLinks[link] != nil else { return }
        switch event {
        case .acknowledged(let number): people.browserLinks[link]?.acknowledged.append(number)
        case .message(.rejection(let intent, _)): people.browserLinks[link]?.rejected.append(intent)
        case .ended(let end):
            people.browserLinks[link]?.isOver = true
            people.browserLinks[link]?.end = end
        case .message: break
        }
        people.browserLinks[link]?.toPage.append(event)
        later(0...5) { $0.pageHears(link) }
    }

    /// The page's server gets the oldest event of a link.
    private mutating func pageHears(_ link: MeshCore.LinkID) {
        guard let entry = people.browserLinks[link], !entry.toPage.isEmpty, nodes[0].core != nil else { return }
        people.browserLinks[link]?.toPage.removeFirst()
        let (browser, time) = (entry.browser, localTime(of: 0))
        guard people.browsers[browser].guest?.link == link else { return }
        switch entry.toPage[0] {
        case .message(let message):
            if case .stateUpdate(let snapshot) = message { checkState(snapshot, browser) }
            change(browser) { $0.hear(message, now: time) }
        case .acknowledged(let number):
            change(browser) { $0.acknowledged(number, now: time) }
            for request in people.browsers[browser].waiting.filter({ $0.value == number }).keys.sorted() {
                people.browsers[browser].waiting[request] = nil
                reply(.done, request, browser)
            }
        case .ended(let end): ended(end, browser)
        }
    }

    private mutating func ended(_ end: LinkEnd, _ browser: Int) {
        trace(browser: browser, "has lost its link: \(end)")
        let time = localTime(of: 0)
        let isKeptOut = end == .refused(.banned)
        if isKeptOut { checkRefusal(.banned, browser) }
        change(browser) { guest in
            if isKeptOut { guest.end("", now: time) } else { guest.disconnect(now: time) }
            return []
        }
        for request in people.browsers[browser].waiting.keys.sorted() {
            reply(isKeptOut ? .keptOut : .later, request, browser)
        }
        people.browsers[browser].waiting = [:]
        if !isKeptOut { later(0...500) { $0.goesOn(browser) } }
    }

    /// The host's process has ended, and has lost its state about browsers.
    mutating func browsersLoseHost() {
        people.browserLinks = [:]
        for browser in people.browsers.indices {
            people.browsers[browser].guest = nil
            people.browsers[browser].stillComing = [:]
            people.browsers[browser].waiting = [:]
            if let request = people.browsers[browser].request { reply(.lost, request, browser) }
            later(300...1_500) { $0.goesOn(browser) }
        }
    }
}
