// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import MeshNode
@testable import NodeCore

/// A host and a guest as structs, driven by their loops, a radio that delivers everything at once, and disks that a
/// test controls. It uses no clock, socket or file.
struct PairOfCores {
    enum Side: Int, CaseIterable {
        case host, guest

        var other: Side { self == .host ? .guest : .host }
    }

    /// The result of a write.
    enum Disk { case takes, refuses, hangs }

    private var loops: [NodeLoop]
    var cores: [NodeCore] { loops.map(\.core) }
    private(set) var shown: [[NodeEvent]] = [[], []]
    /// The content of their disks.
    private(set) var stored = [StoredNode(), StoredNode()]
    var disks: [Disk] = [.takes, .takes]
    /// The error of a disk that refuses.
    var diskError = NodeStoreError.Code.diskFull
    /// Why the host's radio refuses all guests.
    var refusal: RefusalReason?
    /// Whether a dial reaches the host.
    var isReachable = true
    /// The actions of the guest's and the host's cores.
    private(set) var performed: [[NodeCore.Action]] = [[], []]
    /// Events of the host on links that a test vouches for.
    private(set) var said: [MeshCore.LinkID: [LocalLink.Event]] = [:]
    private(set) var now: MeshInstant = .zero
    private var hanging: [StoreBatch?] = [nil, nil]
    private var link = 0
    private var coming: [(NodeCore.Event, Side)] = []
    private var isFeeding = false
    private let head: Peer
    private var configurations: [NodeCore.Configuration]

