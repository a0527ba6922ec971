// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// What a guest must not forget between two runs.
public struct SavedGuest: Hashable, Sendable {
    /// A wish that no snapshot has shown yet.
    public struct Item: Hashable, Sendable {
        /// The song.
        public var songID: Song.ID
        /// What is wanted of it.
        public var kind: Wish.Kind
        /// Whose outbox it was given to, or nil where it waits for a host.
        public var handedTo: Peer.ID?
        /// The host that it is meant for, or nil for the one that is joined next.
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
    /// The wishes, the oldest first.
    public var wishes: [Item]
    /// The last known state.
    public var hostSnapshot: HostSnapshot?

    /// A guest's memory.
    public init(known: GuestFeature.KnownHost?, wishes: [Item], hostSnapshot: HostSnapshot?) {
        self.known = known
        self.wishes = wishes
        self.hostSnapshot = hostSnapshot
    }
}

extension GuestFeature {
    /// What must not be forgotten.
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

    /// A guest that goes on where an earlier run ended. `undelivered` is what its outbox for the known host still has.
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
        // An earlier program kept a suggestion beside a vote for the same song: the later one counts.
        let last = Dictionary(own.map { ($0.songID, $0.kind) }) { $1 }
        state.wishes = own.filter { last[$0.songID] == $0.kind }.map { item in
            var wish = Wish(item.kind, item.songID)
            wish.host = item.meantFor
            wish.undelivered = undelivered.count { wish.isAbout($0) }
            // The outbox may have had no room for it.
            guard item.handedTo != nil, item.handedTo == saved.known?.id else {
                wish.needsDelivery = wish.undelivered > 0
                return wish
            }
            wish.progress = .handedOver
            // What is on view is from before it, and a rejection may be that of an earlier one.
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
