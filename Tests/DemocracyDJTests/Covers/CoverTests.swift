// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import DemocracyDJ

@Suite("Covers over the air")
struct CoverTests {
    private static let picture = (0..<2_500).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    private static func cover(_ bytes: [UInt8] = picture, version: UInt32 = 5) throws -> SmallCover {
        try #require(SmallCover(bytes, version: version))
    }

    /// A host and a guest; every piece arrives at once.
    private struct Pair {
        var server = CoverServer()
        var client = CoverClient()
        var covers: [Song.ID: SmallCover] = [:]
        var now: MeshInstant = .zero
        var kept: [Song.ID: [UInt8]] = [:]
        var asked: [CoverRequest] = []
        var sent: [(piece: CoverPiece, at: MeshInstant)] = []
        var isReachable = true

        mutating func shows(_ songs: [Song.ID], of host: Peer.ID? = "car", isIdle: Bool = true) {
            perform(client.handle(.shows(songs, of: host, isIdle: isIdle), now: now))
        }

        mutating func perform(_ actions: [CoverClient.Action]) {
            for action in actions {
                switch action {
                case .ask(let request):
                    asked.append(request)
                    guard isReachable else { continue }
                    perform(server.handle(.asked(request, by: "ana", isOnView: true), now: now))
                case .keep(let songID, let bytes): kept[songID] = bytes
                }
            }
        }

        mutating func perform(_ actions: [CoverServer.Action]) {
            for action in actions {
                switch action {
                case .make(let songID): perform(server.handle(.made(songID, covers[songID]), now: now))
                case .send(let piece, _):
                    sent.append((piece, now))
                    perform(client.handle(.arrived(piece), now: now))
                }
            }
        }

        mutating func pass(_ time: Duration) {
            let end = now + time
            while true {
                let due = [server.deadline(now: now), client.deadline].compactMap(\.self).min()
                guard let due, due <= end else { break }
                now = max(now, due)
                perform(server.handle(.tick, now: now))
                perform(client.handle(.tick, now: now))
            }
            now = end
        }
    }

    @Test("a guest gets the cover of the current song, then of the next one, piece by piece")
    func whole() throws {
        var pair = Pair()
        pair.covers = ["a": try Self.cover(), "b": try Self.cover([9, 9], version: 6)]
        pair.shows(["a", "b"])
        pair.pass(.seconds(2))
        #expect(pair.kept == ["a": Self.picture, "b": [9, 9]])
        #expect(pair.asked.map(\.from) == [0, 1_024, 2_048, 0])
        #expect(pair.sent.allSatisfy { $0.piece.bytes.count <= DJLimits.coverPieceBytes })
        // And it does not ask again.
        pair.shows(["b", "a"])
        pair.pass(.seconds(1_000))
        #expect(pair.asked.count == 4)
    }

    @Test("while more important messages wait no cover is requested, and afterwards the download continues")
    func idle() throws {
        var pair = Pair()
        pair.covers["a"] = try Self.cover()
        pair.shows(["a"], isIdle: false)
        pair.pass(.seconds(60))
        #expect(pair.asked.isEmpty)
        pair.isReachable = false
        pair.shows(["a"])
        #expect(pair.asked == [CoverRequest(songID: "a")])
        // A tunnel, after the first piece.
        let first = CoverPiece(of: try Self.cover(), for: CoverRequest(songID: "a"))
        pair.perform(pair.client.handle(.arrived(first), now: pair.now))
        pair.perform(pair.client.handle(.linkLost, now: pair.now))
        pair.isReachable = true
        pair.shows(["a"])
        pair.pass(.seconds(1))
        #expect(pair.asked.last?.from == 2_048 && pair.asked.allSatisfy { $0.from > 0 || $0.version == 0 })
        #expect(pair.kept["a"] == Self.picture)
    }

