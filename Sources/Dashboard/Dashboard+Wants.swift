// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol
import NodeCore

// Requests of pages.

extension Dashboard {
    /// The answer to a request that fails.
    struct Refusal: Error, Hashable, Sendable {
        var status: Int
        var message: String
        /// The parts of the message for its translation, if it contains values.
        var text: LocalizedText?
        /// A code for the page, such as `banned` or `full`.
        var reason: String?
    }

    /// The body of a browser's request to join.
    struct JoinRequest: Decodable, Sendable {
        var key: String
        var name: String
        /// The host's PIN. A guest that opened a link with a token needs neither a PIN nor an invitation.
        var pin: String?
        var invitation: String?
    }

    /// The result of a search.
    enum SearchAnswer: Hashable, Sendable {
        case found(FoundView)
        case notConnected
        /// A newer search has replaced this search. The host answers only the last search.
        case overtaken
        case noAnswer
    }

    /// The results of a search in the form that the page shows.
    struct FoundView: Encodable, Hashable, Sendable {
        /// An artist or an album.
        struct Group: Encodable, Hashable, Sendable {
            var id: Song.ID
            var name: String
            var artist: String
            var songs: Int
            var art: String?
        }

        var songs: [NodeView.FoundSong] = []
        var groups: [Group] = []
        var artists: [Group] = []
        var albums: [Group] = []
        var total = 0
        var lookedFor: String?
    }

    /// A search that waits for the answer of a guest's host.
    struct OpenSearch {
        var query: SongQuery
        var waiter: CheckedContinuation<SearchAnswer, Never>
    }

    /// A tap of a web guest or of the driver that waits for the node's disk.
    struct OpenTap {
        /// Nil for a tap of the driver.
        var link: MeshCore.LinkID?
        var said: UInt64
        /// Receives nil when the node has stored the tap.
        var waiter: CheckedContinuation<Refusal?, Never>
    }

    /// The viewer that a right belongs to. Nil for a passenger who has not joined.
    func viewer(_ right: Gate.Right) -> ViewStreams.Viewer? {
        switch right {
        case .driver: .node
        case .invited(let session, let only):
            session.flatMap { webGuests.guest(session: $0) }.flatMap { only ?? $0 == $0 ? .webGuest($0) : nil }
        case .none: nil
        }
    }

    // MARK: Commands

    /// Executes a command. Returns when the node has stored the command on its disk.
    func follow(_ request: PageRequest, by viewer: ViewStreams.Viewer, from address: String) async throws(Refusal) {
        guard commandRates.allows(viewer.name(address), now: now) else { throw .tooOften }
        guard feed.hasRoom else { throw .busy }
        guard let input = CommandReader(user(viewer)).input(of: request) else { throw .malformed }
        switch (viewer, input) {
        case (.node, _):
            feed.put(input)
            if let refusal = await isDone() { throw refusal }
        case (.webGuest(let id), .guest(let event)): try await want(event, by: id)
        case (.webGuest(let id), .leave):
            perform(webGuests.leave(id))
            for stream in streams.all(of: viewer) { sinks[stream]?.yield() }
        // A web guest is linked as long as its page is connected, so a retry only dismisses its notices.
        case (.webGuest(let id), _): perform(webGuests.retried(id))
        }
    }

    /// The role of a viewer, which determines the commands that it may send.
    func user(_ viewer: ViewStreams.Viewer) -> NodeCommand.User {
        switch viewer {
        case .node: description.role == .host ? .driverPage : .guestPage
        case .webGuest: .passenger
        }
    }

    private func want(_ event: GuestFeature.Event, by id: Peer.ID) async throws(Refusal) {
        try await link(id)
        guard !webGuests.hasTooMuchWaiting(id) else { throw .busy }
        guard let (tapped, actions) = webGuests.want(event, by: id, now: now), let link = webGuests.link(id)
        else { throw Refusal(.banned) }
        perform(actions)
        switch tapped {
        case .said(_, nil): break
        case .said(_, .some(let number)):
            if let refusal = await isSafe(number, on: link) { throw refusal }
        case .refused(let notice): throw Refusal(notice)
        }
    }

