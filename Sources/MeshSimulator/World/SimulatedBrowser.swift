// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

/// A passenger's browser: its page, which keeps taps until the host has them, and its guest in the host's process.
struct SimulatedBrowser {
    /// The key may be that of a guest by radio as well.
    let peer: Peer
    /// What it is called where the world tells what happens.
    let name: String

    // The page.
    /// It is open, and the host's Wi-Fi is in range.
    var isOpen = false
    /// What its person has tapped and the host has not answered, the oldest first.
    private(set) var taps: [GuestFeature.Event] = []
    /// The first of the taps may have reached the host.
    private var isTried = false
    /// The request that it waits for.
    private(set) var request: Int?
    private var lastRequest = 0

    // The host's part, which goes with the host's process.
    var guest: WebGuest?
    /// What its last guest has left behind.
    var stillComing: [Song.ID: Overtaken] = [:]
    /// Requests that wait until the node has what was said with a number.
    var waiting: [Int: UInt64] = [:]

    init(_ peer: Peer, name: String) { (self.peer, self.name) = (peer, name) }

    /// The page keeps a tap. Of a song only the last one counts, and what was never sent need not be taken back.
    mutating func keep(_ tap: GuestFeature.Event) {
        if let place = taps.firstIndex(where: { $0.songID == tap.songID && tap.songID != nil }) {
            let isSent = place == 0 && isTried
            let earlier = taps[place]
            guard earlier != tap else { return }
            if !isSent { taps.remove(at: place) }
            if !isSent, case .takeBackVote = tap, case .vote = earlier { return }
        }
        taps.append(tap)
    }

    /// Sends the next request, with a tap where there is one.
    mutating func ask() -> (number: Int, tap: GuestFeature.Event?) {
        lastRequest += 1
        request = lastRequest
        isTried = !taps.isEmpty
        return (lastRequest, taps.first)
    }

    /// The answer to a request has come, or none will.
    mutating func answered(dropsTap: Bool) {
        request = nil
        if dropsTap, isTried { taps.removeFirst() }
        if dropsTap { isTried = false }
    }

    /// Nobody waits for an answer any more, and what is kept is kept.
    mutating func closes() { (isOpen, request) = (false, nil) }

    /// Its person leaves, and may come again.
    mutating func leaves() {
        if let guest, !guest.unacknowledged.isEmpty { stillComing = guest.feature.stillComing }
        guest = nil
    }

    /// What is kept is not wanted any more.
    mutating func forgetTaps() { (taps, isTried) = ([], false) }
}

/// A link of the host's that ends in its own process, as `LocalLink`: what is said on it takes a while either way.
struct BrowserLink {
    let browser: Int
    /// For the node and for the page's server, in order.
    var toNode: [NodeCore.Event] = []
    var toPage: [LocalLink.Event] = []
    /// What was said on it, by number: when, and how much about the song by then.
    var said: [UInt64: (intent: GuestIntent, at: Duration, count: Int)] = [:]
    var lastAcknowledged: UInt64 = 0
    /// What is acknowledged by what the node says just now.
    var acknowledged: [UInt64] = []
    /// What was rejected on it since the last acknowledgement.
    var rejected: [GuestIntent] = []
    /// The node does not hear it any more, or has not let it in.
    var isOver = false
    var end: LinkEnd?
}

/// What happens between a browser and the host.
enum BrowserEvent {
    case opens
    /// The page is open, and goes on.
    case goesOn
    case taps(GuestFeature.Event)
    /// A request is at the host; without a tap it is for the view.
    case asks(request: Int, GuestFeature.Event?)
    case answered(request: Int, BrowserAnswer)
    /// The host waits no longer for its disk.
    case givesUp(request: Int)
    /// The host counts its guest as gone.
    case isAbsent
    /// What has waited longest on a link arrives at the node, or at the page's server.
    case says(link: MeshCore.LinkID)
    case hears(link: MeshCore.LinkID)

    /// A number for each kind, for a hash.
    var kind: Int {
        switch self {
        case .opens: 0
        case .goesOn: 1
        case .taps: 2
        case .asks: 3
        case .answered: 4
        case .givesUp: 5
        case .isAbsent: 6
        case .says: 7
        case .hears: 8
        }
    }
}

/// What a page's request leads to.
enum BrowserAnswer {
    /// The host has it on its disk.
    case done
    /// The host does not follow it.
    case refused
    /// The host has not stored it yet.
    case later
    /// Nobody answers.
    case lost
    /// The host does not let this browser in.
    case keptOut
}
