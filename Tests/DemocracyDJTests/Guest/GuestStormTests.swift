// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import DemocracyDJ

@Suite("A guest in a storm of events")
struct GuestStormTests {
    private static let peers = [Example.host, Example.bob, Example.otherBob]
    private static let songs = ["s1", "s2", "s3", "s4", "s5", "", "nonsense"]

    @Test("no order of events of a host or a radio breaks a guest", arguments: 0..<10)
    func storm(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        var guest = GuestFeature(local: Example.ana)
        var state = Example.snapshot(1)
        for _ in 0..<600 {
            state = RandomState.next(state, using: &dice)
            let before = guest.state
            let event = event(state, using: &dice)
            let effects = guest.handle(event)
            try #require(fault(guest) == nil, "after \(event)")
            try #require(shown(before, guest.state), "after \(event)")
            for case .send(_, let peer) in effects { try #require(peer == guest.state.known?.id) }
            for case .request(_, let peer) in effects { try #require(peer == guest.state.host?.id) }
            if dice.chance(3) {
                let outbox = guest.state.wishes.filter { $0.undelivered > 0 }.map(\.intent)
                guest = GuestFeature(local: Example.ana, resuming: guest.saved, undelivered: outbox)
                try #require(fault(guest) == nil, "after a restart")
            }
        }
    }

    private func fault(_ guest: GuestFeature) -> String? {
        let state = guest.state
        let wishes = state.wishes
        if wishes.count > DJLimits.pendingVotes { return "too many wishes" }
        for (place, wish) in wishes.enumerated() {
            if wish.undelivered < 0 { return "less than nothing is under way" }
            if wishes[..<place].contains(where: { $0.isAbout(wish.intent) }) { return "two wishes about one thing" }
            if wish.progress == .sent, state.host == nil { return "sent without a link" }
            if wish.progress != .waiting, state.known == nil { return "given to nobody" }
        }
        if (state.connectionStatus == .connected) != (state.host != nil) { return "not where it says" }
        if state.isCurrent, state.host == nil || state.hostSnapshot == nil { return "current without a host" }
        if let host = state.host, host.id != state.known?.id { return "the host is not known" }
        return state.hostSnapshot?.isWithinLimits == false ? "it shows what no host can have" : nil
    }

    /// On one link the shown state only advances, and within a run of the host on all links.
    private func shown(_ before: GuestFeature.State, _ after: GuestFeature.State) -> Bool {
        if before.known?.id == after.known?.id, let old = before.hostSnapshot, let new = after.hostSnapshot,
            new.isBehind(old)
        {
            return false
        }
        guard before.isCurrent, after.isCurrent, let old = before.hostSnapshot, let new = after.hostSnapshot else {
            return true
        }
        return before.host != after.host || old == new || new.supersedes(old)
    }

    private func event(_ state: HostSnapshot, using dice: inout Dice) -> GuestFeature.Event {
        let songID = dice.pick(Self.songs) ?? ""
        switch dice.below(12) {
        case 0: return .vote(songID)
        case 1: return .takeBackVote(songID)
        case 2: return .suggest(songID)
        case 3: return dice.chance(50) ? .skip : .search("song \(songID)")
        default: return .multipeerEvent(network(state, songID, using: &dice))
        }
    }

    private func network(_ state: HostSnapshot, _ songID: Song.ID, using dice: inout Dice) -> MultipeerEvent {
        let peer = dice.chance(80) ? Example.host : dice.pick(Self.peers) ?? Example.host
        let intents: [GuestIntent] = [
            .vote(songID: songID), .takeBackVote(songID: songID), .suggestSong(songID: songID), .skip(songID: songID),
        ]
        let intent = dice.pick(intents) ?? .vote(songID: songID)
        let reasons: [DisconnectReason] = [.goodbye, .linkLost, .linkLost, .refused, .replaced]
        let earlier = UInt64(dice.pick(0...3))
        var base = state
        base.revision = max(1, state.revision) - min(earlier, state.revision)
        switch dice.below(11) {
        case 0, 1: return .peerConnected(peer)
        case 2: return .peerDisconnected(peer, reason: dice.pick(reasons) ?? .linkLost)
        case 3: return .messageReceived(.stateUpdate(state), from: peer)
        case 4:
            let change = HostChange(from: base, to: state)
            return .messageReceived(change.map { .stateChange($0) } ?? .stateUpdate(base), from: peer)
        case 5:
            return .messageReceived(.stateHeartbeat(epoch: state.epoch, revision: base.revision), from: peer)
        case 6:
            return .messageReceived(.rejection(intent, dice.pick(RejectionReason.allCases) ?? .queueFull), from: peer)
        case 7: return .messageDelivered(.intent(intent), to: peer.id)
        case 8: return .sendFailed(.intent(intent), SendError(.full, to: peer))
        case 9: return .messageReceived(.searchResults(SearchResults(number: 1, songs: Example.songs)), from: peer)
        default: return dice.chance(50) ? .networkUnavailable : .messageReceived(.stateRequest, from: peer)
        }
    }
}
