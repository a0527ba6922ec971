// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ

/// A wish of a guest's person that the host has not confirmed, and why.
public struct UnconfirmedWish: Hashable, Sendable {
    /// Why the wish was not confirmed.
    public enum Reason: Hashable, Sendable {
        /// The person made another wish for the same song before the answer, and that one counts.
        case replaced(by: Wish.Kind, after: Duration)
        /// The host or the guest's own node has rejected it.
        case rejected(RejectionReason)
        /// The wish waited until the end of the run.
        case waiting
    }

    /// When the wish was made, in virtual time.
    public let at: Duration
    /// What the person wished.
    public let kind: Wish.Kind
    /// Why the wish was not confirmed.
    public let reason: Reason
}

/// Follows each wish for a song from its person to its answer.
struct WishLedger {
    private struct Key: Hashable {
        var guest: Int
        var song: Song.ID
    }

    private struct Open {
        var at: Duration
        var kind: Wish.Kind
    }

    private var open: [Key: Open] = [:]
    private var ended: [Key: [UnconfirmedWish]] = [:]

    /// A guest's person makes a wish.
    mutating func wished(_ guest: Int, _ song: Song.ID, _ kind: Wish.Kind, at now: Duration) {
        let key = Key(guest: guest, song: song)
        if let earlier = open[key] {
            let reason = UnconfirmedWish.Reason.replaced(by: kind, after: now - earlier.at)
            ended[key, default: []].append(UnconfirmedWish(at: earlier.at, kind: earlier.kind, reason: reason))
        }
        open[key] = Open(at: now, kind: kind)
    }

    /// A wish has its answer.
    mutating func answered(_ guest: Int, _ song: Song.ID, _ kind: Wish.Kind, _ state: WishState) {
        let key = Key(guest: guest, song: song)
        // An answer to the earlier of two wishes may still arrive.
        guard let wish = open[key], wish.kind == kind else {
            if state == .confirmed, let index = ended[key]?.lastIndex(where: { $0.kind == kind }) {
                ended[key]?.remove(at: index)
            }
            return
        }
        open[key] = nil
        if case .rejected(let reason) = state {
            ended[key, default: []].append(UnconfirmedWish(at: wish.at, kind: kind, reason: .rejected(reason)))
        }
    }

    /// All wishes without a confirmation so far, by their times.
    var unconfirmed: [UnconfirmedWish] {
        let waiting = open.values.map { UnconfirmedWish(at: $0.at, kind: $0.kind, reason: .waiting) }
        return (ended.values.flatMap(\.self) + waiting).sorted { $0.at < $1.at }
    }
}
