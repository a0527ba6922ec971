// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol

// Creates the view for a viewer.

extension NodeWatch {
    /// The current view, with the first `songs` of the queue. `webGuests` are the guests that are linked by a browser.
    package func page(
        for viewpoint: Viewpoint, webGuests: Set<Peer.ID>, version: Int, songs: Int = .max, now: MeshInstant
    ) -> NodeView {
        let items = Items(self, viewpoint)
        let shown = guests(for: viewpoint)
        let isOwn = viewpoint.role != .webGuest, isDriver = viewpoint.role == .host
        let ended = viewpoint.ended ?? bye.map { Self.sentence($0, viewpoint.role) } ?? own.ended
        return NodeView(
            version: version, role: viewpoint.role, me: Self.person(viewpoint.me),
            host: (isOwn ? host : node.peer).map(Self.person),
            radio: node.radio.hasPrefix("virtual") ? "virtual" : "bluez", connection: viewpoint.connection,
            attempt: viewpoint.attempt, isStale: isStale, nowPlaying: snapshot?.nowPlaying.map(items.item),
            isPlaying: isToPlay, sound: snapshot?.hasSound, elapsed: elapsed(now),
            queue: (snapshot?.queue ?? []).prefix(songs).map(items.item), wishes: otherWishes(viewpoint),
            guests: guests(shown, webGuests, viewpoint),
            moreGuests: max(0, (snapshot?.guestCount ?? 0) - shown.count),
            hosts: viewpoint.role == .guest && !isConnected ? markedHosts : [],
            wanted: viewpoint.role == .guest ? wantedHost : nil,
            knownHosts: viewpoint.role == .guest && !isConnected ? knownHosts.hosts.reversed().map(Self.person) : [],
            skip: skip(viewpoint),
            undo: isDriver ? steering.flatMap(Self.undo) : nil,
            steers: isDriver || snapshot?.drivers.contains(viewpoint.me.id) == true,
            canGoBack: isDriver ? steering?.canGoBack : nil, volume: isDriver ? steering?.volume : nil,
            shuffle: isDriver ? steering?.shuffles : nil,
            notices: viewpoint.notices.current, invitation: isOwn ? invitation : nil,
            bans: isOwn ? outcasts : [], library: isOwn ? library : nil, ended: ended)
    }

    /// The guests that the state names, and the viewer. In a crowd the state names only some.
    private func guests(for viewpoint: Viewpoint) -> [Peer] {
        let named = snapshot?.connectedPeers ?? []
        guard let snapshot, snapshot.unnamedGuests > 0, viewpoint.role != .host,
            !named.contains(where: { $0.id == viewpoint.me.id })
        else { return named }
        return named + [viewpoint.me]
    }

    /// The view of the person at the node.
    package func view(songs: Int = .max, now: MeshInstant) -> NodeView {
        page(for: own, webGuests: [], version: 0, songs: songs, now: now)
    }

    /// A found song in the form of the page.
    package func found(_ song: Song) -> NodeView.FoundSong {
        NodeView.FoundSong(
            id: song.id, title: UntrustedText.shown(song.title), artist: UntrustedText.shown(song.artist),
            duration: song.duration, art: art(song.id))
    }

    /// The address of a song's cover; nil without a cover.
    package func art(_ songID: Song.ID) -> String? {
        surroundings.hasPictures || picture(songID) != nil ? surroundings.pictureAddress?(songID) : nil
    }

    private var markedHosts: [NodeView.HeardHost] {
        hosts.map { host in
            var host = host
            host.known = knownHosts.contains(host.id)
            host.other = knownHosts.host(copiedBy: Peer(id: host.id, name: host.name)) != nil
            return host
        }
    }

    private var outcasts: [NodeView.Outcast] {
        bans.map { ban in
            NodeView.Outcast(
                id: ban.peer.id, name: names.name(ban.peer.id) ?? UntrustedText.shown(ban.peer.name), until: ban.until,
                session: ban.session)
        }
    }

    private static func undo(_ steering: Steering) -> NodeView.Undo? {
        steering.undo.map { NodeView.Undo($0, step: steering.steps) }
    }

    /// How other guests can join this host.
    private var invitation: NodeView.Invitation? {
        guard var invitation = surroundings.invitation else { return nil }
        invitation.open = invitations.reversed().map { open in
            NodeView.Invitation.Given(
                text: open.text, url: open.url, until: open.until, once: open.once,
                qr: "/invitations/\(open.pictureName)")
        }
        return invitation
    }

