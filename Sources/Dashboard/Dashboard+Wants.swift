// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshNode
import MeshProtocol

// What people want.

extension Dashboard {
    /// What is answered to a request that is not followed.
    struct Refusal: Error, Hashable, Sendable {
        var status: Int
        var message: String
        /// For the page: `banned`, `full`.
        var reason: String?
    }

    /// What has become of a search.
    enum SearchAnswer: Hashable, Sendable {
        case songs([PageView.FoundSong])
        case notConnected
        /// Another search has taken its place: the host answers the last one only.
        case overtaken
        case noAnswer
    }

    /// A search that waits for a guest's host.
    struct OpenSearch {
        var words: String
        var waiter: CheckedContinuation<SearchAnswer, Never>
    }

    /// Who asks, by what the gate lets them do; nil for a passenger who has not joined.
    func viewer(_ right: Gate.Right) -> ViewStreams.Viewer? {
        switch right {
        case .driver: .node
        case .invited(let session): session.flatMap { webGuests.guest(session: $0) }.map { .webGuest($0) }
        case .none: nil
        }
    }

    // MARK: Commands

    /// Follows a command.
    func follow(_ request: PageRequest, by viewer: ViewStreams.Viewer, from address: String) throws(Refusal) {
        guard commandRates.allows(viewer.name(address), now: now) else { throw .tooOften }
        guard node.hasRoom else {
            throw Refusal(status: 503, message: "The music box is busy with its disk. Try again in a moment.")
        }
        guard let input = CommandReader(user(viewer)).input(of: request) else { throw .malformed }
        switch (viewer, input) {
        case (.node, _): node.put(input)
        case (.webGuest(let id), .guest(let event)): carryOut(webGuests.want(event, by: id, now: now))
        case (.webGuest(let id), .leave):
            carryOut(webGuests.leave(id, now: now))
            for stream in streams.all(of: viewer) { sinks[stream]?.yield() }
        // A web guest is linked as long as it is heard: there is nothing to retry.
        case (.webGuest, _): break
        }
    }

    /// Whose commands a viewer has.
    func user(_ viewer: ViewStreams.Viewer) -> NodeCommand.User {
        switch viewer {
        case .node: description.role == .host ? .driverPage : .guestPage
        case .webGuest: .passenger
        }
    }

    /// Lets a passenger in. Returns the session for the browser's cookie.
    func join(key: String, name: String, from address: String) throws(Refusal) -> String {
        guard invites else { throw Refusal(status: 403, message: "This host does not invite by browser.") }
        guard joinRates.allows(address, now: now) else { throw .tooOften }
        guard let bytes = Hex.bytes(key), let identity = Identity(stored: bytes) else { throw .malformed }
        let checked: NodeName
        do {
            checked = try NodeName(name)
        } catch {
            throw Refusal(
                status: 400,
                message: "This is no name that fits: use 1 to \(Limits.nameCharacters) letters on one line.",
                reason: "name")
        }
        let session = DashboardTokens.random()
        do {
            let peer = Peer(id: identity.peerID, name: checked.text)
            carryOut(try webGuests.join(peer, session: session, now: now))
        } catch {
            throw Refusal(error)
        }
        return session
    }

    // MARK: Searching

    /// Looks for songs, here or at the host.
    func search(_ words: String, by viewer: ViewStreams.Viewer, from address: String) async throws(Refusal)
        -> SearchAnswer
    {
        guard words.utf8.count <= DashboardLimits.searchBytes else {
            throw Refusal(
                status: 400,
                message: "That is too long to look for. Use at most \(DashboardLimits.searchBytes) letters.")
        }
        guard searchRates.allows(viewer.name(address), now: now) else { throw .tooOften }
        guard words.contains(where: { !$0.isWhitespace }) else { return .songs([]) }
        if let search = options.search { return .songs(found(await search(words, DJLimits.searchResults))) }
        guard description.role == .guest else { return .songs([]) }
        return await askHost(words)
    }

    private func askHost(_ words: String) async -> SearchAnswer {
        guard view.isConnected else { return .notConnected }
        for (number, search) in searches where search.words != words { answer(number, .overtaken) }
        guard searches.count < DashboardLimits.waitingSearches, node.hasRoom else { return .noAnswer }
        searchNumber += 1
        let number = searchNumber
        node.put(.guest(.search(words)))
        let alarm = Task {
            try? await Task.sleep(for: DashboardLimits.searchTime)
            answer(number, .noAnswer)
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { searches[number] = OpenSearch(words: words, waiter: $0) }
    }

    /// The host has found these.
    func found(_ songs: [Song], for words: String) {
        let shown = found(songs)
        for (number, search) in searches where search.words == words { answer(number, .songs(shown)) }
    }

    func answer(_ number: Int, _ answer: SearchAnswer) {
        searches.removeValue(forKey: number)?.waiter.resume(returning: answer)
    }

    private func found(_ songs: [Song]) -> [PageView.FoundSong] {
        view.learn(songs)
        return songs.prefix(DJLimits.searchResults).map { view.found($0) }
    }
}

extension Dashboard.Refusal {
    static let tooOften = Dashboard.Refusal(
        status: 429, message: "That was a lot at once. Wait a moment, then go on.")

    static let malformed = Dashboard.Refusal(
        status: 400, message: "This is no command of this page. Load the page anew.")

    static let notJoined = Dashboard.Refusal(status: 401, message: "Type your name to join.")

    static let tooManyPages = Dashboard.Refusal(
        status: 503, message: "Too many pages of this music box are open. Close one, then try again.")

    init(_ refusal: WebGuests.Refusal) {
        let message =
            switch refusal {
            case .banned: WebGuests.banned
            case .full: "As many guests as this music box has room for are here. Try again when somebody has left."
            }
        self.init(status: 403, message: message, reason: refusal.rawValue)
    }
}

extension ViewStreams.Viewer {
    /// Whose taps are counted together: a web guest's from wherever, the driver's by where they come from.
    fileprivate func name(_ address: String) -> String {
        switch self {
        case .node: "node " + address
        case .webGuest(let id): id
        }
    }
}
