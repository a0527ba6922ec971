// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import MeshSession
import NodeStore
import Testing

@testable import MeshNode

/// A host and a guest as structs, a radio that carries everything at once, and disks that do as a test says. No clock, no
/// socket and no file has a part in it.
struct PairOfCores {
    enum Side: Int, CaseIterable {
        case host, guest

        var other: Side { self == .host ? .guest : .host }
    }

    /// What a disk does with a write.
    enum Disk { case takes, refuses, hangs }

    private(set) var cores: [NodeCore]
    private(set) var shown: [[NodeEvent]] = [[], []]
    var disks: [Disk] = [.takes, .takes]
    /// What the host has said on links that a test vouches for.
    private(set) var said: [MeshCore.LinkID: [LocalLink.Event]] = [:]
    private(set) var now: MeshInstant = .zero
    private var hanging: [StoreBatch?] = [nil, nil]
    private var link = 0
    private var coming: [(NodeCore.Event, Side)] = []
    private var isFeeding = false
    private let head: Peer

    /// Two nodes without a past, but for whom the host has sent away before.
    init(banned: [Peer.ID] = []) throws {
        let songs = (1...5).map { Song(id: "s\($0)", title: "Song \($0)", artist: "A", duration: 3_600) }
        let car = try #require(Identity(stored: [UInt8](repeating: 1, count: Identity.storedBytes)))
        let ana = try #require(Identity(stored: [UInt8](repeating: 2, count: Identity.storedBytes)))
        head = Peer(id: Identity.head(of: car.peerID), name: "Car")
        let parts: [(NodeCore.Part, NodeDescription.Role, Identity, String)] = [
            (.host(Hosting(SongLibrary(songs), wallClockSeconds: 1_000)), .host, car, "Car"),
            (.guest(wanted: nil), .guest, ana, "Ana"),
        ]
        cores = parts.map { part, role, identity, name in
            let peer = Peer(id: identity.peerID, name: name)
            return NodeCore(
                NodeCore.Configuration(
                    part, NodeDescription(role: role, peer: peer, radio: "none", service: .democracyDJ),
                    identity: identity,
                    contents: StoredNode(host: banned.isEmpty ? nil : HostRecord(epoch: 1, banned: banned)),
                    origin: ContinuousClock().now, seed: 7
                ))
        }
        for side in Side.allCases { feed(.started, to: side) }
    }

    /// Gives a node an event, and then everybody what comes of it, in order.
    mutating func feed(_ event: NodeCore.Event, to side: Side) {
        coming.append((event, side))
        guard !isFeeding else { return }
        isFeeding = true
        while !coming.isEmpty {
            let (event, side) = coming.removeFirst()
            perform(cores[side.rawValue].handle(event, now: now), of: side)
        }
        isFeeding = false
    }

    /// The host is heard by the guest, which joins it.
    mutating func meet() { feed(.heard(head, rssi: nil, hops: 0, isUnderstood: true), to: .guest) }

    mutating func pass(_ time: Duration) {
        let end = now + time
        while let next = cores.compactMap(\.deadline).min(), next <= end {
            now = max(now, next)
            for side in Side.allCases where cores[side.rawValue].deadline.map({ $0 <= now }) == true {
                feed(.tick, to: side)
            }
        }
        now = end
    }

    /// A disk that hangs goes on.
    mutating func goOn(_ side: Side) {
        disks[side.rawValue] = .takes
        guard hanging[side.rawValue] != nil else { return }
        hanging[side.rawValue] = nil
        feed(.written, to: side)
    }

    private mutating func perform(_ actions: [NodeCore.Action], of side: Side) {
        for action in actions { perform(action, of: side) }
    }