    /// Waits until the node has stored all its earlier input. Returns a refusal if the node could not store it. Returns
    /// nil if the node has stored it or has ended.
    private func isDone() async -> Refusal? {
        await settled(nil, 0) { number in
            // The wait happens outside the feed, because the feed must not wait for the disk.
            feed.put { node in
                Task {
                    _ = await node.answers()
                    await self.settle(number, nil)
                }
            }
        }
    }

    /// Waits until the node has stored a message of a link. Returns a refusal if the node could not store it, else nil.
    private func isSafe(_ said: UInt64, on link: MeshCore.LinkID) async -> Refusal? {
        await settled(link, said)
    }

    /// Waits until the node has stored or refused a new tap, at most `DashboardLimits.tapTime`. It calls `begin` with
    /// the tap's number as soon as it waits.
    private func settled(
        _ link: MeshCore.LinkID?, _ said: UInt64, _ begin: (Int) -> Void = { _ in }
    ) async -> Refusal? {
        lastNumber += 1
        let number = lastNumber
        let alarm = Task {
            try? await pause(DashboardLimits.tapTime)
            settle(number, .noAnswer)
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { waiter in
            taps[number] = OpenTap(link: link, said: said, waiter: waiter)
            begin(number)
        }
    }

    func settle(_ tap: Int, _ refusal: Refusal?) { taps.removeValue(forKey: tap)?.waiter.resume(returning: refusal) }

    // MARK: Web guests

    /// Opens a new link for a guest that has lost its link.
    func link(_ id: Peer.ID) async throws(Refusal) {
        guard let peer = webGuests.unlinked(id) else { return }
        guard webGuests.begins(id) else { throw Refusal(.full) }
        defer { webGuests.hasCome(id) }
        try await link(peer, isNew: false)
    }

    private func link(_ peer: Peer, isNew: Bool, _ claim: JoiningSecret? = nil) async throws(Refusal) {
        let link: LocalLink
        do throws(RefusalReason) {
            link = try await node.join(peer, claiming: claim)
        } catch {
            throw Refusal(error)
        }
        guard isNew || webGuests.viewpoint(peer.id) != nil else {
            // The guest left while the node admitted it.
            await node.leave(link.id, .goodbye())
            throw .notJoined
        }
        perform(webGuests.linked(peer, by: link.id, view.snapshot, now: now))
        Task {
            for await event in link.events { take(event, on: link.id, of: peer.id) }
            // If the reader of a link was too slow, its stream ends without an event.
            take(.ended(.linkLost), on: link.id, of: peer.id)
        }
    }

    private func take(_ event: LocalLink.Event, on link: MeshCore.LinkID, of id: Peer.ID) {
        // Update the view first, so that a page shows the host's new state together with the answer.
        if case .message(.stateUpdate(let state)) = event { show(view.catchUp(with: state, now: now)) }
        perform(webGuests.handle(event, on: link, of: id, now: now))
        // The node has started its next session.
        if case .ended(.goodbye(.ended)) = event { Task { try? await self.link(id) } }
        for (number, tap) in taps where tap.link == link {
            switch event {
            case .acknowledged(tap.said): settle(number, nil)
            case .ended(.refused(let reason)): settle(number, Refusal(reason))
            case .ended: settle(number, .noAnswer)
            case .acknowledged, .message: break
            }
        }
    }

    /// The secret of the PIN or invitation in a request to join. Nil if the request has neither.
    private func claim(_ wanted: JoinRequest) throws(Refusal) -> JoiningSecret? {
        if let text = wanted.invitation {
            guard let invitation = Invitation(text: text), invitation.host == description.peer.id,
                invitation.service == description.service
            else { throw Refusal(.invitation) }
            return invitation.joiningSecret
        }
        guard let digits = wanted.pin else { return nil }
        guard let secret = JoiningSecret(pin: digits) else { throw Refusal(.wrongProof) }
        return secret
    }

    /// The data that a browser stores for its guest.
    struct Joined: Sendable {
        var session: String
        /// An access token for this guest alone, if it joined with the PIN or an invitation.
        var access: String?
    }

    /// Admits a passenger with a page's token, the PIN or an invitation.
    func join(_ wanted: JoinRequest, _ right: Gate.Right, from address: String) async throws(Refusal) -> Joined {
        let (key, name) = (wanted.key, wanted.name)
        guard invites else { throw Refusal(status: 403, message: "Guests cannot join this host with a browser.") }
        guard joinRates.allows(address, now: now) else { throw .tooOften }
        guard let bytes = Hex.bytes(key), let identity = Identity(stored: bytes) else { throw .malformed }
        let checked: NodeName
        do {
            checked = try NodeName(name)
        } catch .identifier {
            throw Refusal(
                status: 400, message: "That name looks like an identifier. Choose another one.", reason: "name")
        } catch {
            throw Refusal(
                status: 400,
                message: "That name cannot be used. Use 1 to \(Limits.nameCharacters) letters on one line.",
                reason: "name")
        }
        let session = DashboardTokens.random()
        let peer = Peer(id: identity.peerID, name: checked.text)
        // An access token that is bound to a key admits only that key.
        let isInvited = if case .invited(_, let only) = right { only ?? peer.id == peer.id } else { false }
        let claim = try isInvited ? nil : self.claim(wanted)
        guard isInvited || claim != nil else { throw options.pin == nil ? .noToken : .noPIN }
        if webGuests.link(peer.id) == nil || claim != nil {
            guard webGuests.begins(peer.id, from: address) else { throw Refusal(.full) }
            defer { webGuests.hasCome(peer.id) }
            try await admit(peer, claim)
        }
        perform(webGuests.joined(peer, session: session, from: address))
        return Joined(session: session, access: isInvited ? nil : options.tokens.access(of: peer.id))
    }

    /// Opens a link for a new guest. If the host is full, an absent guest loses its slot, but only after the node has
    /// verified the claim.
    private func admit(_ peer: Peer, _ claim: JoiningSecret?) async throws(Refusal) {
        if claim != nil {
            do throws(Refusal) {
                return try await link(peer, isNew: true, claim)
            } catch  where error.reason != "full" {
                throw error
            } catch {
                // `full` means that the claim is valid: the node verifies the claim first.
            }
        }
        for case .leave(let link, let end) in webGuests.makeRoom(for: peer.id) { await node.leave(link, end) }
        try await link(peer, isNew: true, claim)
    }

    // MARK: Searching

    /// Searches for songs, on this node or at the host.
    func search(_ query: SongQuery, by viewer: ViewStreams.Viewer, from address: String) async throws(Refusal)
        -> SearchAnswer
    {
        guard query.words.utf8.count <= DashboardLimits.searchBytes else {
            throw Refusal(
                status: 400,
                message: "That is too long to search for. Use at most \(DashboardLimits.searchBytes) letters.")
        }
        guard searchRates.allows(viewer.name(address), now: now) else { throw .tooOften }
        guard query.shelf != .words || query.words.contains(where: { !$0.isWhitespace }) else {
            return .found(FoundView())
        }
        if let search = options.search { return .found(shown(await search(query))) }
        guard description.role == .guest else { return .found(FoundView()) }
        return await askHost(query)
    }

    private func askHost(_ query: SongQuery) async -> SearchAnswer {
        guard view.isConnected else { return .notConnected }
        for (number, search) in searches where search.query != query { answer(number, .overtaken) }
        guard searches.count < DashboardLimits.waitingSearches, feed.hasRoom else { return .noAnswer }
        lastNumber += 1
        let number = lastNumber
        feed.put(.guest(.search(query)))
        let alarm = Task {
            try? await Task.sleep(for: DashboardLimits.searchTime)
            answer(number, .noAnswer)
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { searches[number] = OpenSearch(query: query, waiter: $0) }
    }

    /// Delivers the host's answer to a search.
    func found(_ found: FoundSongs, for query: SongQuery) {
        let page = shown(found)
        for (number, search) in searches where search.query == query { answer(number, .found(page)) }
    }

    func answer(_ number: Int, _ answer: SearchAnswer) {
        searches.removeValue(forKey: number)?.waiter.resume(returning: answer)
    }

    private func shown(_ found: FoundSongs) -> FoundView {
        view.learn(found.songs)
        func shown(_ groups: [SongGroup]) -> [FoundView.Group] {
            groups.prefix(DJLimits.searchResults).map { group in
                FoundView.Group(
                    id: group.id, name: UntrustedText.shown(group.name), artist: UntrustedText.shown(group.artist),
                    songs: group.songs, art: view.art(group.id))
            }
        }
        return FoundView(
            songs: found.songs.prefix(DJLimits.searchResults).map { view.found($0) }, groups: shown(found.groups),
            artists: shown(found.artists), albums: shown(found.albums),
            total: found.total, lookedFor: found.lookedFor.map { UntrustedText.shown($0) })
    }
}

extension Dashboard.Refusal {
    /// A refusal with the text of a notice.
    init(_ notice: Notice) {
        self.init(
            status: 409, message: notice.message, text: notice.texts?.message.mapTexts(UntrustedText.shown),
            reason: notice.code)
    }

    static let tooOften = Dashboard.Refusal(
        status: 429, message: "Too many taps at once. Wait a moment, then try again.")

    static let malformed = Dashboard.Refusal(
        status: 400, message: "This page is out of date. Load it again.")

    static let nothingHere = Dashboard.Refusal(status: 404, message: "There is nothing at this address.")

    static let noToken = Dashboard.Refusal(
        status: 401, message: Gate.Refusal.noToken.sentence, reason: Gate.Refusal.noToken.reason)

    static let noPIN = Dashboard.Refusal(
        status: 401, message: Gate.Refusal.noPIN.sentence, reason: Gate.Refusal.noPIN.reason)

    static let notJoined = Dashboard.Refusal(status: 401, message: "Type your name to join.")

    static let tooManyPages = Dashboard.Refusal(
        status: 503, message: "Too many of these pages are open. Close one, then try again.")

    static let busy = Dashboard.Refusal(
        status: 503, message: "The host is busy with its disk. Try again in a moment.")

    static let noAnswer = Dashboard.Refusal(
        status: 504, message: "The host has not stored it yet. Try again in a moment.")

    init(_ reason: RefusalReason) {
        switch reason {
        case .banned: self.init(status: 403, message: WebGuests.banned, reason: "banned")
        case .full:
            self.init(
                status: 403,
                message: "The host has no room for another guest. Try again when a guest has left.",
                reason: "full")
        case .wrongProof:
            self.init(
                status: 403, message: "That is not the PIN. Read the six digits on the host's screen again.",
                reason: "pin")
        case .tooManyGuesses:
            self.init(
                status: 429,
                message: "The PIN was guessed wrong too often. Wait a few minutes, then try again.", reason: "pin")
        case .invitation:
            self.init(
                status: 403,
                message: "This invitation was used already or has expired. Ask the driver for another one.",
                reason: "invitation")
        default: self.init(status: 503, message: "The host is stopping. Try again when it is back.")
        }
    }
}

extension ViewStreams.Viewer {
    /// The key of a viewer's rate limit: the web guest, or the address of a driver's page.
    fileprivate func name(_ address: String) -> String {
        switch self {
        case .node: "node " + address
        case .webGuest(let id): id
        }
    }
}