    private static func person(_ peer: Peer) -> NodeView.Person {
        NodeView.Person(id: peer.id, name: UntrustedText.shown(peer.name))
    }

    private func guests(
        _ peers: [Peer], _ webGuests: Set<Peer.ID>, _ viewpoint: Viewpoint
    ) -> [NodeView.Guest] {
        let tree =
            node.role == .host
            ? GuestTree(peers, hostLinks: links)
            : GuestTree(peers, me: node.peer.id, host: host?.id, links: links)
        return tree.order.map { peer in
            let (place, isMe) = (tree.place(of: peer.id), peer.id == viewpoint.me.id)
            let link = link(of: peer.id)
            return NodeView.Guest(
                id: peer.id, name: UntrustedText.shown(peer.name), rssi: link?.rssi,
                // Rounded to what a person reads: a difference of a tenth of a millisecond is not a change.
                roundTrip: link?.roundTrip.map { ($0 / .milliseconds(1)).rounded() },
                bearer: link?.bearer, isWeb: webGuests.contains(peer.id), isMe: isMe,
                isDriver: snapshot?.drivers.contains(peer.id) == true, hops: place.hops,
                via: place.via.map { relay in
                    NodeView.Person(
                        id: relay,
                        name: peers.first { $0.id == relay }.map { UntrustedText.shown($0.name) } ?? names.name(relay))
                }, carries: place.carries)
        }
    }

    /// The link to a guest. At a guest's node, its own link is the one to the host. Behind a relay the signal is that
    /// of the relay.
    private func link(of id: Peer.ID) -> LinkReport? {
        guard node.role == .guest, id == node.peer.id else { return links[id] }
        guard var own = host.flatMap({ links[$0.id] }) else { return nil }
        if let relay = own.via { own.rssi = own.rssi ?? links[relay]?.rssi }
        return own
    }

    private func skip(_ viewpoint: Viewpoint) -> NodeView.Skip {
        let voters = snapshot?.skipVoters ?? [], present = snapshot?.guestCount ?? 0
        return NodeView.Skip(
            allowed: surroundings.majoritySkip ?? !viewpoint.mayNotSkip, votes: voters.count,
            needed: present / 2 + 1, mine: voters.contains(viewpoint.me.id))
    }

    private func otherWishes(_ viewpoint: Viewpoint) -> [NodeView.OtherWish] {
        viewpoint.wishes.entries.filter { snapshot?.item($0.songID) == nil }.map { entry in
            let mark = mark(entry)
            return NodeView.OtherWish(
                songID: entry.songID, title: names.title(entry.songID), kind: mark.kind, state: mark.state,
                reason: mark.reason, sentence: mark.sentence, sentenceText: mark.sentenceText)
        }
    }

    fileprivate func mark(_ entry: ShownWishes.Entry) -> NodeView.WishMark {
        var reason: RejectionReason?
        if case .rejected(let why) = entry.state { reason = why }
        let text = entry.kind.text(entry.state, title: names.quoted(entry.songID))
        return NodeView.WishMark(
            kind: entry.kind, state: entry.state.name, reason: reason, sentence: text.english, sentenceText: text)
    }

    /// Creates the queue's songs for a viewer.
    private struct Items {
        let view: NodeWatch
        let me: Peer.ID
        /// The newest wish about each song.
        let wishes: [Song.ID: ShownWishes.Entry]

        init(_ view: NodeWatch, _ viewpoint: Viewpoint) {
            self.view = view
            me = viewpoint.me.id
            wishes = Dictionary(viewpoint.wishes.entries.map { ($0.songID, $0) }) { _, newer in newer }
        }

        func item(_ item: QueueItem) -> NodeView.Item {
            NodeView.Item(
                id: item.id, title: UntrustedText.shown(item.title), artist: UntrustedText.shown(item.artist),
                duration: item.duration, art: view.art(item.id), addedBy: item.addedBy,
                addedByName: view.names.name(item.addedBy), votes: item.votes,
                voters: item.voters.map { NodeView.Person(id: $0, name: view.names.name($0)) },
                mine: item.voters.contains(me), pinned: item.isPinned, wish: wishes[item.id].map(view.mark))
        }
    }
}
