// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// One guest, one host and the transport between them: two ordered pipes that lose their content when the link breaks,
/// and two outboxes that repeat unacknowledged messages. It behaves like the transport, and is small enough to test
/// every order.
struct WishWorld {
    enum Move: String, CaseIterable {
        case vote, takeBack, suggest, hostReceives, guestReceives, linkBreaks, linkIsUp, leaves, otherSuggests,
            driverRemoves, driverAdds, skip, beat, hostRestarts, guestRestarts
    }

    private enum Frame {
        case reliable(Int, MeshMessage)
        case latest(MeshMessage)
        case acknowledged(Int)
    }

    /// One side's state of the conversation, which outlives links.
    private struct End {
        var outbox: [(number: Int, message: MeshMessage)] = []
        var lastNumber = 0
        var received = 0
        var arriving: [Frame] = []

        mutating func put(_ message: MeshMessage) -> Frame {
            lastNumber += 1
            outbox.append((lastNumber, message))
            return .reliable(lastNumber, message)
        }

        mutating func acknowledged(_ number: Int) -> [MeshMessage] {
            defer { outbox.removeAll { $0.number <= number } }
            return outbox.filter { $0.number <= number }.map(\.message)
        }

        var resent: [Frame] { outbox.map { .reliable($0.number, $0.message) } }
    }

    static let song = "s3"

    private(set) var guest = GuestFeature(local: Example.ana)
    private(set) var host = Example.hostFeature()
    /// The last reported state of the vote for the song, with its kind. Nil if that is outdated.
    private(set) var told: (kind: Wish.Kind, state: WishState)?
    /// The person has seen the reported state of the vote on the screen.
    private var isSeen = false
    /// The last wish, as reported to the person. No earlier kind may be sent after it.
    private var lastWished: Wish.Kind?
    /// The host's answer to the guest's last message. Nil if it was followed.
    private var answer: RejectionReason?
    /// An earlier wish was sent after a later one.
    private var sentTooLate: String?
    private var feed = StateFeed(Example.hostFeature().snapshot)
    private var guestEnd = End()
    private var hostEnd = End()
    private var isLinked = false
    private var now = MeshInstant.zero

    mutating func make(_ move: Move) {
        switch move {
        case .vote: wish(.vote(Self.song))
        case .takeBack: wish(.takeBackVote(Self.song))
        case .suggest: wish(.suggest(Self.song))
        case .otherSuggests: drive(Example.intent(.suggestSong(songID: Self.song), from: Example.bob))
        case .hostReceives: hostReceives()
        case .guestReceives: guestReceives()
        case .linkBreaks: breakLink()
        case .linkIsUp: link()
        case .leaves: breakLink(.goodbye)
        case .driverRemoves: drive(.command(.remove(Self.song)))
        case .driverAdds: drive(.command(.add(Self.song)))
        case .skip: drive(.command(.skip))
        case .beat: beat()
        case .hostRestarts: restart()
        case .guestRestarts: restartGuest()
        }
    }

    /// Lets everything arrive, and the host send enough heartbeats.
    mutating func settle() {
        link()
        for _ in 0..<8 {
            while !hostEnd.arriving.isEmpty || !guestEnd.arriving.isEmpty {
                hostReceives()
                guestReceives()
            }
            beat()
        }
    }

    /// A wrong result after everything has arrived. Nil without one.
    var fault: String? {
        if let sentTooLate { return sentTooLate }
        guard guest.state.wishes.isEmpty else { return "a wish has not ended: \(guest.state.wishes)" }
        guard guest.state.hostSnapshot == host.snapshot else { return "the guest shows another state" }
        if let told, let lastWished, told.kind != lastWished { return "told of \(told.kind) after \(lastWished)" }
        guard let told, let item = host.snapshot.item(Self.song) else { return nil }
        let counts = item.voters.contains(guest.local.id)
        switch (told.kind, told.state) {
        case (.vote, .confirmed): return counts ? nil : "confirmed, and the host does not count it"
        case (.vote, .rejected): return counts ? "rejected, and the host counts it" : nil
        case (.takeBack, .rejected(.notVoted)):
            return counts ? "rejected as not voted, and the host counts it" : nil
        case (.takeBack, .confirmed): return counts ? "taken back, and the host counts it" : nil
        case (.suggest, .confirmed):
            return [nil, .alreadyVoted].contains(answer) ? nil : "accepted, and the host said \(answer as Any)"
        case (.suggest, .rejected): return counts ? "rejected, and the host counts it" : nil
        default: return "told as \(told.state) in the end"
        }
    }

    // MARK: The link

    private mutating func link() {
        guard !isLinked else { return }
        isLinked = true
        let safe = guestEnd.acknowledged(hostEnd.received)
        _ = hostEnd.acknowledged(guestEnd.received)
        hostEnd.arriving = guestEnd.resent
        guestEnd.arriving = hostEnd.resent
        drive(.multipeerEvent(.peerConnected(guest.local)))
        share(feed.handle(.guestConnected(guest.local.id)))
        tellGuest(.peerConnected(host.local))
        for message in safe { tellGuest(.messageDelivered(message, to: host.local.id)) }
    }

