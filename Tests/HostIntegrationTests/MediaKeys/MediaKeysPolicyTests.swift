// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import HostIntegration

@Suite("The connection of media keys to the session bus")
struct MediaKeysPolicyTests {
    private func playback(_ id: String = "a", at elapsed: Double = 0, plays: Bool = true) -> Playback {
        let song = Song(id: id, title: "Title", artist: "Artist", duration: 60)
        return Playback(song: song, isPlaying: plays, elapsed: .seconds(elapsed), next: nil)
    }

    private func isOpen(_ actions: [MediaKeysPolicy.Action]) -> Bool { actions.contains(.open) }

    @Test("a missing bus is looked for less and less often, and logged once")
    func retries() {
        var policy = MediaKeysPolicy(instance: 7)
        var waits: [Double] = [], notes = 0
        var now: MeshInstant = .zero
        for _ in 0..<9 {
            #expect(isOpen(policy.handle(.tick, now: now)))
            #expect(policy.deadline == nil)
            notes += policy.handle(.unreachable("there is no session bus"), now: now).count
            guard let deadline = policy.deadline else { break }
            waits.append((deadline - now) / .seconds(1))
            #expect(policy.handle(.tick, now: deadline - .milliseconds(1)) == [])
            now = deadline
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60])
        #expect(notes == 1)
    }

    @Test("after the loss of a bus the search starts again at once, and the playback is shown on the new bus")
    func comesBack() {
        var policy = MediaKeysPolicy(instance: 7)
        _ = policy.handle(.tick, now: .zero)
        _ = policy.handle(.said(.named), now: .zero)
        _ = policy.handle(.show(playback()), now: .zero)
        #expect(policy.handle(.said(.closed("x")), now: .seconds(9)) == [.close, .note("x")])
        #expect(policy.deadline == .seconds(10))
        let actions = policy.handle(.tick, now: .seconds(10))
        #expect(actions.contains(.show(policy.state, isNewStatus: true, isNewTrack: true, hasJumped: false)))
    }

    @Test("if the name is taken, a name of the process is used, and there is no third one")
    func names() {
        var policy = MediaKeysPolicy(instance: 7)
        #expect(policy.handle(.tick, now: .zero).contains(.requestName("org.mpris.MediaPlayer2.roadmesh")))
        #expect(
            policy.handle(.said(.nameTaken), now: .zero) == [.requestName("org.mpris.MediaPlayer2.roadmesh.instance7")])
        #expect(policy.handle(.said(.nameTaken), now: .zero).first == .close)
    }

    @Test("only changes are sent, and a jump is")
    func changes() {
        func told(_ policy: inout MediaKeysPolicy, _ playback: Playback, at seconds: Double) -> [Bool] {
            guard
                case .show(_, let status, let track, let jump)? = policy.handle(.show(playback), now: .seconds(seconds))
                    .first
            else { return [] }
            return [status, track, jump]
        }
        var policy = MediaKeysPolicy(instance: 7)
        #expect(told(&policy, playback(), at: 0) == [])
        _ = policy.handle(.tick, now: .zero)
        #expect(told(&policy, playback(at: 5.4), at: 5) == [false, false, false])
        #expect(told(&policy, playback(at: 20), at: 6) == [false, false, true])
        #expect(told(&policy, playback(at: 20, plays: false), at: 6) == [true, false, false])
        #expect(told(&policy, playback("b"), at: 7) == [true, true, false])
    }

    @Test("a seek starts from the present position, and the next one from the position that the first has asked for")
    func seeks() {
        var policy = MediaKeysPolicy(instance: 7)
        #expect(policy.handle(.said(.seekBy(.seconds(5))), now: .zero) == [], "nothing plays")
        _ = policy.handle(.tick, now: .zero)
        _ = policy.handle(.show(playback(at: 20)), now: .zero)
        #expect(policy.handle(.said(.seekBy(.seconds(5))), now: .seconds(1)) == [.command(.seek(.seconds(26)))])
        #expect(policy.handle(.said(.seekBy(.seconds(5))), now: .seconds(1)) == [.command(.seek(.seconds(31)))])
        _ = policy.handle(.show(playback(at: 31)), now: .seconds(1))
        #expect(policy.handle(.said(.seekBy(.seconds(-50))), now: .seconds(2)) == [.command(.seek(.zero))])
        #expect(policy.handle(.said(.seekBy(.seconds(61))), now: .seconds(2)) == [.command(.next)])
    }

    @Test(
        "a position outside the song has no effect",
        arguments: [(0, true), (60, true), (-1, false), (61, false)] as [(Double, Bool)])
    func positions(seconds: Double, isSought: Bool) {
        var policy = MediaKeysPolicy(instance: 7)
        _ = policy.handle(.show(playback(at: 20)), now: .zero)
        let place = MeshInstant.seconds(seconds)
        #expect(policy.handle(.said(.seekTo(place)), now: .zero) == (isSought ? [.command(.seek(place))] : []))
    }

    @Test("the position on the bus advances with time, but not beyond the song's end")
    func place() {
        let state = MediaState(playback(at: 50), now: .seconds(100), limits: .standard)
        #expect(state.place(.seconds(104)) == .seconds(54))
        #expect(state.place(.seconds(500)) == .seconds(60))
    }

    @Test("the session bus has the address in the environment, or systemd's default")
    func address() {
        #expect(
            MediaKeys.sessionBus(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/x", "XDG_RUNTIME_DIR": "/r"])
                == "unix:path=/x")
        #expect(MediaKeys.sessionBus(["XDG_RUNTIME_DIR": "/run/us er,1"]) == "unix:path=/run/us%20er%2c1/bus")
        #expect(MediaKeys.sessionBus(["XDG_RUNTIME_DIR": "relative"]) == nil)
        #expect(MediaKeys.sessionBus([:]) == nil)
    }
}
