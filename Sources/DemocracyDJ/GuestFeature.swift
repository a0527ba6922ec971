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
        /// Give a wish for the host to the transport, which keeps it until the host has it, across links.
        case send(GuestIntent, to: Peer.ID)
        /// Ask the host for its whole state (`MeshMessage.stateRequest`), on this link only.
        case requestState(from: Peer.ID)
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
        /// It is on its way over a link.
        case sent
        /// A snapshot shows it.
        case confirmed
        /// The host does not count it.
        case rejected(RejectionReason)
    }

    private struct PendingVote: Hashable, Sendable {
        enum Progress {
            /// No host is known yet, or the transport had no room: it waits here for the next link.
            case waiting
            /// The transport keeps it until there is a link.
            case handedOver
            /// The transport has it, and there is a link.
            case sent
        }

        var songID: Song.ID
        var progress: Progress
        /// The host was asked again since the song has left the queue.
        var isAskedAgain = false
    }

    private struct KnownHost: Hashable, Sendable {
        var id: Peer.ID
        /// The run of the host that its last state told of; nil before the first.
        var epoch: UInt32?
    }

    /// Who votes.
    public let local: Peer
    /// The host that this guest is linked to.
    public private(set) var host: Peer?
    /// The host's last known state; it stays on view through a gap.
    public private(set) var snapshot: HostSnapshot?

    /// The host that was joined last: the transport keeps what is for it while it is out of reach.
    private var known: KnownHost?
    private var isWaitingForWhole = false
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
        // What no host can have is not worth the way to it.
        case .vote(let songID) where !DJLimits.isSongID(songID):
            [.voteChanged(songID: songID, .rejected(.unknownSong))]
        case .suggest(let songID) where !DJLimits.isSongID(songID): [.notice(.cannotAdd(songID, .unknownSong))]
        case .vote(let songID): vote(songID)
        case .suggest(let songID):
            if let host { [.send(.suggestSong(songID: songID), to: host.id)] } else { [.notice(.notConnected)] }
        }
    }

    private mutating func vote(_ songID: Song.ID) -> [Effect] {
        if pending.contains(where: { $0.songID == songID }) { return [] }
        if shows(songID) { return [.voteChanged(songID: songID, .confirmed)] }
        guard pending.count < DJLimits.pendingVotes else { return [.notice(.tooManyPendingVotes)] }
        var effects: [Effect] = [.voteChanged(songID: songID, .queued)]
        if let known { effects.append(.send(.vote(songID: songID), to: known.id)) }
        if host != nil { effects.append(.voteChanged(songID: songID, .sent)) }
        let progress: PendingVote.Progress = host != nil ? .sent : known != nil ? .handedOver : .waiting
        pending.append(PendingVote(songID: songID, progress: progress))
        return effects
    }

    private mutating func handle(_ event: MultipeerEvent) -> [Effect] {
        switch event {
        case .peerConnected(let peer): return connected(to: peer)
        case .peerDisconnected(let peer, reason: _):
            guard host?.id == peer.id else { return [] }
            host = nil
            return markQueued()
        case .messageReceived(let message, from: let peer):
            return host?.id == peer.id ? handle(message) : []
        case .sendFailed(.intent(.vote(let songID)), to: let peer):
            guard known?.id == peer.id, let index = pending.firstIndex(where: { $0.songID == songID }) else {
                return []
            }
            let wasSent = pending[index].progress == .sent
            pending[index].progress = .waiting
            return wasSent ? [.voteChanged(songID: songID, .queued)] : []
        case .sendFailed, .peerDiscovered, .peerLost, .networkUnavailable, .sessionInvalidated: return []
        }
    }

    private mutating func handle(_ message: MeshMessage) -> [Effect] {
        switch message {
        case .stateUpdate(let update):
            isWaitingForWhole = false
            return show(update)
        case .stateChange(let change): return take(change)
        case .rejection(.vote(let songID), let reason):
            guard let index = pending.firstIndex(where: { $0.songID == songID }) else { return [] }
            pending.remove(at: index)
            return [.voteChanged(songID: songID, .rejected(reason))]
        case .rejection(.suggestSong(let songID), let reason): return [.notice(.cannotAdd(songID, reason))]
        // A guest's own kinds of message, sent by a host, mean nothing here.
        case .intent, .stateRequest: return []
        }
    }

    /// A change makes the next state of the one it builds on. Whoever has another asks for the whole, once.
    private mutating func take(_ change: HostChange) -> [Effect] {
        guard !isWaitingForWhole, let host else { return [] }
        if let snapshot {
            if let next = snapshot.applying(change) { return show(next) }
            // An old one that comes late tells nothing new.
            if (change.epoch, change.revision) <= (snapshot.epoch, snapshot.revision) { return [] }
        }
        isWaitingForWhole = true
        return [.requestState(from: host.id)]
    }

    /// A pending vote is cleared by a snapshot that shows it, never by just any snapshot.
    private mutating func show(_ update: HostSnapshot) -> [Effect] {
        if let snapshot, !update.supersedes(snapshot) { return [] }
        snapshot = update
        let confirmed = pending.filter { shows($0.songID) }
        pending.removeAll { confirmed.contains($0) }
        let isNewRun = known?.epoch != nil && known?.epoch != update.epoch
        known?.epoch = update.epoch
        return [.show(update)] + confirmed.map { .voteChanged(songID: $0.songID, .confirmed) }
            + askAgain(update, isNewRun: isNewRun)
    }

    /// A host that was started anew may have forgotten what it had received. A song that has left the queue can show no
    /// vote any more, so that the host's answer is needed. In both cases votes that are on their way are sent once more.
    private mutating func askAgain(_ update: HostSnapshot, isNewRun: Bool) -> [Effect] {
        guard let host else { return [] }
        return pending.indices.compactMap { index in
            let vote = pending[index]
            let isGone = !update.queue.contains { $0.id == vote.songID }
            guard vote.progress == .sent, isNewRun || (isGone && !vote.isAskedAgain) else { return nil }
            pending[index].isAskedAgain = isGone
            return .send(.vote(songID: vote.songID), to: host.id)
        }
    }

    private func shows(_ songID: Song.ID) -> Bool {
        snapshot?.queue.contains { $0.id == songID && $0.voters.contains(local.id) } ?? false
    }

    private mutating func connected(to peer: Peer) -> [Effect] {
        if known?.id != peer.id {
            // What the transport has for another host does not reach this one.
            known = KnownHost(id: peer.id)
            for index in pending.indices {
                pending[index].progress = .waiting
                pending[index].isAskedAgain = false
            }
        }
        host = peer
        // The first snapshot on a link always counts: another host's epochs, or those of a box whose clock was set back,
        // say nothing.
        snapshot = nil
        isWaitingForWhole = false
        return pending.indices.flatMap { index -> [Effect] in
            let vote = pending[index]
            guard vote.progress != .sent else { return [] }
            pending[index].progress = .sent
            let shown = Effect.voteChanged(songID: vote.songID, .sent)
            return vote.progress == .waiting ? [.send(.vote(songID: vote.songID), to: peer.id), shown] : [shown]
        }
    }

    private mutating func markQueued() -> [Effect] {
        pending.indices.filter { pending[$0].progress == .sent }.map { index in
            pending[index].progress = .handedOver
            return .voteChanged(songID: pending[index].songID, .queued)
        }
    }
}
