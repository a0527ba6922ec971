// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// Passengers with browsers: their pages, and the work of the host's process for them, as in `Dashboard`. Their guests
/// are the product's own `WebGuest`, and the node treats their links as in the product.
extension World {
    /// How long a tap waits until the node has it on its disk, and the maximum number of waiting taps of a guest, as in
    /// `DashboardLimits`.
    private static let tapTime: Duration = .seconds(5)
    private static let waitingTaps = 64

    mutating func handle(_ event: BrowserEvent, _ browser: Int) {
        switch event {
        case .opens:
            browsers[browser].isOpen = true
            goesOn(browser)
        case .goesOn: goesOn(browser)
        case .taps(let tap): taps(tap, browser)
        case .asks(let request, let tap): asks(request, tap, browser)
        case .answered(let request, let answer): answered(request, answer, browser)
        case .givesUp(let request):
            if browsers[browser].waiting.removeValue(forKey: request) != nil { reply(.later, request, browser) }
        case .isAbsent: isAbsent(browser)
        case .says(let link): nodeHears(link)
        case .hears(let link): pageHears(link)
        }
    }

    private mutating func schedule(_ event: BrowserEvent, _ browser: Int, _ milliseconds: ClosedRange<Int>) {
        schedule(.browser(browser, event), after: random.time(milliseconds))
    }

    func trace(browser: Int, _ text: @autoclosure () -> String) { trace("\(browsers[browser].name): \(text())") }

    // MARK: People

    /// The person at a page makes a wish, or a program makes many at once.
    mutating func actsAtAPage() {
        let browser = random.below(browsers.count)
        guard !random.chance(5) else {
            trace(browser: browser, "floods the host")
            for _ in 0..<80 {
                let tap = anyTap()
                story.wished(browsers[browser].peer.id, tap.songID, by: .browser, at: now)
                schedule(.asks(request: 0, tap), browser, 0...300)
            }
            return
        }
        for _ in 0..<random.pick(1...scenario.burst) {
            schedule(.taps(anyTap()), browser, random.chance(50) ? 0...0 : 0...2_000)
        }
    }

    private mutating func anyTap() -> GuestFeature.Event {
        while true {
            if case .guest(let event) = anyWish(), event.isWish { return event }
        }
    }

    private mutating func taps(_ tap: GuestFeature.Event, _ browser: Int) {
        trace(browser: browser, "taps \(tap)")
        story.wished(browsers[browser].peer.id, tap.songID, by: .browser, at: now)
        if tap.songID != nil { figures.wishes += 1 }
        browsers[browser].keep(tap)
        goesOn(browser)
    }

    // MARK: The page

    /// Asks for the view or posts the oldest kept tap, one request after another.
    private mutating func goesOn(_ browser: Int) {
        guard browsers[browser].isOpen, browsers[browser].request == nil else { return }
        let (request, tap) = browsers[browser].ask()
        schedule(.asks(request: request, tap), browser, 1...40)
    }

    private mutating func reply(_ answer: BrowserAnswer, _ request: Int, _ browser: Int) {
        schedule(.answered(request: request, answer), browser, answer == .lost ? 10...1_500 : 1...40)
    }

    private mutating func answered(_ request: Int, _ answer: BrowserAnswer, _ browser: Int) {
        guard browsers[browser].request == request else { return }
        trace(browser: browser, "is answered: \(answer)")
        browsers[browser].answered(dropsTap: answer == .done || answer == .refused)
        switch answer {
        case .done, .refused: if !browsers[browser].taps.isEmpty { goesOn(browser) }
        case .later: schedule(.goesOn, browser, 1_000...1_000)
        case .lost: schedule(.goesOn, browser, 300...1_500)
        case .keptOut: browsers[browser].forgetTaps()
        }
    }

    /// One of four faults. The page is closed during a request, or moves out of the Wi-Fi's range: no answer arrives,
    /// and the host notices it late. The page's person leaves. The host's process falls behind with the events on the
    /// link.
    mutating func pageFault() {
        guard let browser = browsers.indices.randomElement(using: &random) else { return }
        switch random.below(4) {
        case 0:
            trace(browser: browser, "leaves")
            if let link = browsers[browser].guest?.link { leave(link, .goodbye()) }
            story.spoken.leaves(browsers[browser].peer.id)
            browsers[browser].leaves()
            browsers[browser].forgetTaps()
            browsers[browser].closes()
        case 1:
            guard let link = browsers[browser].guest?.link else { return }
            trace(browser: browser, "has fallen behind")
            tell(.ended(.linkLost), on: link)
            return feed(.left(link, .linkLost), 0)
        default:
            trace(browser: browser, "is out of reach")
            browsers[browser].closes()
            schedule(.isAbsent, browser, 500...8_000)
        }
        schedule(.opens, browser, 100...5_000)
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
        guard let guest = browsers[browser].guest, guest.unacknowledged.count < Self.waitingTaps else {
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
            browsers[browser].waiting[request] = number
            schedule(.browser(browser, .givesUp(request: request)), after: Self.tapTime)
        }
    }

