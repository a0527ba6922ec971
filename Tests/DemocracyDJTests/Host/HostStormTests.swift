// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@Suite("A host in a storm of events")
struct HostStormTests {
    private static let policies = [
        Fairness(), Fairness(openSuggestions: nil, songsInARow: nil), Fairness(songsInARow: 1, majoritySkip: true),
        Fairness(openSuggestions: 1, songsInARow: 3, majoritySkip: true),
    ]
    private static let guests = RandomState.peers.prefix(7)

    @Test("nothing stops a host or its music, and its queue stays in order", arguments: 0..<12)
    func storm(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let fairness = Self.policies[Int(seed) % Self.policies.count]
        let library = SongLibrary(
            RandomState.songs.map { song in
                var song = song
                song.duration += 1
                return song
            })
        var host = HostFeature(local: Example.host, library: library, fairness: fairness, epoch: 1, now: .zero)
        var now = MeshInstant.zero
        var isPaused = false
        for _ in 0..<400 {
            now += .milliseconds(dice.pick(0...3_000))
            if dice.chance(2) {
                let saved = host.savedSession(now: now)
                host = HostFeature(
                    local: Example.host, library: library, fairness: fairness, resuming: saved,
                    epoch: host.state.epoch + 1, now: now)
            }
            let before = host.snapshot
            let event = event(of: host, using: &dice)
            let effects = host.handle(event, now: now)
            // A removed guest is gone at once.
            for case .disconnect(let peer) in effects {
                _ = host.handle(.multipeerEvent(.peerDisconnected(Peer(id: peer, name: ""))), now: now)
            }
            isPaused = paused(isPaused, after: event)
            try #require(host.fault == nil, "after \(event)")
            try #require(host.snapshot.isPlaying == !isPaused, "after \(event)")
            try #require(tells(before, host.snapshot, effects), "after \(event)")
        }
    }

    /// A guest with the earlier state gets the later one from the broadcast.
    private func tells(_ before: HostSnapshot, _ after: HostSnapshot, _ effects: [HostFeature.Effect]) -> Bool {
        guard before != after else { return true }
        let isTold = effects.contains { if case .broadcast = $0 { true } else { false } }
        // The current song has continued, which is not a change.
        var base = before
        base.elapsed = after.elapsed
        return (isTold || effects.contains { if case .disconnect = $0 { true } else { false } })
            && HostChange(from: base, to: after).flatMap(base.applying) == after
    }

    private func paused(_ isPaused: Bool, after event: HostFeature.Event) -> Bool {
        switch event {
        case .command(.pause): true
        case .command(.play), .command(.skip): false
        default: isPaused
        }
    }

    private func event(of host: HostFeature, using dice: inout Dice) -> HostFeature.Event {
        let songID = dice.chance(5) ? "nonsense" : dice.pick(host.library.songs)?.id ?? ""
        let guest = dice.pick(Array(Self.guests)) ?? Example.ana
        switch dice.below(20) {
        case 0...3: return Example.intent(.vote(songID: songID), from: guest)
        case 4...5: return Example.intent(.takeBackVote(songID: songID), from: guest)
        case 6...8: return Example.intent(.suggestSong(songID: songID), from: guest)
        case 9...10: return Example.intent(.skip(songID: host.snapshot.nowPlaying?.id ?? songID), from: guest)
        case 11...12: return .multipeerEvent(.peerConnected(guest))
        case 13: return .multipeerEvent(.peerDisconnected(guest))
        case 14...15: return .tick
        case 16: return .command(.skip)
        case 17: return .command(dice.pick([.play, .pause]) ?? .play)
        case 18: return .command(dice.pick([.add(songID), .remove(songID)]) ?? .play)
        default:
            let search = SearchRequest(number: 1, words: "title", asksForState: true)
            let others: [MultipeerEvent] = [
                .messageReceived(.stateRequest, from: guest), .messageReceived(.search(search), from: guest),
                .messageReceived(.stateUpdate(host.snapshot), from: guest), .networkUnavailable, .sessionInvalidated,
                .sendFailed(.stateRequest, SendError(.full, to: guest)), .peerDiscovered(guest), .peerLost(guest),
            ]
            return dice.chance(10)
                ? .command(.kick(guest.id)) : .multipeerEvent(dice.pick(others) ?? .networkUnavailable)
        }
    }
}
