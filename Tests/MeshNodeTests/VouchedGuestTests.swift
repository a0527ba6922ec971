// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import MeshNode
@testable import NodeCore

@Suite("Guests that a bearer vouches for, such as those with a browser")
struct VouchedGuestTests {
    private let mia = Peer(id: String(repeating: "c3", count: 16), name: "Mia")

    private func vote(_ songID: Song.ID, _ number: UInt64, on link: MeshCore.LinkID) -> NodeCore.Event {
        .said(.intent(.vote(songID: songID)), number: number, on: link)
    }

    /// The guest of the pair, as its own node identifies it.
    private func ana(_ pair: PairOfCores) -> Peer { pair.cores[1].mesh.local }

    @Test("a vote is acknowledged when it is on disk and not before, and is shown to all")
    func acknowledgement() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.joined(100, mia), to: .host)
        #expect(pair.present == ["Ana", "Mia"])
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(vote("s4", 1, on: 100), to: .host)
        #expect(pair.said[100]?.contains(.acknowledged(1)) == false && pair.votes(for: "s4", at: .host) == 0)
        pair.goOn(.host)
        let last = try #require(pair.said[100]?.suffix(2))
        #expect(last.first == .acknowledged(1))
        let isState = if case .message(.stateUpdate)? = last.last { true } else { false }
        #expect(isState, "\(last)")
        #expect(pair.votes(for: "s4", at: .host) == 1 && pair.votes(for: "s4", at: .guest) == 1)
    }

    @Test("a guest that joins or asks while the disk is busy sees the result, and nothing in between")
    func noStateInBetween() throws {
        var pair = try PairOfCores()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.host(.pause)), to: .host)
        pair.feed(.joined(100, mia), to: .host)
        pair.feed(vote("s4", 1, on: 100), to: .host)
        pair.feed(.joined(101, ana(pair)), to: .host)
        pair.feed(vote("s4", 1, on: 101), to: .host)
        // Both wait for the next step. The first repeats an existing vote and is answered with the state. The second
        // changes it.
        pair.feed(vote("s4", 2, on: 100), to: .host)
        pair.feed(vote("s3", 2, on: 101), to: .host)
        pair.goOn(.host)
        let shown = pair.shown[PairOfCores.Side.host.rawValue].compactMap { event in
            if case .snapshot(let state, _) = event { state.revision } else { nil }
        }
        for link in [100, 101] {
            let seen = (pair.said[link] ?? []).compactMap { event in
                if case .message(.stateUpdate(let state)) = event { state.revision } else { nil }
            }
            #expect(Set(seen).isSubset(of: shown) && seen.last == shown.last)
        }
    }

    @Test("a vote that the disk refuses waits without an answer, and counts once when there is room")
    func fullDisk() throws {
        var pair = try PairOfCores()
        pair.feed(.joined(100, mia), to: .host)
        pair.disks[PairOfCores.Side.host.rawValue] = .refuses
        pair.feed(vote("s4", 1, on: 100), to: .host)
        #expect(pair.notices(at: .host) == ["storageFull"] && pair.said[100]?.contains(.acknowledged(1)) == false)
        pair.disks[PairOfCores.Side.host.rawValue] = .takes
        pair.pass(.seconds(5))
        #expect(pair.votes(for: "s4", at: .host) == 1)
        #expect(pair.said[100]?.filter { $0 == .acknowledged(1) }.count == 1)
    }

    @Test(
        "messages beyond the limit for a busy disk are not acknowledged, and their link ends, so they come again"
    )
    func bounded() throws {
        var pair = try PairOfCores()
        pair.feed(.joined(100, mia), to: .host)
        pair.disks[PairOfCores.Side.host.rawValue] = .refuses
        let numbers = 1...UInt64(NodeLimits.heldBytes / NodeLimits.heldMessage + 10)
        // The first vote waits for the disk, and the others are queued behind it.
        for number in numbers { pair.feed(vote("s\(number + 3)", number, on: 100), to: .host) }
        pair.disks[PairOfCores.Side.host.rawValue] = .takes
        pair.pass(.seconds(5))
        #expect(!numbers.contains { pair.said[100]?.contains(.acknowledged($0)) == true })
        #expect(pair.cores[0].inside.steps.heldBytes == 0)
        #expect(pair.said[100]?.contains(.ended(.linkLost)) == true)
        #expect(pair.present == [])
    }

    @Test("a refusal is sent only on the link of the request")
    func rejection() throws {
        var pair = try PairOfCores()
        pair.feed(.joined(100, mia), to: .host)
        pair.feed(.joined(101, ana(pair)), to: .host)
        pair.feed(vote("nothing", 1, on: 100), to: .host)
        let told = LocalLink.Event.message(.rejection(.vote(songID: "nothing"), .unknownSong))
        #expect(pair.said[100]?.suffix(2) == [.acknowledged(1), told])
        #expect(pair.said[101]?.contains(told) == false)
    }

    @Test("a refusal of a request over the radio waits for the radio, even if the guest has only a page by then")
    func rejectionByRadio() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .refuses
        pair.feed(.input(.host(.pause)), to: .host)
        pair.feed(.input(.guest(.vote("nothing"))), to: .guest)
        pair.loseLink()
        pair.feed(.joined(100, ana(pair)), to: .host)
        pair.disks[PairOfCores.Side.host.rawValue] = .takes
        pair.pass(.seconds(2))
        #expect(pair.wishes == [.queued, .sent, .queued])
        let dials = pair.performed[1].compactMap { if case .dial(let number, _, _) = $0 { number } else { nil } }
        pair.open(try #require(dials.last))
        pair.pass(.seconds(1))
        #expect(pair.wishes.last == .rejected(.unknownSong))
    }

    @Test("one key over radio and browser is one guest, which is present as long as one of its links is")
    func oneKey() throws {
        var pair = try PairOfCores()
        pair.feed(.joined(100, ana(pair)), to: .host)
        pair.meet()
        #expect(pair.present == ["Ana"])
        pair.feed(.left(100, .goodbye()), to: .host)
        #expect(pair.present == ["Ana"], "its radio is still there")
        pair.feed(.joined(101, ana(pair)), to: .host)
        pair.feed(.input(.leave), to: .guest)
        #expect(pair.present == ["Ana"], "its page is still there")
        pair.feed(.left(101, .linkLost), to: .host)
        #expect(pair.present == [])
    }

    @Test("a guest that joined by page and radio and has left the page can be kicked")
    func kickedAfterLeavingThePage() throws {
        var pair = try PairOfCores()
        pair.feed(.joined(100, ana(pair)), to: .host)
        pair.meet()
        pair.feed(.left(100, .goodbye()), to: .host)
        pair.feed(.input(.guest(.vote("s4"))), to: .guest)
        #expect(pair.votes(for: "s4", at: .host) == 1)
        pair.feed(.input(.host(.kick("Ana"))), to: .host)
        #expect(pair.present == [] && pair.notices(at: .host) == [])
        #expect(pair.notices(at: .guest).contains("kicked"))
    }

    @Test("a kick ends every link of a key, and keeps it out on every bearer")
    func kicked() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.joined(100, ana(pair)), to: .host)
        pair.feed(.input(.host(.kick("Ana"))), to: .host)
        #expect(pair.present == [] && pair.said[100]?.last == .ended(.refused(.banned)))
        #expect(pair.notices(at: .guest) == ["kicked"])
        pair.feed(vote("s4", 1, on: 100), to: .host)
        pair.feed(.joined(101, ana(pair)), to: .host)
        #expect(pair.said[101] == [.ended(.refused(.banned))])
        pair.feed(.input(.retry), to: .guest)
        pair.meet()
        #expect(pair.present == [] && pair.votes(for: "s4", at: .host) == 0)
    }

    @Test("a guest that was kicked on the page is refused by radio too, also after a restart of the host")
    func bannedBefore() throws {
        let id = ana(try PairOfCores()).id
        var pair = try PairOfCores(left: HostRecord(epoch: 1, banned: [id]))
        pair.meet()
        #expect(pair.present == [] && pair.notices(at: .guest).contains("kicked"))
        pair.feed(.joined(100, Peer(id: id, name: "Somebody")), to: .host)
        #expect(pair.said[100] == [.ended(.refused(.banned))])
    }

    @Test("guests are admitted up to the limit on all bearers, and one that leaves makes room")
    func full() throws {
        var pair = try PairOfCores()
        for number in 0..<Limits.vouchedGuests {
            pair.feed(.joined(100 + number, Peer(id: "p\(number)", name: "P\(number)")), to: .host)
        }
        pair.feed(.joined(200, mia), to: .host)
        #expect(pair.said[200] == [.ended(.refused(.full))])
        pair.meet()
        #expect(pair.present.count == Limits.vouchedGuests + 1, "the radio has places of its own")
        // A second link of a present guest uses no slot.
        pair.feed(.joined(201, Peer(id: "p0", name: "P0")), to: .host)
        #expect(pair.said[201]?.contains(.ended(.refused(.full))) == false)
        for link in [100, 201] { pair.feed(.left(link, .goodbye()), to: .host) }
        pair.feed(.joined(202, mia), to: .host)
        #expect(pair.present.contains("Mia"))
    }

    @Test("a new name is shown, and the end of the host is sent on every link")
    func nameAndEnd() throws {
        var pair = try PairOfCores()
        pair.feed(.joined(100, mia), to: .host)
        pair.feed(.joined(100, Peer(id: mia.id, name: "Mia M.")), to: .host)
        #expect(pair.present == ["Mia M."])
        pair.feed(.end, to: .host)
        #expect(pair.said[100]?.last == .ended(.goodbye(.stopped)))
    }
}