    /// `songs` is the number of songs in the library, and `opens` how many of them are queued automatically. `left` is
    /// the state of an earlier run of the host. `wanted` is the host that the guest must join, and `knownHosts` are
    /// those that it has joined.
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
        loops = configurations.map { NodeLoop($0, waking: .inOrder) }
        for side in Side.allCases { feed(.started, to: side) }
    }

    /// A node gets a page.
    mutating func showPage(of side: Side) { loops[side.rawValue].core.isShown(at: "http://127.0.0.1:1/", door: nil) }

    /// The host makes an invitation for one guest, with bytes like this one.
    mutating func invite(_ byte: UInt8) {
        var wish = InvitationWish(.once)
        wish.entropy = [UInt8](repeating: byte, count: InvitationWish.entropyBytes)
        feed(.input(.invite(wish)), to: .host)
    }

    /// Feeds an event to a node, and then all results to both nodes, in order.
    mutating func feed(_ event: NodeCore.Event, to side: Side) {
        coming.append((event, side))
        guard !isFeeding else { return }
        isFeeding = true
        while !coming.isEmpty {
            let (event, side) = coming.removeFirst()
            loops[side.rawValue].take(event, now: now)
            while let action = loops[side.rawValue].next(now: now, entropy: Self.entropy(0)) {
                perform(action, of: side)
            }
        }
        isFeeding = false
    }

    /// The guest hears the host and joins it. `name` is another advertised name.
    mutating func meet(as name: String? = nil) {
        let heard = Peer(id: head.id, name: name ?? head.name)
        feed(.heard(HeardNode(heard)), to: .guest)
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

    /// Switches a node off and on. It knows the content of its disk, unless that is lost.
    mutating func restart(_ side: Side, losingStore: Bool = false) throws {
        if losingStore { stored[side.rawValue] = StoredNode() }
        (hanging[side.rawValue], disks[side.rawValue]) = (nil, .takes)
        configurations[side.rawValue].contents = stored[side.rawValue]
        loops[side.rawValue] = NodeLoop(configurations[side.rawValue], waking: .inOrder)
        if link > 0 { feed(.channelClosed(link), to: side.other) }
        shown[side.rawValue] = []
    }

    /// Replaces the host in range with another device. Returns the former host, which keeps running.
    mutating func swap(host other: NodeCore) -> NodeCore {
        feed(.channelClosed(link), to: .host)
        let before = cores[Side.host.rawValue]
        loops[Side.host.rawValue].core = other
        for side in Side.allCases { feed(.channelClosed(link), to: side) }
        return before
    }

    /// A tunnel: the channel closes without a reason.
    mutating func loseLink() {
        isReachable = false
        for side in Side.allCases { feed(.channelClosed(link), to: side) }
    }

    /// Inputs from above a node's links.
    mutating func happen(_ happenings: [PendingEvent], to side: Side) {
        for happening in happenings { loops[side.rawValue].core.append(happening) }
        feed(.tick, to: side)
    }

    /// Links to these peers end without a reason. They went over this bearer.
    mutating func end(_ links: [(id: MeshCore.LinkID, peer: Peer)], over bearer: BearerKind, at side: Side) {
        for link in links {
            let opening = NodeCore.Opening(
                .responder, sendMTU: Limits.sduBytes, bearer: bearer,
                entropy: MeshCore.Entropy(Array(repeating: 9, count: MeshCore.Entropy.byteCount)))
            _ = loops[side.rawValue].core.handle(.opened(link.id, opening), now: now)
            loops[side.rawValue].core.change { _ in [.tell(link.id, .ended(link.peer, .linkLost))] }
        }
    }

    /// The guest gets the acknowledgement of one of its messages.
    mutating func acknowledge(upTo number: UInt64) {
        let key = cores[1].mesh.key(cores[0].mesh.local.id, as: .initiator)
        happen([.link(link, .acknowledged(upTo: number, in: key))], to: .guest)
    }

    /// The host sends a message to the guest, whatever its decision.
    mutating func say(_ message: MeshMessage) {
        let key = cores[0].mesh.key(cores[1].mesh.local.id, as: .responder)
        loops[0].core.change { mesh in
            guard case (.queued(let number), let actions) = mesh.send(message.encoded, as: .reliable, to: key) else {
                return []
            }
            return actions + mesh.stored(upTo: number, for: key)
        }
        feed(.tick, to: .host)
    }

    /// A disk that hangs finishes its write, and then does this with others.
    mutating func goOn(_ side: Side, then disk: Disk = .takes) {
        disks[side.rawValue] = disk
        guard let batch = hanging[side.rawValue] else { return }
        hanging[side.rawValue] = nil
        write(batch, to: side)
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
            while let sdu = loops[side.rawValue].nextSDU(for: id, limit: Limits.sduBytes, now: now) {
                feed(.received(sdu, on: id), to: side.other)
            }
        case .close(let id, _): for end in Side.allCases { feed(.channelClosed(id), to: end) }
        case .show(let event): shown[side.rawValue].append(event)
        case .search(let request, let peer):
            let songs =
                cores[side.rawValue].app.host?.library.songs.filter { $0.title.contains(request.query.words) } ?? []
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

    /// A dial reaches the host.
    mutating func open(_ dial: Int, expecting: Peer.ID? = nil) {
        link += 1
        feed(
            .opened(
                link,
                NodeCore.Opening(
                    .responder, sendMTU: Limits.sduBytes, refusal: refusal, entropy: Self.entropy(UInt8(2 * link)))),
            to: .host)
        feed(
            .opened(
                link,
                NodeCore.Opening(
                    .initiator, sendMTU: Limits.sduBytes, dial: dial, expected: expecting ?? head.id,
                    entropy: Self.entropy(UInt8(2 * link + 1)))),
            to: .guest)
    }

    private static func entropy(_ byte: UInt8) -> MeshCore.Entropy {
        MeshCore.Entropy([UInt8](repeating: byte, count: MeshCore.Entropy.byteCount))
    }

    /// Number of dials of a side.
    func dials(of side: Side) -> Int {
        performed[side.rawValue].count { if case .dial = $0 { true } else { false } }
    }

    // MARK: The view of people

    /// The reported states of a guest's wishes, in order.
    var wishes: [WishState] {
        shown[Side.guest.rawValue].compactMap { if case .wish(_, _, let state) = $0 { state } else { nil } }
    }

    func votes(for songID: Song.ID, at side: Side) -> Int? {
        for case .snapshot(let state, isStale: false) in shown[side.rawValue].reversed() {
            return state.item(songID)?.votes
        }
        return nil
    }

    /// The guests that the host shows as present.
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