    private mutating func perform(_ action: NodeCore.Action, of side: Side) {
        switch action {
        case .write(let batch):
            switch disks[side.rawValue] {
            case .takes: feed(.written, to: side)
            case .refuses: feed(.writeFailed(NodeStoreError(.diskFull, cause: "a test")), to: side)
            case .hangs: hanging[side.rawValue] = batch
            }
        case .dial(let number, _, _): open(number)
        case .wake(let id):
            while let (sdu, more) = cores[side.rawValue].nextSDU(for: id, limit: Limits.sduBytes, now: now) {
                feed(.received(sdu, on: id), to: side.other)
                perform(more, of: side)
            }
        case .close(let id, _): for end in Side.allCases { feed(.channelClosed(id), to: end) }
        case .show(let event): shown[side.rawValue].append(event)
        case .search(let request, let peer):
            let songs = cores[side.rawValue].library?.songs.filter { $0.title.contains(request.words) } ?? []
            feed(.found(SearchResults(number: request.number, songs: songs), for: peer), to: side)
        case .deliver(let message, let id): said[id, default: []].append(.message(message))
        case .acknowledge(let number, let id): said[id, default: []].append(.acknowledged(number))
        case .end(let id, let end): said[id, default: []].append(.ended(end))
        default: break
        }
    }

    private mutating func open(_ dial: Int) {
        link += 1
        func entropy(_ byte: UInt8) -> MeshCore.Entropy {
            MeshCore.Entropy([UInt8](repeating: byte, count: MeshCore.Entropy.byteCount))
        }
        feed(
            .opened(link, NodeCore.Opening(.responder, sendMTU: Limits.sduBytes, entropy: entropy(UInt8(2 * link)))),
            to: .host)
        feed(
            .opened(
                link,
                NodeCore.Opening(
                    .initiator, sendMTU: Limits.sduBytes, dial: dial, expected: head.id,
                    entropy: entropy(UInt8(2 * link + 1)))),
            to: .guest)
    }

    // MARK: What people see

    /// What was told of a guest's wishes, in order.
    var wishes: [WishState] {
        shown[Side.guest.rawValue].compactMap { if case .wish(_, _, let state) = $0 { state } else { nil } }
    }

    func votes(for songID: Song.ID, at side: Side) -> Int? {
        for case .snapshot(let state, isStale: false) in shown[side.rawValue].reversed() {
            return state.item(songID)?.votes
        }
        return nil
    }

    /// Who the host shows as being there.
    var present: [String] {
        for case .snapshot(let state, isStale: false) in shown[Side.host.rawValue].reversed() {
            return state.connectedPeers.map(\.name)
        }
        return []
    }

    func notices(at side: Side) -> [String] {
        shown[side.rawValue].compactMap { if case .notice(let notice) = $0 { notice.code } else { nil } }
    }

    func cleared(at side: Side) -> [String] {
        shown[side.rawValue].compactMap { if case .noticeCleared(let code) = $0 { code } else { nil } }
    }
}

@Suite("A node as a struct")
struct NodeCoreTests {
    @Test("a guest joins, sees the queue with the connection, votes, and the vote counts on both screens")
    func vote() throws {
        var pair = try PairOfCores()
        pair.meet()
        #expect(pair.votes(for: "s2", at: .guest) == 0, "the state came with the answer")
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        #expect(pair.wishes == [.queued, .sent, .confirmed])
        #expect(pair.votes(for: "s2", at: .host) == 1 && pair.votes(for: "s2", at: .guest) == 1)
    }