    private mutating func breakLink(_ reason: DisconnectReason = .linkLost) {
        guard isLinked else { return }
        isLinked = false
        hostEnd.arriving = []
        guestEnd.arriving = []
        _ = feed.handle(.guestGone(guest.local.id))
        drive(.multipeerEvent(.peerDisconnected(guest.local)))
        tellGuest(.peerDisconnected(host.local, reason: reason))
    }

    /// The host loses its power, but nothing that it has acknowledged.
    private mutating func restart() {
        breakLink()
        let saved = host.savedSession(now: now)
        host = HostFeature(
            local: Example.host, library: Example.library, resuming: saved, epoch: host.state.epoch + 1, now: now)
        feed = StateFeed(host.snapshot)
    }

    /// The guest loses its power. Messages that were written before they were sent are still there.
    private mutating func restartGuest() {
        breakLink()
        let undelivered = guestEnd.outbox.compactMap { entry -> GuestIntent? in
            if case .intent(let intent) = entry.message { intent } else { nil }
        }
        guest = GuestFeature(local: Example.ana, resuming: guest.saved, undelivered: undelivered)
    }

    // MARK: Receiving

    private mutating func hostReceives() {
        guard !hostEnd.arriving.isEmpty else { return }
        switch hostEnd.arriving.removeFirst() {
        case .reliable(let number, let message):
            guard number > hostEnd.received else { return }
            hostEnd.received = number
            guestEnd.arriving.append(.acknowledged(number))
            drive(.multipeerEvent(.messageReceived(message, from: guest.local)))
        case .latest(let message): drive(.multipeerEvent(.messageReceived(message, from: guest.local)))
        case .acknowledged(let number): _ = hostEnd.acknowledged(number)
        }
    }

    private mutating func guestReceives() {
        guard !guestEnd.arriving.isEmpty else { return }
        switch guestEnd.arriving.removeFirst() {
        case .reliable(let number, let message):
            guard number > guestEnd.received else { return }
            guestEnd.received = number
            hostEnd.arriving.append(.acknowledged(number))
            tellGuest(.messageReceived(message, from: host.local))
        case .latest(let message):
            tellGuest(.messageReceived(message, from: host.local))
            share(feed.handle(.updateHasLeft(guest.local.id)))
        case .acknowledged(let number):
            for message in guestEnd.acknowledged(number) { tellGuest(.messageDelivered(message, to: host.local.id)) }
        }
    }

    // MARK: Deciding

    private mutating func beat() {
        now = max(now, host.state.nextHeartbeat)
        drive(.tick)
    }

    private mutating func drive(_ event: HostFeature.Event) {
        let wasThere = host.snapshot.item(Self.song) != nil
        for effect in host.handle(event, now: now) {
            switch effect {
            case .broadcast(let snapshot): share(feed.handle(.stateChanged(snapshot)))
            case .send(_, let peer): share(feed.handle(.wholeRequested(peer)))
            case .heartbeat: share(feed.handle(.heartbeat))
            case .reject(let intent, let reason, _):
                let frame = hostEnd.put(.rejection(intent, reason))
                if isLinked { guestEnd.arriving.append(frame) }
            case .report(_, from: let peer, rejected: let reason): if peer.id == guest.local.id { answer = reason }
            case .search, .refuseSearch, .disconnect, .admit, .notice: break
            }
        }
        // A report about a song that has left since was true, and is outdated.
        if wasThere, host.snapshot.item(Self.song) == nil, told?.state.isFinal == true { told = nil }
    }

    private mutating func share(_ actions: [StateFeed.Action]) {
        for case .send(let message, _) in actions { guestEnd.arriving.append(.latest(message)) }
    }

    private var isShown: Bool {
        guest.state.hostSnapshot?.item(Self.song)?.voters.contains(guest.local.id) == true
    }

    private mutating func tellGuest(_ event: MultipeerEvent) {
        carryOut(guest.handle(.multipeerEvent(event)))
    }

    private mutating func wish(_ event: GuestFeature.Event) {
        let effects = guest.handle(event)
        for case .wishChanged(_, let kind, _) in effects { lastWished = kind }
        carryOut(effects)
    }

    private static func intent(_ kind: Wish.Kind) -> GuestIntent {
        switch kind {
        case .vote: .vote(songID: song)
        case .takeBack: .takeBackVote(songID: song)
        case .suggest: .suggestSong(songID: song)
        }
    }

    private mutating func carryOut(_ effects: [GuestFeature.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let intent, _):
                if let lastWished, intent != Self.intent(lastWished) {
                    sentTooLate = sentTooLate ?? "\(intent.kind) was sent after \(lastWished)"
                }
                let frame = guestEnd.put(.intent(intent))
                if isLinked { hostEnd.arriving.append(frame) }
            case .request(let message, _): if isLinked { hostEnd.arriving.append(.latest(message)) }
            case .wishChanged(_, let kind, let state):
                told = (kind, state)
                isSeen = kind == .vote && state == .confirmed && isShown
            // A vote that was seen and is no longer shown has left with its song.
            case .show: if isSeen, !isShown { (told, isSeen) = (nil, false) }
            case .showResults, .reconnect, .returnToStart, .notice: break
            }
        }
    }
}

extension WishState {
    /// Whether no further state follows.
    var isFinal: Bool {
        switch self {
        case .confirmed, .rejected: true
        case .queued, .sent: false
        }
    }
}
