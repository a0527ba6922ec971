// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

/// Decides everything about a guest's view and votes: an event goes in, effects come out.
public struct GuestFeature: Sendable {
    /// What happens to a guest.
    public enum Event: Hashable, Sendable {
        /// The network says something.
        case multipeer(MultipeerEvent)
        /// The person votes.
        case vote(Song.ID)
        /// The person suggests a song.
        case suggest(Song.ID)
    }

    /// What is to be done.
    public enum Effect: Hashable, Sendable {
        /// Send a wish to the host.
        case send(GuestIntent, to: Peer.ID)
        /// Show where a vote has got to.
        case voteChanged(songID: Song.ID, VoteState)
        /// Show the host's state.
        case show(HostSnapshot)
        /// Tell the person something.
        case notice(Notice)
    }

    /// Where a vote has got to.
    public enum VoteState: Hashable, Sendable {
        /// It waits for a link to the host.
        case queued
        /// It is on its way.
        case sent
        /// A snapshot shows it.
        case confirmed
        /// The host does not count it.
        case rejected(RejectionReason)
    }

    private struct PendingVote: Hashable, Sendable {
        var songID: Song.ID
        var isSent: Bool
        /// The host was asked again on this link, since the song has left the queue.
        var isAskedAgain = false
    }

    /// Who votes.
    public let local: Peer
    /// The host that this guest is linked to.
    public private(set) var host: Peer?
    /// The host's last known state; it stays on view through a gap.
    public private(set) var snapshot: HostSnapshot?

    private var pending: [PendingVote] = []

    /// A guest without a host.
    public init(local: Peer) {
        self.local = local
    }

    /// The votes that no snapshot has shown yet, oldest first.
    public var pendingVotes: [Song.ID] { pending.map(\.songID) }

    /// Whether the snapshot on view may be out of date.
    public var isStale: Bool { host == nil }

    /// Takes an event.
    public mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        case .multipeer(let event): handle(event)
        case .vote(let songID): vote(songID)
        case .suggest(let songID):
            if let host { [.send(.suggestSong(songID: songID), to: host.id)] } else { [.notice(.notConnected)] }
        }
    }

    private mutating func vote(_ songID: Song.ID) -> [Effect] {
        if pending.contains(where: { $0.songID == songID }) { return [] }
        if shows(songID) { return [.voteChanged(songID: songID, .confirmed)] }
        guard pending.count < DJLimits.pendingVotes else { return [.notice(.tooManyPendingVotes)] }
        pending.append(PendingVote(songID: songID, isSent: host != nil))
        let queued = Effect.voteChanged(songID: songID, .queued)
        guard let host else { return [queued] }
        return [queued, .send(.vote(songID: songID), to: host.id), .voteChanged(songID: songID, .sent)]
    }

    private mutating func handle(_ event: MultipeerEvent) -> [Effect] {
        switch event {
        case .peerConnected(let peer):
            host = peer
            return sendPending(to: peer)
        case .peerDisconnected(let peer, reason: _):
            guard host?.id == peer.id else { return [] }
            host = nil
            return markQueued()
        case .messageReceived(let message, from: let peer):
            return host?.id == peer.id ? handle(message) : []
        case .sendFailed(.intent(.vote(let songID)), to: _):
            guard let index = pending.firstIndex(where: { $0.songID == songID }) else { return [] }
            pending[index].isSent = false
            return [.voteChanged(songID: songID, .queued)]
        case .sendFailed, .peerDiscovered, .peerLost, .networkUnavailable, .sessionInvalidated: return []
        }
    }

    private mutating func handle(_ message: MeshMessage) -> [Effect] {
        switch message {
        case .stateUpdate(let update): return show(update)
        case .rejection(.vote(let songID), let reason):
            guard let index = pending.firstIndex(where: { $0.songID == songID }) else { return [] }
            pending.remove(at: index)
            return [.voteChanged(songID: songID, .rejected(reason))]
        case .rejection(.suggestSong(let songID), let reason): return [.notice(.cannotAdd(songID, reason))]
        // A guest's own kind of message, sent by a host, means nothing here.
        case .intent: return []
        }
    }

    /// A pending vote is cleared by a snapshot that shows it, never by just any snapshot.
    private mutating func show(_ update: HostSnapshot) -> [Effect] {
        if let snapshot, !update.supersedes(snapshot) { return [] }
        snapshot = update
        let confirmed = pending.filter { shows($0.songID) }
        pending.removeAll { confirmed.contains($0) }
        var effects: [Effect] = [.show(update)]
        effects += confirmed.map { .voteChanged(songID: $0.songID, .confirmed) }
        // A song that has left the queue can show no vote any more: the host is asked, and its answer is final.
        guard let host else { return effects }
        for index in pending.indices where pending[index].isSent && !pending[index].isAskedAgain {
            let songID = pending[index].songID
            guard !update.queue.contains(where: { $0.id == songID }) else { continue }
            pending[index].isAskedAgain = true
            effects.append(.send(.vote(songID: songID), to: host.id))
        }
        return effects
    }

    private func shows(_ songID: Song.ID) -> Bool {
        snapshot?.queue.contains { $0.id == songID && $0.voters.contains(local.id) } ?? false
    }

    private mutating func sendPending(to host: Peer) -> [Effect] {
        // Another host's epochs have nothing to do with the last one's.
        snapshot = nil
        return pending.indices.flatMap { index -> [Effect] in
            pending[index].isSent = true
            pending[index].isAskedAgain = false
            let songID = pending[index].songID
            return [.send(.vote(songID: songID), to: host.id), .voteChanged(songID: songID, .sent)]
        }
    }

    private mutating func markQueued() -> [Effect] {
        pending.indices.filter { pending[$0].isSent }.map { index in
            pending[index].isSent = false
            return .voteChanged(songID: pending[index].songID, .queued)
        }
    }
}
