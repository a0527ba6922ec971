// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

/// Builds the view of a node from its events. Each event returns how soon the view must be shown again.
package struct NodeWatch: Sendable {
    /// How soon a change must be shown.
    package enum Change: Int, Comparable, Sendable {
        /// Nothing on view has changed.
        case none
        /// The change can wait.
        case soon
        /// A person waits for the change.
        case now

        package static func < (one: Change, other: Change) -> Bool { one.rawValue < other.rawValue }
    }

    /// Facts that the node's events do not contain.
    package struct Surroundings: Sendable {
        /// Whether guests can vote to skip; nil if only the host knows.
        var majoritySkip: Bool?
        /// Whether songs may have covers although no event has named a file.
        var hasPictures = false
        /// The address of a song's cover; nil if covers are not shown.
        package var pictureAddress: (@Sendable (Song.ID) -> String)?
        package var invitation: NodeView.Invitation?

        /// Creates surroundings. By default nothing else is known.
        package init(
            majoritySkip: Bool? = nil, hasPictures: Bool = false,
            pictureAddress: (@Sendable (Song.ID) -> String)? = nil
        ) {
            self.majoritySkip = majoritySkip
            self.hasPictures = hasPictures
            self.pictureAddress = pictureAddress
        }
    }

    /// State that the server of a node's page knows and no event contains.
    package struct PageState: Sendable {
        var surroundings: Surroundings
        var library: LibraryCount?
        var webGuests: Set<Peer.ID>

        package init(_ surroundings: Surroundings, library: LibraryCount?, webGuests: Set<Peer.ID>) {
            (self.surroundings, self.library, self.webGuests) = (surroundings, library, webGuests)
        }
    }

    /// How long the present song had played at a given time.
    package struct Progress: Sendable {
        var elapsed: Double
        var at: MeshInstant
    }

    package let node: NodeDescription
    package var surroundings: Surroundings
    /// The viewpoint of the person at the node.
    package private(set) var own: Viewpoint
    package private(set) var names = KnownNames()
    package private(set) var snapshot: HostSnapshot?
    package private(set) var isStale = false
    package private(set) var progress = Progress(elapsed: 0, at: .zero)
    /// Whether the person at this host wants music, with or without an output for the sound.
    private var isWanted = false
    /// The host has said goodbye, so for this guest nothing plays there any more.
    private var hasHostLeft = false
    package private(set) var host: Peer?
    /// The time since which the host is lost.
    package private(set) var lostAt: MeshInstant?
    private var inRange = HostsInRange()
    /// The hosts that this guest has joined.
    package private(set) var knownHosts = KnownHosts()
    package private(set) var links: [Peer.ID: LinkReport] = [:]
    package private(set) var library: LibraryCount?
    /// The steps that the driver can take; nil if unknown.
    package private(set) var steering: Steering?
    /// The peers that are banned from the host.
    package private(set) var bans: [ShownBan] = []
    /// The host's valid invitations, oldest first.
    package private(set) var invitations: [OpenInvitation] = []
    /// Why the node has stopped.
    package private(set) var bye: ByeReason?
    private var pictures = RecentTable<Song.ID, String>(limit: NodeLimits.rememberedPictures)

    /// Creates the watch of a node that has not reported anything yet.
    package init(_ node: NodeDescription, _ surroundings: Surroundings = Surroundings()) {
        self.node = node
        self.surroundings = surroundings
        let isHost = node.role == .host
        own = Viewpoint(isHost ? .host : .guest, me: node.peer, connection: isHost ? .hosting : .connecting)
        names.learn(node.peer)
    }

    /// The file of a song's cover, as reported by the node.
    package func picture(_ songID: Song.ID) -> String? { pictures[songID] }

    /// The hosts in range.
    package var hosts: [NodeView.HeardHost] { inRange.hosts }

    /// Whether the node has a host that it can ask.
    package var isConnected: Bool { own.connection == .connected || own.connection == .hosting }

    /// The host that a guest waits for because its person has named it. Nil when a host was joined.
    package var wantedHost: String? {
        isConnected || host != nil ? nil : node.wantedHost.map { UntrustedText.shown($0) }
    }

    // MARK: Events

    /// Applies an event.
    package mutating func handle(_ event: NodeEvent, now: MeshInstant) -> Change {
        switch event {
        case .peerDiscovered(let node): return inRange.heard(node)
        case .peerLost(let peer, let relay):
            inRange.lost(peer.id, via: relay)
            return .now
        case .peerConnected(let peer): return connected(peer)
        case .peerDisconnected(let peer, let reason):
            links[peer.id] = nil
            if reason == .goodbye, peer.id == host?.id { hostHasLeft(now: now) }
            return .now
        case .connection(let state): return take(state, now: now)
        case .snapshot(let snapshot, let isStale): return take(snapshot, isStale: isStale, now: now)
        case .wish(let songID, let kind, let state):
            own.wishes.take(songID, kind, state, now: now)
            return .now
        case .artwork(let songID, let path):
            pictures[songID] = path
            return .now
        case .playback(let playback): return take(playback, now: now)
        case .steering(let steering):
            self.steering = steering
            return .now
        case .notice(let notice):
            own.notices.tell(notice, now: now)
            if notice.code == RejectionReason.skippingNotAllowed.rawValue { own.mayNotSkip = true }
            return .now
        case .noticeCleared(let code): return own.notices.clear(code) ? .now : .none
        case .link(let peer, let report):
            names.learn(peer)
            links[peer.id] = report
            return .soon
        case .linkEnded(let peer): return links.removeValue(forKey: peer.id) == nil ? .none : .soon
        case .searchResults(let found, _):
            names.learn(found.songs)
            return .none
        case .intent(_, let peer, _):
            names.learn(peer)
            return .none
        case .bye(let reason):
            bye = reason
            return end(Self.sentence(reason, own.role))
        case .hosts(let hosts, _):
            knownHosts = KnownHosts(hosts.filter(\.known).map(\.peer).reversed())
            return .now
        case .bans(let bans, _):
            self.bans = bans
            return .now
        case .invitations(let open):
            invitations = open
            return .now
        // The host's state contains the co-hosts that are linked.
        case .ready, .invitation, .library, .page, .contact, .radio, .broker, .mark, .pinGuessed, .drivers:
            return .none
        }
    }

    /// Applies the progress of reading the library.
    package mutating func take(_ count: LibraryCount) -> Change {
        guard count != library else { return .none }
        defer { library = count }
        return library == nil || count.scanned == nil ? .now : .soon
    }

    /// Remembers the titles of found songs.
    package mutating func learn(_ songs: [Song]) { names.learn(songs) }

    /// Handles the end of the events without a `bye`: the system has stopped the node.
    package mutating func end() -> Change { end(Self.sentence(.terminated, own.role)) }

    private mutating func end(_ sentence: String) -> Change {
        guard own.ended == nil else { return .none }
        own.ended = sentence
        return .now
    }

    /// Applies the passing of time.
    package mutating func tick(now: MeshInstant) -> Change { own.tick(now: now) ? .now : .none }

    /// The view that the page shows to the person at the node.
    package mutating func view(_ state: PageState, version: Int, now: MeshInstant) -> NodeView {
        surroundings = state.surroundings
        if let library = state.library { _ = take(library) }
        _ = tick(now: now)
        return page(for: own, webGuests: state.webGuests, version: version, now: now)
    }

    private mutating func connected(_ peer: Peer) -> Change {
        names.learn(peer)
        if own.role == .guest {
            hasHostLeft = false
            if host?.id != peer.id { own.mayNotSkip = false }
            host = peer
        }
        return .now
    }

    private mutating func take(_ state: ConnectionState, now: MeshInstant) -> Change {
        if state == .connected { lostAt = nil } else if own.connection == .connected { lostAt = now }
        own.connection = NodeView.Connection(rawValue: state.name) ?? .failed
        if case .reconnecting(let attempt) = state { own.attempt = attempt } else { own.attempt = 0 }
        // After a reconnect, the state is stale until the host has sent a new one.
        if state != .connected { isStale = snapshot != nil }
        return .now
    }

    /// Applies a state that a guest's link has delivered, if it is newer than the one on view.
    package mutating func catchUp(with state: HostSnapshot, now: MeshInstant) -> Change {
        snapshot.map { state.supersedes($0) } == false ? .none : take(state, isStale: false, now: now)
    }

    private mutating func take(_ new: HostSnapshot, isStale: Bool, now: MeshInstant) -> Change {
        guard new != snapshot || isStale != self.isStale else { return .none }
        for peer in new.connectedPeers { names.learn(peer) }
        names.learn(new.items.map(\.song))
        self.isStale = isStale
        snapshot = new
        progress = Progress(elapsed: new.elapsed, at: now)
        return .now
    }

    private mutating func take(_ playback: Playback, now: MeshInstant) -> Change {
        let before = isToPlay
        isWanted = playback.isPlaying
        guard let snapshot, snapshot.nowPlaying?.id == playback.song?.id else { return .none }
        let elapsed = playback.elapsed / .seconds(1)
        let isExpected = abs(elapsed - self.elapsed(now)) < 1
        progress = Progress(elapsed: elapsed, at: now)
        // The page advances the time itself.
        let isKnown = snapshot.isPlaying == (playback.isPlaying && playback.hasSound) && before == isToPlay
        return isExpected && isKnown ? .none : .now
    }

    private mutating func hostHasLeft(now: MeshInstant) {
        progress = Progress(elapsed: elapsed(now), at: now)
        hasHostLeft = true
    }

    /// Whether the present song plays, as far as this node knows. The host continues to play during a gap.
    package var isPlaying: Bool { snapshot?.isPlaying == true && !hasHostLeft }

    /// Whether the present song plays, or would play with an output for the sound.
    package var isToPlay: Bool { isPlaying || isWanted && snapshot?.hasSound == false }

    /// How long the present song has played, in seconds.
    package func elapsed(_ now: MeshInstant) -> Double {
        guard let item = snapshot?.nowPlaying else { return 0 }
        let since = isPlaying ? (now - progress.at) / .seconds(1) : 0
        return min(progress.elapsed + since, max(item.duration, 0))
    }

    static func sentence(_ reason: ByeReason, _ role: NodeView.Role) -> String {
        switch (reason, role) {
        case (_, .guest): "This guest is off. Its votes are saved."
        case (_, .host), (_, .webGuest): "The host is off. The queue is saved."
        }
    }
}
