// SPDX-License-Identifier: Apache-2.0

import MeshProtocol

// Checks of everything that a peer sends, before it is used. A message may need no more memory than an honest peer's,
// and must keep the invariants on which the code above relies.

extension DJLimits {
    /// Whether a text can be a song's identifier.
    static func isSongID(_ text: String) -> Bool { (1...songIDBytes).contains(text.utf8.count) }

    /// Whether a text can be a peer's identifier.
    static func isPeerID(_ text: String) -> Bool { (1...Limits.peerIDBytes).contains(text.utf8.count) }
}

extension GuestIntent {
    /// Whether an honest guest can send this intent.
    var isWithinLimits: Bool {
        if case .steer(let wish) = self {
            guard wish.peer.map(DJLimits.isPeerID) != false, (0..<DJLimits.queuedSongs).contains(wish.place ?? 0) else {
                return false
            }
        }
        return songID.map(DJLimits.isSongID) != false
    }
}

extension SearchRequest {
    /// Whether an honest guest can send this search.
    var isWithinLimits: Bool {
        query.words.utf8.count <= DJLimits.searchBytes && (0...DJLimits.browsedSongs).contains(query.from)
    }
}

extension SearchResults {
    /// Whether a host can have found this.
    var isWithinLimits: Bool {
        found.isWithinLimits
    }
}

extension FoundSongs {
    /// Whether a host can have found this.
    var isWithinLimits: Bool {
        songs.count <= DJLimits.searchResults && songs.allSatisfy(\.isWithinLimits) && areDistinct(songs.map(\.id))
            && groups.count <= DJLimits.searchResults && groups.allSatisfy(\.isWithinLimits)
            && areDistinct(groups.map(\.id)) && [artists, albums].allSatisfy(Self.areWithinLimits)
            && (0...DJLimits.browsedSongs).contains(total)
            && (lookedFor?.utf8.count ?? 0) <= DJLimits.searchBytes
    }

    private static func areWithinLimits(_ groups: [SongGroup]) -> Bool {
        groups.count <= DJLimits.foundGroups && groups.allSatisfy(\.isWithinLimits)
            && areDistinct(groups.map(\.id))
    }
}

extension SongGroup {
    fileprivate var isWithinLimits: Bool {
        DJLimits.isSongID(id) && name.utf8.count <= DJLimits.songTextBytes
            && artist.utf8.count <= DJLimits.songTextBytes && (0...DJLimits.browsedSongs).contains(songs)
    }
}

extension Song {
    /// Whether a host can send this song to guests. NaN is outside every range.
    var isWithinLimits: Bool {
        DJLimits.isSongID(id) && title.utf8.count <= DJLimits.songTextBytes
            && artist.utf8.count <= DJLimits.songTextBytes && (0...DJLimits.songSeconds).contains(duration)
            && (albumArtURL?.utf8.count ?? 0) <= DJLimits.albumArtURLBytes
    }
}

extension QueueItem {
    fileprivate var isWithinLimits: Bool {
        song.isWithinLimits && DJLimits.isPeerID(addedBy) && voters.count <= DJLimits.votes
            && voters.allSatisfy(DJLimits.isPeerID) && areDistinct(voters)
    }
}

extension HostSnapshot {
    /// Whether a host can have this state.
    var isWithinLimits: Bool {
        nowPlaying?.isWithinLimits != false
            && queue.count <= DJLimits.queuedSongs && queue.allSatisfy(\.isWithinLimits)
            && areDistinct(queue.map(\.song.id))
            && areGuestsWithinLimits(after: []) && (0...DJLimits.connectedPeers).contains(unnamedGuests)
            && areWithinLimits(skipVoters) && areWithinLimits(drivers)
    }

    /// Checks a state that a change has made of a valid one. It skips what has not changed: a vote changes one song,
    /// and the state may hold a thousand guests.
    func isWithinLimits(after before: HostSnapshot, by change: HostChange) -> Bool {
        (change.nowPlaying == nil && change.playingVoters == nil || nowPlaying?.isWithinLimits != false)
            && isQueueWithinLimits(by: change)
            && (change.guests.isNothing || areGuestsWithinLimits(after: before.connectedPeers))
            && (0...DJLimits.connectedPeers).contains(unnamedGuests)
            && (change.skipVoters == nil || areWithinLimits(skipVoters))
            && (change.drivers == nil || areWithinLimits(drivers))
    }

    /// Songs that stay or move are valid already, since they were in the old queue, each once.
    private func isQueueWithinLimits(by change: HostChange) -> Bool {
        guard queue.count <= DJLimits.queuedSongs, change.voters.allSatisfy({ queue[$0.at].isWithinLimits }) else {
            return false
        }
        var moved: Set<Int> = []
        return change.queue.inserted.allSatisfy { insertion in
            switch insertion.source {
            case .moved(let place): moved.insert(place).inserted
            case .new(let item): item.isWithinLimits && queue.count { $0.song.id == item.song.id } == 1
            }
        }
    }

    private func areGuestsWithinLimits(after old: [Peer]) -> Bool {
        let (start, end) = old.commonEnds(with: connectedPeers, by: ==)
        return connectedPeers.count <= DJLimits.connectedPeers
            && connectedPeers[start..<connectedPeers.count - end].allSatisfy {
                DJLimits.isPeerID($0.id) && $0.name.utf8.count <= Limits.nameBytes
            }
            && areDistinct(connectedPeers, after: old, by: \.id)
    }

    private func areWithinLimits(_ some: [Peer.ID]) -> Bool {
        some.count <= DJLimits.connectedPeers && some.allSatisfy(DJLimits.isPeerID) && areDistinct(some)
    }
}

private func areDistinct(_ texts: [String]) -> Bool { Set(texts).count == texts.count }

/// Checks that a list has distinct elements, given that the list before it has. The common ends of both are distinct. A
/// few elements between them are compared with all others, since one guest who arrives is not worth a set of a
/// thousand.
private func areDistinct<Element>(_ new: [Element], after old: [Element], by id: (Element) -> String) -> Bool {
    let (start, end) = old.commonEnds(with: new) { id($0) == id($1) }
    let between = start..<new.count - end
    guard between.count <= DJLimits.comparedItems else { return areDistinct(new.map(id)) }
    return between.allSatisfy { place in
        new.indices.allSatisfy { $0 == place || id(new[$0]) != id(new[place]) }
    }
}