    @Test("the person at the host looks for songs, and what is found is shown there alone")
    func hostSearches() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.host(.search("Song 3"))), to: .host)
        let found = pair.shown.map { events in
            events.compactMap { event -> [String]? in
                if case .searchResults(let songs, "Song 3") = event { songs.map(\.id) } else { nil }
            }
        }
        #expect(found == [[["s3"]], []])
        pair.feed(.input(.host(.search(String(repeating: "x", count: DJLimits.searchBytes + 1)))), to: .host)
        #expect(pair.notices(at: .host) == ["searchTooLong"])
    }

    @Test("who retries where everything works is told so, and who has something to retry is not")
    func nothingToRetry() throws {
        var pair = try PairOfCores()
        pair.feed(.input(.retry), to: .guest)
        #expect(pair.notices(at: .guest) == [], "it looks for a host")
        pair.meet()
        for side in PairOfCores.Side.allCases { pair.feed(.input(.retry), to: side) }
        #expect(pair.notices(at: .guest) == ["nothingToRetry"] && pair.notices(at: .host) == ["nothingToRetry"])
        pair.feed(.radioFailed(.radioOff), to: .guest)
        pair.feed(.input(.retry), to: .guest)
        #expect(pair.notices(at: .guest) == ["nothingToRetry", "radioUnavailable"])
    }

    @Test("what a host's disk does not have yet is neither shown nor acknowledged, however long the disk takes")
    func slowDisk() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.pass(.seconds(3))
        #expect(pair.votes(for: "s2", at: .host) == 0 && pair.wishes == [.queued, .sent])
        #expect(pair.cores[0].hasRoom, "a vote that waits does not hold up the links")
        pair.goOn(.host)
        #expect(pair.votes(for: "s2", at: .host) == 1 && pair.wishes == [.queued, .sent, .confirmed])
    }

    @Test("pings go on while a disk hangs, and nobody is taken for dead")
    func linksGoOn() throws {
        var pair = try PairOfCores()
        pair.meet()
        for side in PairOfCores.Side.allCases { pair.disks[side.rawValue] = .hangs }
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.pass(.seconds(60))
        let isLost = pair.shown.joined().contains { if case .peerDisconnected = $0 { true } else { false } }
        #expect(!isLost)
    }

    @Test("a vote that the guest's disk refuses never leaves, and one with room again counts once")
    func refusedByTheGuest() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.guest.rawValue] = .refuses
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        #expect(pair.notices(at: .guest) == ["storageFull"] && pair.votes(for: "s2", at: .host) == 0)
        pair.disks[PairOfCores.Side.guest.rawValue] = .takes
        pair.pass(.seconds(5))
        #expect(pair.cleared(at: .guest) == ["storageFull"] && pair.votes(for: "s2", at: .host) == 0)
        pair.feed(.input(.guest(.vote("s3"))), to: .guest)
        #expect(pair.votes(for: "s3", at: .host) == 1)
    }

    @Test("a vote that the host's disk refuses waits unacknowledged, and counts once when there is room")
    func refusedByTheHost() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .refuses
        pair.feed(.input(.guest(.vote("s2"))), to: .guest)
        pair.feed(.input(.host(.skip)), to: .host)
        #expect(pair.notices(at: .host) == ["storageFull"])
        #expect(pair.votes(for: "s2", at: .guest) == 0, "the music goes on, the vote does not count yet")
        pair.disks[PairOfCores.Side.host.rawValue] = .takes
        pair.pass(.seconds(5))
        #expect(pair.votes(for: "s2", at: .host) == 1 && pair.votes(for: "s2", at: .guest) == 1)
        #expect(pair.wishes == [.queued, .sent, .confirmed])
    }

    @Test("a delivery that is told while the guest's disk refuses is not forgotten: a vote taken back is told to be")
    func deliveryDuringAnOutage() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        for wish in [GuestFeature.Event.vote("s2"), .takeBackVote("s2"), .vote("s3")] {
            pair.feed(.input(.guest(wish)), to: .guest)
        }
        // Deliveries come with a state that shows one of the votes, and the guest's disk is full just then.
        pair.disks[PairOfCores.Side.guest.rawValue] = .refuses
        pair.goOn(.host)
        pair.disks[PairOfCores.Side.guest.rawValue] = .takes
        pair.pass(.seconds(30))
        #expect(pair.votes(for: "s2", at: .host) == 0 && pair.votes(for: "s3", at: .host) == 1)
        let isTold = pair.shown[PairOfCores.Side.guest.rawValue].contains { event in
            if case .wish("s2", .takeBack, .confirmed) = event { true } else { false }
        }
        #expect(isTold)
    }

    @Test("a session that was ended begins anew, and a guest hears that it was")
    func ended() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.feed(.input(.end), to: .host)
        pair.feed(.end, to: .host)
        #expect(pair.notices(at: .guest) == ["hostEnded"])
    }

    @Test("what a person wants while a node hears a disk out waits in a bounded place, and the links go on")
    func bounded() throws {
        var pair = try PairOfCores()
        pair.meet()
        pair.disks[PairOfCores.Side.host.rawValue] = .hangs
        pair.feed(.input(.host(.skip)), to: .host)
        for _ in 0..<NodeLimits.waitingInputs { pair.feed(.input(.host(.pause)), to: .host) }
        #expect(!pair.cores[0].hasRoom && pair.cores[0].mayRead(1, now: pair.now))
        pair.goOn(.host)
        #expect(pair.cores[0].hasRoom && pair.cores[0].mayRead(1, now: pair.now))
    }
}
