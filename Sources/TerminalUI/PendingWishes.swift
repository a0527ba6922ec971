// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// What this guest wants and no state has shown yet.
struct PendingWishes {
    /// Whether it is a guest's at all: a host wants nothing of itself.
    var isGuest = false
    /// What is wanted of a song, the oldest first.
    private(set) var wishes: [Pending] = []

    /// A wish, and where it has got to.
    struct Pending: Hashable {
        var songID: Song.ID
        var kind: Wish.Kind
        var isSent: Bool
    }

    /// Takes what has become of a wish.
    mutating func take(_ songID: Song.ID, _ kind: Wish.Kind, _ state: WishState) {
        // A vote and its taking back are about the same thing: the newer one counts.
        let place = wishes.firstIndex { $0.songID == songID && ($0.kind == .suggest) == (kind == .suggest) }
        switch state {
        case .queued, .sent:
            let pending = Pending(songID: songID, kind: kind, isSent: state == .sent)
            if let place { wishes[place] = pending } else { wishes.append(pending) }
        case .confirmed, .rejected:
            if let place { wishes.remove(at: place) }
        }
    }

    /// What is pending about a song, in words.
    func mark(_ songID: Song.ID) -> String? {
        let marks = wishes.filter { $0.songID == songID }.map(\.words)
        return marks.isEmpty ? nil : marks.joined(separator: ", ")
    }
}

extension PendingWishes.Pending {
    /// Where it has got to, in words.
    var words: String {
        switch kind {
        case .vote: isSent ? "your vote is on its way" : "your vote is kept"
        case .takeBack: isSent ? "your vote is being taken back" : "your vote is taken back when connected"
        case .suggest: isSent ? "your suggestion is on its way" : "your suggestion is kept"
        }
    }
}
