// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// The state that a guest keeps across restarts.
public struct SavedGuest: Hashable, Sendable {
    /// A wish that no snapshot has shown yet.
    public struct Item: Hashable, Sendable {
        /// The song.
        public var songID: Song.ID
        /// What the guest wants for the song.
        public var kind: Wish.Kind
        /// The host for which the wish is in the outbox; nil if the wish waits for a host.
        public var handedTo: Peer.ID?
        /// The host that the wish is for; nil for the next host that the guest joins.
        public var meantFor: Peer.ID?

        /// An item.
        public init(songID: Song.ID, kind: Wish.Kind, handedTo: Peer.ID?, meantFor: Peer.ID? = nil) {
            self.songID = songID
            self.kind = kind
            self.handedTo = handedTo
            self.meantFor = meantFor ?? handedTo
        }
    }

    /// The host that was joined last.
    public var known: GuestFeature.KnownHost?
    /// The wishes, oldest first.
    public var wishes: [Item]
    /// The last known state.
    public var hostSnapshot: HostSnapshot?

    /// Creates the saved state of a guest.
    public init(known: GuestFeature.KnownHost?, wishes: [Item], hostSnapshot: HostSnapshot?) {
        self.known = known
        self.wishes = wishes
        self.hostSnapshot = hostSnapshot
    }
}

extension GuestFeature {
    /// What the guest keeps across restarts.
    public var saved: SavedGuest {
        SavedGuest(
            known: state.known,
            wishes: (state.elsewhere + state.wishes).map {
                SavedGuest.Item(
                    songID: $0.songID, kind: $0.kind, handedTo: $0.progress == .waiting ? nil : $0.host,
                    meantFor: $0.host)
            },
            hostSnapshot: state.hostSnapshot)
    }

    /// Creates a guest that continues an earlier run. `undelivered` holds what its outbox still has for the known host.
    public init(local: Peer, resuming saved: SavedGuest, undelivered: [GuestIntent]) {
        self.init(local: local)
        state.known = saved.known
        state.hostSnapshot = saved.hostSnapshot
        let (others, own) = (
            saved.wishes.filter { $0.meantFor != nil && $0.meantFor != saved.known?.id },
            saved.wishes.filter { $0.meantFor == nil || $0.meantFor == saved.known?.id }
        )
        state.elsewhere = others.map { item in
            var wish = Wish(item.kind, item.songID, progress: item.handedTo == nil ? .waiting : .handedOver)
            wish.host = item.meantFor
            wish.needsDelivery = item.handedTo != nil
            return wish
        }
        // An earlier version kept a suggestion and a vote for the same song. The later one counts.
        let last = Dictionary(own.map { ($0.songID, $0.kind) }) { $1 }
        state.wishes = own.filter { last[$0.songID] == $0.kind }.map { item in
            var wish = Wish(item.kind, item.songID)
            wish.host = item.meantFor
            wish.undelivered = undelivered.count { wish.isAbout($0) }
            // The outbox may have had no room for the wish.
            guard item.handedTo != nil, item.handedTo == saved.known?.id else {
                wish.needsDelivery = wish.undelivered > 0
                return wish
            }
            wish.progress = .handedOver
            // The shown snapshot is older than the wish, and a rejection may belong to an earlier wish.
            wish.needsDelivery =
                wish.undelivered > 1 || saved.hostSnapshot.map { wish.isShown(by: $0, to: local.id) } == true
            return wish
        }
        for intent in undelivered where !state.wishes.contains(where: { $0.isAbout(intent) }) {
            guard let songID = intent.songID, let asks = intent.makesVote else { continue }
            state.overtaken[songID, default: Overtaken()].count += 1
            if asks { state.overtaken[songID]?.asks = true } else { state.overtaken[songID]?.takesBack = true }
        }
        state.connectionStatus = saved.known == nil ? .choosing : .reconnecting
    }
}
