// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeStore
import Testing

@testable import MeshNode
@testable import NodeCore

@Suite("Steps, and what a refused write takes back")
struct StepTests {
    private static let guests = [1, 2].map { number in
        (id: 90 + number, peer: Peer(id: String(repeating: "\(number)", count: 32), name: "Guest \(number)"))
    }

    @Test("Retry while the radio is out tries the radio again, and leaves no scan behind at a linked guest")
    func retryDuringOutage() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.radioFailed(.radioFailed(cause: "a test")), to: .guest)
        let before = pair.performed[1].count
        pair.feed(.input(.retry), to: .guest)
        let scans = pair.performed[1][before...].compactMap { action -> Bool? in
            switch action {
            case .startRadio: true
            case .stopScanning: false
            default: nil
            }
        }
        #expect(scans == [true, false])
        let activity = pair.shown[1].compactMap { if case .radio(let activity) = $0 { activity } else { nil } }.last
        #expect(activity?.isScanning == false)
    }

    @Test("guests that are lost in the network while the disk refuses a write are no failure of the radio")
    func networkLossDuringWrite() throws {
        var pair = try PairOfCores()
        pair.happen(Self.guests.map { .link($0.id, .connected($0.peer)) }, to: .host)
        pair.disks[0] = .hangs
        pair.feed(.input(.host(.remove("s3"))), to: .host)
        pair.end(Self.guests, over: .lan, at: .host)
        pair.disks[0] = .takes
        pair.feed(.writeFailed(NodeStoreError(.diskFull, cause: "a test")), to: .host)
        pair.pass(.seconds(3))
        #expect(pair.notices(at: .host) == ["storageFull"])
    }

    @Test("what a guest decides together with the loss of its link survives a disk that refuses the state on view")
    func decidedWithLoss() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[1] = .hangs
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        // Both wait for the same step. Retry cancels the dial into the tunnel.
        pair.loseLink()
        pair.feed(.input(.retry), to: .guest)
        pair.goOn(.guest, then: .refuses)
        #expect(pair.notices(at: .guest).contains("storageFull"))
        pair.disks[1] = .takes
        pair.pass(.seconds(3))
        let dials = pair.dials(of: .guest)
        #expect(dials == 2)
        pair.isReachable = true
        pair.meet()
        #expect(pair.dials(of: .guest) == 3 && pair.present == ["Ana"])
    }

    @Test("a power cut during a song costs at most the time between two heartbeats")
    func position() throws {
        var pair = try PairOfCores()
        pair.isReachable = false
        pair.feed(.input(.host(.play)), to: .host)
        var longest: Duration = .zero
        for _ in 0..<60 {
            pair.pass(.milliseconds(500))
            let state = try #require(pair.cores[0].app.host?.state)
            let stored = try #require(pair.stored[0].host)
            try #require(state.isPlaying && stored.nowPlaying == state.nowPlaying?.song.id)
            longest = max(longest, state.elapsed(pair.now) - .milliseconds(stored.elapsedMilliseconds))
        }
        #expect(longest > .zero && longest <= DJLimits.stateHeartbeat)
    }
}
