// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import Testing

@testable import MeshNode
@testable import NodeCore

/// A host as a struct, and guests that know the protocol but keep no rules: a test decides what they send. SDUs of the
/// host arrive at once, and those of guests when the host may read.
struct Crowd {
    struct Guest {
        var core: MeshCore
        var link: MeshCore.LinkID?
        /// SDUs that the host has not read yet.
        var outgoing: [[UInt8]] = []
        /// Messages of the host.
        var heard: [MeshMessage] = []
        /// The number of its last message that the host has stored.
        var acknowledged: UInt64 = 0
        var ends: [LinkEnd] = []

        var id: Peer.ID { core.local.id }

        /// Why the host refused its wishes.
        var refusals: [RejectionReason] {
            heard.compactMap { if case .rejection(_, let reason) = $0 { reason } else { nil } }
        }
    }

    enum Disk { case takes, refuses, hangs }

    private(set) var host: NodeCore
    var guests: [Guest] = []
    var disk = Disk.takes
    /// How long a write takes.
    var writeTime = Duration.zero
    private(set) var now: MeshInstant = .zero
    private(set) var shown: [NodeEvent] = []
    private(set) var writes = 0
    /// Events that the host has sent on links that a test vouches for, such as those of pages.
    private(set) var told: [MeshCore.LinkID: [LocalLink.Event]] = [:]
    /// How often the host was woken by its clock.
    private(set) var ticks = 0
    private var isWriting = false
    private var writtenAt: MeshInstant?
    private var lastLink = 0
    private var lastSaid: UInt64 = 0

    init(songs: Int = 5, pin: JoiningSecret? = nil) throws {
        let list = (1...songs).map { Song(id: "s\($0)", title: "Song \($0)", artist: "A", duration: 3_600) }
        let car = try #require(Identity(stored: [UInt8](repeating: 1, count: Identity.storedBytes)))
        host = NodeCore(
            NodeCore.Configuration(
                .host(Hosting(SongLibrary(list), pin: pin, wallClockSeconds: 1_000)),
                NodeDescription(
                    role: .host, peer: Peer(id: car.peerID, name: "Car"), radio: "none", service: .democracyDJ),
                identity: car, contents: StoredNode(), origin: ContinuousClock().now, seed: 7))
        feed(.started)
    }

    // MARK: Guests

    /// A guest joins with the identity of this seed, and proves its secret. Returns its index.
    @discardableResult
    mutating func join(_ seed: UInt8, name: String = "Eve", secret: JoiningSecret? = nil) throws -> Int {
        try add(seed, name: name)
        guests[guests.count - 1].core.secret = secret
        link(guests.count - 1)
        return guests.count - 1
    }

    /// Adds a guest with the identity of this seed, without a link.
    mutating func add(_ seed: UInt8, name: String) throws {
        let identity = try #require(Identity(stored: [UInt8](repeating: seed, count: Identity.storedBytes)))
        guests.append(Guest(core: MeshCore(identity: identity, name: name, service: .democracyDJ)))
    }

    /// A guest's channel opens, and the host reads it or waits.
    mutating func link(_ guest: Int, isRead: Bool = true) {
        lastLink += 1
        let id = lastLink
        guests[guest].link = id
        feed(.opened(id, NodeCore.Opening(.responder, sendMTU: Limits.sduBytes, entropy: entropy())))
        // The host may have closed it at once.
        guard guests[guest].link != nil else { return }
        let actions = guests[guest].core.opened(
            id, as: .initiator, sendMTU: Limits.sduBytes, expected: host.mesh.local.id, entropy: entropy(),
            now: now)
        take(actions, of: guest)
        if isRead { settle() }
    }

    /// The host reads one SDU of each guest in turn. False if there was none.
    @discardableResult
    mutating func readOnce() -> Bool {
        let ready = guests.indices.filter { mayBeRead($0) }
        for guest in ready where mayBeRead(guest) { read(guest) }
        return !ready.isEmpty
    }

    /// A guest sends an application message.
    mutating func say(_ message: MeshMessage, _ guest: Int) { say(message.encoded, guest) }

    mutating func say(_ body: [UInt8], _ guest: Int) {
        let key = guests[guest].core.key(host.mesh.local.id, as: .initiator)
        take(guests[guest].core.send(body, as: .reliable, to: key).1, of: guest)
    }

    /// A guest with a page sends a message.
    mutating func say(_ message: MeshMessage, on page: MeshCore.LinkID) {
        lastSaid += 1
        feed(.said(message, number: lastSaid, on: page))
    }

    /// A guest leaves without a goodbye.
    mutating func leave(_ guest: Int) {
        guard let id = guests[guest].link else { return }
        guests[guest].link = nil
        guests[guest].outgoing = []
        feed(.channelClosed(id))
        take(guests[guest].core.channelClosed(id), of: guest)
    }

