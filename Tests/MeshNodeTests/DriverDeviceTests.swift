// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import NodeCore

@Suite("Co-hosts, by their keys")
struct DriverDeviceTests {
    /// The co-hosts that the host has last reported.
    private func told(_ pair: PairOfCores) -> [String]? {
        pair.shown[0].reversed().lazy.compactMap { if case .drivers(let all) = $0 { all.map(\.name) } else { nil } }
            .first
    }

    @Test("a co-host stays one after a restart of the car, until it becomes a guest again")
    func kept() throws {
        var pair = try PairOfCores()
        pair.meet()
        let guest = pair.cores[1].mesh.local
        pair.feed(.input(.appoint(guest.name)), to: .host)
        #expect(told(pair) == [guest.name] && pair.stored[0].drivers == [guest])
        #expect(pair.cores[0].app.host?.snapshot.drivers == [guest.id])
        try pair.restart(.host)
        pair.feed(.started, to: .host)
        pair.meet()
        pair.pass(.seconds(3))
        #expect(pair.cores[0].app.host?.snapshot.drivers == [guest.id])
        pair.feed(.input(.guest(.steer(.remove(songID: "s2")))), to: .guest)
        #expect(pair.cores[0].app.host?.snapshot.item("s2") == nil)
        pair.feed(.input(.dismiss(Identity.head(of: guest.id))), to: .host)
        #expect(told(pair) == [] && pair.stored[0].drivers.isEmpty)
        pair.feed(.input(.guest(.steer(.remove(songID: "s3")))), to: .guest)
        #expect(pair.cores[0].app.host?.snapshot.item("s3") != nil)
        #expect(pair.notices(at: .guest).last == "driverOnly")
    }

    @Test(
        "the key of a browser steers in the browser and not by radio, also after a restart", arguments: [true, false])
    func browser(isAppointedFirst: Bool) throws {
        var pair = try PairOfCores()
        pair.meet()
        let guest = pair.cores[1].mesh.local
        if isAppointedFirst { pair.feed(.input(.appoint(guest.name)), to: .host) }
        pair.feed(.joined(100, guest), to: .host)
        if !isAppointedFirst { pair.feed(.input(.appoint(guest.name)), to: .host) }
        #expect(pair.stored[0].browserDrivers == [guest])
        pair.feed(.input(.guest(.steer(.remove(songID: "s2")))), to: .guest)
        #expect(pair.cores[0].app.host?.snapshot.item("s2") != nil)
        #expect(pair.notices(at: .guest).last == "driverOnly")
        pair.feed(.said(.intent(.steer(.remove(songID: "s2"))), number: 1, on: 100), to: .host)
        #expect(pair.cores[0].app.host?.snapshot.item("s2") == nil)
        try pair.restart(.host)
        pair.feed(.started, to: .host)
        pair.meet()
        pair.pass(.seconds(3))
        pair.feed(.input(.guest(.steer(.remove(songID: "s3")))), to: .guest)
        #expect(pair.cores[0].app.host?.snapshot.item("s3") != nil)
        // The next appointment starts from nothing: the guest has no page now.
        pair.feed(.input(.dismiss(guest.name)), to: .host)
        pair.feed(.input(.appoint(guest.name)), to: .host)
        #expect(pair.stored[0].browserDrivers == [])
    }

    @Test("an unknown name, or one that is not a co-host's, is reported")
    func unknown() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.appoint("Eve")), to: .host)
        pair.feed(.input(.dismiss(pair.cores[1].mesh.local.name)), to: .host)
        #expect(pair.notices(at: .host) == ["noSuchGuest", "noDriver"] && told(pair) == nil)
    }

    @Test("driver alone lists the co-hosts, and driver with a name appoints one")
    func reading() {
        let ana = Peer(id: String(repeating: "a1", count: 16), name: "Ana")
        let view = SongChoice(
            shown: HostSnapshot(
                epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, queue: [], connectedPeers: [ana]))
        let reader = CommandReader(.host)
        #expect(reader.meaning(ofTyped: "driver", view) == .input(.drivers))
        #expect(reader.meaning(ofTyped: "driver ana", view) == .input(.appoint(ana.id)))
        #expect(reader.meaning(ofTyped: "passenger Ana", view) == .input(.dismiss("Ana")))
        #expect(reader.meaning(ofProgram: "driver") == .input(.drivers))
        #expect(reader.meaning(ofProgram: "driver \(ana.id)") == .input(.appoint(ana.id)))
        let guest = CommandReader(.guest)
        #expect(guest.meaning(ofProgram: "move s2 3") == .input(.guest(.steer(.move(songID: "s2", to: 2)))))
        #expect(guest.meaning(ofTyped: "kick ana", view) == .input(.guest(.steer(.kick(ana.id)))))
    }
}