    /// Gives a link to a guest without one. Returns why the node does not admit it, or nil if it has a link.
    private mutating func link(_ browser: Int) -> RefusalReason? {
        guard browsers[browser].guest?.link == nil else { return nil }
        let peer = browsers[browser].peer
        guard let (link, refusal) = nodes[0].core?.loop.join(peer, now: localTime(of: 0)) else { return nil }
        browserLinks[link] = BrowserLink(browser: browser)
        perform(0)
        goOn(0)
        if let refusal {
            browserLinks[link] = nil
            checkRefusal(refusal, browser)
            return refusal
        }
        figures.visits += 1
        trace(browser: browser, "is let in by link \(link)")
        if browsers[browser].guest.map({ $0.viewpoint.ended != nil }) != false {
            browsers[browser].guest = WebGuest(
                browsers[browser].peer, host: Peer(id: nodes[0].peer, name: nodes[0].name),
                behind: browsers[browser].stillComing)
            browsers[browser].stillComing = [:]
        }
        let (snapshot, time) = (nodes[0].screen.snapshot, localTime(of: 0))
        change(browser) { $0.connect(link, snapshot, now: time) }
        return nil
    }

    /// Ends a guest's link.
    private mutating func leave(_ link: MeshCore.LinkID, _ end: LinkEnd) {
        guard let browser = browserLinks[link]?.browser else { return }
        browserLinks[link]?.toNode.append(.left(link, end))
        schedule(.says(link: link), browser, 0...3)
    }

    private mutating func isAbsent(_ browser: Int) {
        guard !browsers[browser].isOpen, let guest = browsers[browser].guest, let link = guest.link,
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
        guard var guest = browsers[browser].guest else { return }
        let before = guest.viewpoint.wishes.entries
        let said = body(&guest)
        browsers[browser].guest = guest
        for wish in guest.viewpoint.wishes.entries where !before.contains(wish) { told(wish, browser) }
        story.settle(isAtRest: true)
        guard let link = guest.link else { return }
        for one in said {
            browserLinks[link]?.toNode.append(.said(one.message, number: one.number, on: link))
            schedule(.says(link: link), browser, 0...3)
        }
    }

    /// The node gets the oldest event of a link.
    private mutating func nodeHears(_ link: MeshCore.LinkID) {
        guard let entry = browserLinks[link], nodes[0].core != nil, !nodes[0].isEnding, !entry.toNode.isEmpty else {
            return
        }
        guard nodes[0].core?({ $0.hasRoom }) == true else { return schedule(.says(link: link), entry.browser, 5...5) }
        let event = entry.toNode[0]
        browserLinks[link]?.toNode.removeFirst()
        switch event {
        case .said(.intent(let intent), let number, _) where !entry.isOver:
            trace(browser: entry.browser, "\(intent) is at the node as \(number)")
            let count = story.said(intent, by: browsers[entry.browser].peer.id)
            browserLinks[link]?.said[number] = (intent, now, count)
        case .left: browserLinks[link]?.isOver = true
        default: break
        }
        feed(event, 0)
    }

    /// The node reports an event on a link, as `Node.tell` does.
    mutating func tell(_ event: LocalLink.Event, on link: MeshCore.LinkID) {
        guard let browser = browserLinks[link]?.browser else { return }
        switch event {
        case .acknowledged(let number): browserLinks[link]?.acknowledged.append(number)
        case .message(.rejection(let intent, _)): browserLinks[link]?.rejected.append(intent)
        case .ended(let end):
            browserLinks[link]?.isOver = true
            browserLinks[link]?.end = end
        case .message: break
        }
        browserLinks[link]?.toPage.append(event)
        schedule(.hears(link: link), browser, 0...5)
    }

    /// The page's server gets the oldest event of a link.
    private mutating func pageHears(_ link: MeshCore.LinkID) {
        guard let entry = browserLinks[link], !entry.toPage.isEmpty, nodes[0].core != nil else { return }
        browserLinks[link]?.toPage.removeFirst()
        let (browser, time) = (entry.browser, localTime(of: 0))
        guard browsers[browser].guest?.link == link else { return }
        switch entry.toPage[0] {
        case .message(let message):
            if case .stateUpdate(let snapshot) = message { checkState(snapshot, browser) }
            change(browser) { $0.hear(message, now: time) }
        case .acknowledged(let number):
            change(browser) { $0.acknowledged(number, now: time) }
            for request in browsers[browser].waiting.filter({ $0.value == number }).keys.sorted() {
                browsers[browser].waiting[request] = nil
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
        for request in browsers[browser].waiting.keys.sorted() {
            reply(isKeptOut ? .keptOut : .later, request, browser)
        }
        browsers[browser].waiting = [:]
        if !isKeptOut { schedule(.goesOn, browser, 0...500) }
    }

    /// The host's process has ended, and has lost its state about browsers.
    mutating func browsersLoseHost() {
        browserLinks = [:]
        for browser in browsers.indices {
            browsers[browser].guest = nil
            browsers[browser].stillComing = [:]
            browsers[browser].waiting = [:]
            if let request = browsers[browser].request { reply(.lost, request, browser) }
            schedule(.goesOn, browser, 300...1_500)
        }
    }
}