    /// The host reads the SDUs that it may, of each guest in turn, until none is left.
    mutating func settle() {
        while let guest = guests.indices.first(where: { mayBeRead($0) }) { read(guest) }
    }

    func mayBeRead(_ guest: Int) -> Bool {
        guard let id = guests[guest].link, !guests[guest].outgoing.isEmpty else { return false }
        return host.mayRead(id, now: now)
    }

    /// The host reads one SDU.
    mutating func read(_ guest: Int) {
        guard let id = guests[guest].link else { return }
        feed(.received(guests[guest].outgoing.removeFirst(), on: id))
    }

    private mutating func take(_ actions: [MeshCore.Action], of guest: Int) {
        for action in actions {
            switch action {
            case .wake(let id):
                while let (sdu, more) = guests[guest].core.nextSDU(for: id, limit: Limits.sduBytes) {
                    guests[guest].outgoing.append(sdu)
                    take(more, of: guest)
                }
            case .tell(_, .received(let message)):
                if let content = MeshMessage(encoded: message.body) { guests[guest].heard.append(content) }
                take(guests[guest].core.accept(upTo: message), of: guest)
            case .tell(_, .acknowledged(let number, _)): guests[guest].acknowledged = number
            case .tell(_, .ended(_, let end)), .tell(_, .failed(_, _, let end)): guests[guest].ends.append(end)
            case .close(let id, _):
                guests[guest].link = nil
                guests[guest].outgoing = []
                feed(.channelClosed(id))
                take(guests[guest].core.channelClosed(id), of: guest)
            default: break
            }
        }
    }

    // MARK: The host

    mutating func feed(_ event: NodeCore.Event) { perform(host.handle(event, now: now)) }

    mutating func pass(_ time: Duration) {
        let end = now + time
        settle()
        while let next = [host.deadline, writtenAt].compactMap(\.self).min(), next <= end {
            now = max(now, next)
            if let written = writtenAt, written <= now {
                writtenAt = nil
                feed(.written)
            } else {
                ticks += 1
                feed(.tick)
            }
            settle()
        }
        now = end
    }

    /// A disk that hung continues.
    mutating func goOn() {
        disk = .takes
        while isWriting {
            isWriting = false
            feed(.written)
        }
        settle()
    }

    private mutating func perform(_ actions: [NodeCore.Action]) {
        for action in actions {
            switch action {
            case .write:
                writes += 1
                switch disk {
                case .takes where writeTime > .zero: writtenAt = now + writeTime
                case .takes: feed(.written)
                case .refuses: feed(.writeFailed(NodeStoreError(.diskFull, cause: "a test")))
                case .hangs: isWriting = true
                }
            case .wake(let id):
                while let (sdu, more) = host.nextSDU(for: id, limit: Limits.sduBytes, now: now) {
                    if let guest = guests.firstIndex(where: { $0.link == id }) {
                        take(guests[guest].core.received(sdu, on: id, now: now), of: guest)
                    }
                    perform(more)
                }
            case .close(let id, _):
                feed(.channelClosed(id))
                if let guest = guests.firstIndex(where: { $0.link == id }) {
                    guests[guest].link = nil
                    guests[guest].outgoing = []
                    take(guests[guest].core.channelClosed(id), of: guest)
                }
            case .show(let event): shown.append(event)
            case .deliver(let message, let id): told[id, default: []].append(.message(message))
            case .acknowledge(let number, let id): told[id, default: []].append(.acknowledged(number))
            case .end(let id, let end): told[id, default: []].append(.ended(end))
            default: break
            }
        }
    }

    private func entropy() -> MeshCore.Entropy {
        MeshCore.Entropy(
            (0..<MeshCore.Entropy.byteCount).map { place in
                UInt8(truncatingIfNeeded: lastLink &* 31 &+ place &* 7 &+ guests.count &+ Int(now / .milliseconds(1)))
            })
    }

    // MARK: The view of people

    func votes(for songID: Song.ID) -> Int? { states.last?.item(songID)?.votes }

    /// The acknowledged messages of a page, by number.
    func acknowledged(on page: MeshCore.LinkID) -> [UInt64] {
        (told[page] ?? []).compactMap { if case .acknowledged(let number) = $0 { number } else { nil } }
    }

    /// Why the host refused a page's wishes.
    func refusals(on page: MeshCore.LinkID) -> [RejectionReason] {
        (told[page] ?? []).compactMap { if case .message(.rejection(_, let reason)) = $0 { reason } else { nil } }
    }

    /// All states that were shown.
    var states: [HostSnapshot] {
        shown.compactMap { if case .snapshot(let state, isStale: false) = $0 { state } else { nil } }
    }

    var notices: [String] { shown.compactMap { if case .notice(let notice) = $0 { notice.code } else { nil } } }
}
