// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// A passenger's browser: its page, which keeps taps until the host has them, and its guest in the host's process.
struct SimulatedBrowser {
    /// The peer of the guest. A guest by radio may have the same key.
    let peer: Peer
    /// The name of the browser in the log.
    let name: String

    // The page.
    /// The page is open, and the host's Wi-Fi is in range.
    var isOpen = false
    /// Taps that the host has not answered, the oldest first.
    private(set) var taps: [GuestFeature.Event] = []
    /// The first of the taps may have reached the host.
    private var isTried = false
    /// The number of the request that has no answer yet.
    private(set) var request: Int?
    private var lastRequest = 0

    // The host's part, which ends with the host's process.
    var guest: WebGuest?
    /// Messages of its last guest that may still arrive.
    var stillComing: [Song.ID: Overtaken] = [:]
    /// Requests that wait until the node has stored a message: the number of the message by the number of the request.
    var waiting: [Int: UInt64] = [:]

    init(_ peer: Peer, name: String) { (self.peer, self.name) = (peer, name) }

    /// The page keeps a tap. Only the last tap for a song counts, and a tap that was never sent need not be taken back.
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

    /// Sends the next request, with a tap if there is one.
    mutating func ask() -> (number: Int, tap: GuestFeature.Event?) {
        lastRequest += 1
        request = lastRequest
        isTried = !taps.isEmpty
        return (lastRequest, taps.first)
    }

    /// A request has its answer, or will get none.
    mutating func answered(dropsTap: Bool) {
        request = nil
        if dropsTap, isTried { taps.removeFirst() }
        if dropsTap { isTried = false }
    }

    /// The page closes. It stops waiting for an answer, and keeps its taps.
    mutating func closes() { (isOpen, request) = (false, nil) }

    /// The browser's person leaves, and may come back.
    mutating func leaves() {
        if let guest, !guest.unacknowledged.isEmpty { stillComing = guest.feature.stillComing }
        guest = nil
    }

    /// Forgets the kept taps.
    mutating func forgetTaps() { (taps, isTried) = ([], false) }
}

/// A link with both ends in the host's process, like `LocalLink`. Messages take some time in both directions.
struct BrowserLink {
    let browser: Int
    /// Events for the node and for the page's server, in order.
    var toNode: [NodeCore.Event] = []
    var toPage: [LocalLink.Event] = []
    /// Messages on the link, by number. `at` is the time of a message. `count` is the number of messages about its song
    /// until then.
    var said: [UInt64: (intent: GuestIntent, at: Duration, count: Int)] = [:]
    var lastAcknowledged: UInt64 = 0
    /// Messages that the node has acknowledged in the current step.
    var acknowledged: [UInt64] = []
    /// Intents that were rejected since the last acknowledgement.
    var rejected: [GuestIntent] = []
    /// The node no longer reads the link, or has not admitted it.
    var isOver = false
    var end: LinkEnd?
}

/// The answer to a page's request.
enum BrowserAnswer {
    /// The host has stored the tap.
    case done
    /// The host rejects the tap.
    case refused
    /// The host has not stored it yet.
    case later
    /// There is no answer.
    case lost
    /// The host does not admit this browser.
    case keptOut
}
