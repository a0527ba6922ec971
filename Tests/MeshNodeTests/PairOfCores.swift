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
    /// What their disks have.
    private(set) var stored = [StoredNode(), StoredNode()]
    var disks: [Disk] = [.takes, .takes]
    /// What a disk that refuses says.
    var diskError = NodeStoreError.Code.diskFull
    /// Why the host's radio takes nobody in.
    var refusal: RefusalReason?
    /// Whether a dial leads to the host.
    var isReachable = true
    /// What the guest's and the host's owners were asked for.
    private(set) var performed: [[NodeCore.Action]] = [[], []]
    /// What the host has said on links that a test vouches for.
    private(set) var said: [MeshCore.LinkID: [LocalLink.Event]] = [:]
    private(set) var now: MeshInstant = .zero
    private var hanging: [StoreBatch?] = [nil, nil]
    private var link = 0
    private var coming: [(NodeCore.Event, Side)] = []
    private var isFeeding = false
    private let head: Peer
    private var configurations: [NodeCore.Configuration]

    /// `songs` is how many the library has, `opens` how many of them are queued by themselves, and `left` what an earlier
    /// run of the host has left; `wanted` is whom the guest was told to join, and `knownHosts` are those that it has joined.
    init(
        songs count: Int = 5, title: String? = nil, opens: Int = DJLimits.openingSongs, left: HostRecord? = nil,
        setAside: String? = nil,
        wanted: String? = nil, joinsAny: Bool = false, knownHosts: [Peer] = []
    ) throws {
        let songs = (0..<count).map { $0 + 1 }.map {
            Song(id: "s\($0)", title: title ?? "Song \($0)", artist: "A", duration: 3_600)
        }
        let car = try #require(Identity(stored: [UInt8](repeating: 1, count: Identity.storedBytes)))
        let ana = try #require(Identity(stored: [UInt8](repeating: 2, count: Identity.storedBytes)))
        head = Peer(id: Identity.head(of: car.peerID), name: "Car")
        let parts: [(NodeCore.Part, NodeDescription.Role, Identity, String)] = [
            (.host(Hosting(SongLibrary(songs), opens: opens, wallClockSeconds: 1_000)), .host, car, "Car"),
            (.guest(wanted: wanted, joinsAny: joinsAny), .guest, ana, "Ana"),
        ]
        (stored[0].host, stored[1].knownHosts) = (left, knownHosts)
        configurations = parts.map { part, role, identity, name in
            let peer = Peer(id: identity.peerID, name: name)
            return NodeCore.Configuration(
                part, NodeDescription(role: role, peer: peer, radio: "none", service: .democracyDJ),
                identity: identity,
                contents: role == .host ? StoredNode(host: left) : StoredNode(knownHosts: knownHosts),
                setAside: setAside,
                origin: ContinuousClock().now, seed: 7)
        }
        cores = configurations.map { NodeCore($0) }
        for side in Side.allCases { feed(.started, to: side) }
    }

    /// A node has a page.
    mutating func showPage(of side: Side) { cores[side.rawValue].isShown(at: "http://127.0.0.1:1/", door: nil) }

    /// The host makes an invitation for one guest, of bytes like this one.
    mutating func invite(_ byte: UInt8) {
        var wish = InvitationWish(.once)
        wish.entropy = [UInt8](repeating: byte, count: InvitationWish.entropyBytes)
        feed(.input(.invite(wish)), to: .host)
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

    /// The host is heard by the guest, which joins it. `name` is another one that it advertises.
    mutating func meet(as name: String? = nil) {
        let heard = Peer(id: head.id, name: name ?? head.name)
        feed(.heard(heard, rssi: nil, hops: 0, isUnderstood: true), to: .guest)
    }

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

    /// A node's power goes, and comes back: it knows what its disk has, where that has not gone with it.
    mutating func restart(_ side: Side, losingStore: Bool = false) throws {
        if losingStore { stored[side.rawValue] = StoredNode() }
        (hanging[side.rawValue], disks[side.rawValue]) = (nil, .takes)
        configurations[side.rawValue].contents = stored[side.rawValue]
        cores[side.rawValue] = NodeCore(configurations[side.rawValue])
        if link > 0 { feed(.channelClosed(link), to: side.other) }
        shown[side.rawValue] = []
    }

    /// The guest is out of the host's reach, and in that of another device. Returns the host that was there, which goes on.
    mutating func swap(host other: NodeCore) -> NodeCore {
        feed(.channelClosed(link), to: .host)
        let before = cores[Side.host.rawValue]
        cores[Side.host.rawValue] = other
        for side in Side.allCases { feed(.channelClosed(link), to: side) }
        return before
    }

    /// The tunnel: the channel closes, and nobody says why.
    mutating func loseLink() {
        isReachable = false
        for side in Side.allCases { feed(.channelClosed(link), to: side) }
    }

    /// Something happens above a node's links.
    mutating func happen(_ happenings: [Happening], to side: Side) {
        for happening in happenings { cores[side.rawValue].waiting.append(happening) }
        feed(.tick, to: side)
    }

    /// The guest hears that the host has everything up to one of its messages.
    mutating func acknowledge(upTo number: UInt64) {
        let key = cores[1].context.key(of: cores[0].configuration.identity.peerID)
        happen([.link(link, .acknowledged(upTo: number, in: key))], to: .guest)
    }

    /// The host says something to the guest, whatever it has decided.
    mutating func say(_ message: MeshMessage) {
        let key = cores[0].context.key(of: cores[1].configuration.identity.peerID)
        guard
            case (.queued(let number), let actions) = cores[0].context.mesh.send(
                message.encoded, as: .reliable, to: key)
        else { return }
        let released = cores[0].context.mesh.stored(upTo: number, for: key)
        cores[0].apply(actions + released)
        feed(.tick, to: .host)
    }

    /// A disk that hangs goes on.
    mutating func goOn(_ side: Side) {
        disks[side.rawValue] = .takes
        guard let batch = hanging[side.rawValue] else { return }
        hanging[side.rawValue] = nil
        write(batch, to: side)
    }

    private mutating func perform(_ actions: [NodeCore.Action], of side: Side) {
        for action in actions { perform(action, of: side) }
    }

    private mutating func perform(_ action: NodeCore.Action, of side: Side) {
        performed[side.rawValue].append(action)
        switch action {
        case .write(let batch):
            switch disks[side.rawValue] {
            case .takes: write(batch, to: side)
            case .refuses: feed(.writeFailed(NodeStoreError(diskError, cause: "a test")), to: side)
            case .hangs: hanging[side.rawValue] = batch
            }
        case .dial(let number, _, let expecting): if isReachable { open(number, expecting: expecting) }
        case .wake(let id):
            while let (sdu, more) = cores[side.rawValue].nextSDU(for: id, limit: Limits.sduBytes, now: now) {
                feed(.received(sdu, on: id), to: side.other)
                perform(more, of: side)
            }
        case .close(let id, _): for end in Side.allCases { feed(.channelClosed(id), to: end) }
        case .show(let event): shown[side.rawValue].append(event)
        case .search(let request, let peer):
            let songs = cores[side.rawValue].library?.songs.filter { $0.title.contains(request.query.words) } ?? []
            feed(.found(SearchResults(number: request.number, songs: songs), for: peer), to: side)
        case .deliver(let message, let id): said[id, default: []].append(.message(message))
        case .acknowledge(let number, let id): said[id, default: []].append(.acknowledged(number))
        case .end(let id, let end): said[id, default: []].append(.ended(end))
        default: break
        }
    }

    private mutating func write(_ batch: StoreBatch, to side: Side) {
        do {
            try stored[side.rawValue].apply(batch)
        } catch {
            Issue.record(error)
        }
        feed(.written, to: side)
    }

    /// A dial leads to the host.
    mutating func open(_ dial: Int, expecting: Peer.ID? = nil) {
        link += 1
        func entropy(_ byte: UInt8) -> MeshCore.Entropy {
            MeshCore.Entropy([UInt8](repeating: byte, count: MeshCore.Entropy.byteCount))
        }
        feed(
            .opened(
                link,
                NodeCore.Opening(
                    .responder, sendMTU: Limits.sduBytes, refusal: refusal, entropy: entropy(UInt8(2 * link)))),
            to: .host)
        feed(
            .opened(
                link,
                NodeCore.Opening(
                    .initiator, sendMTU: Limits.sduBytes, dial: dial, expected: expecting ?? head.id,
                    entropy: entropy(UInt8(2 * link + 1)))),
            to: .guest)
    }

    /// How often a side has dialled.
    func dials(of side: Side) -> Int {
        performed[side.rawValue].count { if case .dial = $0 { true } else { false } }
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