    @Test("covers of another host are different ones")
    func otherHost() throws {
        var pair = Pair()
        pair.covers["a"] = try Self.cover()
        pair.shows(["a"])
        pair.pass(.seconds(1))
        pair.covers["a"] = try Self.cover([1], version: 9)
        _ = pair.server.handle(.changed("a"), now: pair.now)
        pair.shows(["a"], of: "bus")
        pair.pass(.seconds(1))
        #expect(pair.kept["a"] == [1])
    }

    @Test("a song without a cover is requested less and less often")
    func none() {
        var pair = Pair()
        pair.shows(["a"])
        pair.pass(.seconds(1_000))
        #expect(pair.asked.count == 5, "after 0, 60, 180, 420 and 740 s")
        #expect(pair.kept.isEmpty)
    }

    @Test("songs without covers leave a link idle")
    func calm() {
        var pair = Pair()
        pair.shows(["a", "b", "c", "d", "e", "f"])
        #expect(pair.asked.count == 6)
        pair.pass(.seconds(59))
        #expect(pair.asked.count == 6)
        pair.pass(.seconds(2))
        #expect(pair.asked.count == 12)
    }

    @Test("a host that sends nothing, or other data, is not asked forever")
    func silence() throws {
        var pair = Pair()
        pair.isReachable = false
        pair.shows(["a"])
        pair.pass(.seconds(1_000))
        #expect(pair.asked.count <= 9)
        var client = CoverClient()
        _ = client.handle(.shows(["a"], of: "car", isIdle: true), now: .zero)
        var questions = 1
        // Another picture with each piece.
        for version in UInt32(1)...100 {
            let piece = CoverPiece(songID: "a", version: version, from: 0, total: 9_000, bytes: [1])
            questions += client.handle(.arrived(piece), now: .zero).count
        }
        #expect(questions <= 2 + DJLimits.coverRestarts)
    }

    @Test("pieces that do not fit are dropped", arguments: [(5, 1_025, 2_500), (6, 1_024, 2_500), (5, 1_024, 2_501)])
    func misfits(_ misfit: (version: UInt32, from: Int, total: Int)) throws {
        var client = CoverClient()
        _ = client.handle(.shows(["a"], of: "car", isIdle: true), now: .zero)
        let first = CoverPiece(of: try Self.cover(), for: CoverRequest(songID: "a"))
        _ = client.handle(.arrived(first), now: .zero)
        let wrong = CoverPiece(songID: "a", version: misfit.version, from: misfit.from, total: misfit.total, bytes: [1])
        #expect(client.handle(.arrived(wrong), now: .zero).isEmpty)
        // Unrequested pieces are also dropped.
        #expect(client.handle(.arrived(first), now: .zero).isEmpty)
    }

    @Test("all guests together get a limited number of pieces per second, in turn")
    func pace() throws {
        var server = CoverServer()
        let guests = (0..<16).map { "guest\($0)" }
        _ = server.handle(.asked(CoverRequest(songID: "a"), by: "first", isOnView: true), now: .zero)
        _ = server.handle(.made("a", try Self.cover()), now: .zero)
        var now: MeshInstant = .seconds(10)
        var served: [Peer.ID: Int] = [:]
        var waiting = Set<Peer.ID>()
        while now < .seconds(20) {
            var actions: [CoverServer.Action] = []
            for guest in guests where !waiting.contains(guest) {
                waiting.insert(guest)
                actions += server.handle(.asked(CoverRequest(songID: "a"), by: guest, isOnView: true), now: now)
            }
            now += .milliseconds(10)
            actions += server.handle(.tick, now: now)
            for case .send(_, let guest) in actions {
                waiting.remove(guest)
                served[guest, default: 0] += 1
            }
        }
        let all = served.values.reduce(0, +)
        #expect((190...220).contains(all))
        #expect(served.count == 16 && (served.values.max() ?? 0) - (served.values.min() ?? 0) <= 1)
    }

    @Test("while the queue changes no guest gets a piece")
    func changes() throws {
        var server = CoverServer()
        let asked = CoverServer.Event.asked(CoverRequest(songID: "a"), by: "ana", isOnView: true)
        _ = server.handle(asked, now: .zero)
        for tenth in 0..<20 {
            #expect(server.handle(.stateChanged, now: .milliseconds(100 * tenth)).isEmpty)
            if tenth == 3 { #expect(server.handle(.made("a", try Self.cover()), now: .milliseconds(300)).isEmpty) }
        }
        let due = try #require(server.deadline(now: .milliseconds(1_900)))
        #expect(due == .milliseconds(1_900) + DJLimits.coverRest)
        #expect(server.handle(.tick, now: due).count == 1)
    }

    @Test("requests for songs that are not shown cause no work for a host")
    func notOnView() {
        var server = CoverServer()
        for number in 0..<1_000 {
            let asked = CoverRequest(songID: "s\(number)")
            let actions = server.handle(.asked(asked, by: "mallory", isOnView: false), now: .zero)
            #expect(actions == [.send(.none("s\(number)"), to: "mallory")])
        }
        #expect(server.deadline(now: .zero) == nil)
    }

    @Test("a cover that arrives late or changes is made again")
    func changed() throws {
        var server = CoverServer()
        let asked = CoverServer.Event.asked(CoverRequest(songID: "a"), by: "ana", isOnView: true)
        #expect(server.handle(asked, now: .zero) == [.make("a")])
        // While it is being made.
        #expect(server.handle(.changed("a"), now: .zero).isEmpty)
        #expect(server.handle(.made("a", nil), now: .zero) == [.make("a")])
        let piece = CoverPiece(of: try Self.cover(), for: CoverRequest(songID: "a"))
        #expect(server.handle(.made("a", try Self.cover()), now: .zero) == [.send(piece, to: "ana")])
        // And afterwards.
        _ = server.handle(.changed("a"), now: .zero)
        #expect(server.handle(asked, now: .zero) == [.make("a")])
    }

    @Test("an update is sent before a piece, and a piece waits for the data in transit")
    func behindUpdates() throws {
        let host = FullCar.host()
        let ana = FullCar.guests[0].id
        var feed = StateFeed(host.snapshot)
        let piece = CoverPiece(of: try Self.cover(), for: CoverRequest(songID: "s1"))
        _ = feed.handle(.guestConnected(ana))
        #expect(feed.handle(.covered(piece, for: ana)).isEmpty)
        let results = SearchResults(number: 1, songs: [])
        #expect(feed.handle(.answered(results, for: ana)).isEmpty)
        #expect(feed.handle(.updateHasLeft(ana)) == [.send(.searchResults(results), to: ana)])
        #expect(feed.handle(.updateHasLeft(ana)) == [.send(.coverPiece(piece), to: ana)])
        #expect(feed.handle(.updateHasLeft(ana)).isEmpty)
    }

    @Test("messages beyond the limits are not accepted")
    func limits() {
        let tooLong = [UInt8](repeating: 1, count: DJLimits.coverPieceBytes + 1)
        let bad = [
            CoverPiece(songID: "a", version: 1, from: 0, total: 5, bytes: []),
            CoverPiece(songID: "a", version: 1, from: 4, total: 5, bytes: [1, 2]),
            CoverPiece(songID: "a", version: 1, from: 0, total: DJLimits.coverBytes + 1, bytes: [1]),
            CoverPiece(songID: "a", version: 1, from: 0, total: 9_000, bytes: tooLong),
            CoverPiece(songID: "", version: 1, from: 0, total: 5, bytes: [1]),
        ]
        for piece in bad { #expect(MeshMessage(encoded: MeshMessage.coverPiece(piece).encoded) == nil) }
        let request = CoverRequest(songID: "a", version: 1, from: DJLimits.coverBytes)
        #expect(MeshMessage(encoded: MeshMessage.coverRequest(request).encoded) == nil)
        #expect(SmallCover([UInt8](repeating: 1, count: DJLimits.coverBytes + 1), version: 1) == nil)
    }
}
