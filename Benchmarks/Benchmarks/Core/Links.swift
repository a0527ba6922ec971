// SPDX-License-Identifier: Apache-2.0

import DemocracyDJ
import MeshProtocol
import NodeCore

/// The protocols of two nodes on a link without latency.
struct LinkedPair {
    private var cores: [MeshCore]
    private let now = MeshInstant.zero

    init() {
        cores = (1...2).map { MeshCore(identity: identity($0), name: "Node \($0)", service: .democracyDJ) }
        let expected = cores[1].local.id
        perform(cores[1].opened(1, as: .responder, sendMTU: sdu, entropy: entropy(2), now: now), of: 1)
        perform(
            cores[0].opened(1, as: .initiator, sendMTU: sdu, expected: expected, entropy: entropy(1), now: now), of: 0)
    }

    /// The first node sends a message, and the second delivers and acknowledges it.
    mutating func say(_ body: [UInt8]) {
        let key = cores[0].key(cores[1].local.id, as: .initiator)
        perform(cores[0].send(body, as: .reliable, to: key).1, of: 0)
    }

    var unacknowledged: Int? { cores[0].conversation(on: 1)?.unacknowledged }

    private mutating func perform(_ actions: [MeshCore.Action], of side: Int) {
        for action in actions {
            switch action {
            case .wake(let id):
                while let (sdu, more) = cores[side].nextSDU(for: id, limit: sdu) {
                    perform(cores[1 - side].received(sdu, on: id, now: now), of: 1 - side)
                    perform(more, of: side)
                }
            case .tell(_, .received(let message)): perform(cores[side].accept(upTo: message), of: side)
            default: break
            }
        }
    }
}

/// A host, and guests that consist only of the protocol. The host's disk writes at once.
struct Party {
    private var host: NodeCore
    private var guests: [MeshCore]
    private var now = MeshInstant.zero
    /// Bytes sent to guests.
    private(set) var sentBytes = 0

    init(guests count: Int, songs: Int) {
        let list = (0...songs).map { song($0) }
        let car = identity(1)
        host = NodeCore(
            NodeCore.Configuration(
                .host(Hosting(SongLibrary(list), opens: songs, wallClockSeconds: 1)),
                NodeDescription(
                    role: .host, peer: Peer(id: car.peerID, name: "Car"), radio: "none", service: .democracyDJ),
                identity: car, contents: StoredNode(), origin: ContinuousClock().now, seed: 7))
        guests = (0..<count).map { MeshCore(identity: identity(2 + $0), name: "Guest \($0)", service: .democracyDJ) }
        feed(.started)
        for guest in guests.indices { link(guest) }
    }

    /// One of the guests votes for a song of the queue, or takes its vote back.
    mutating func vote(_ number: Int) {
        let (guest, round) = (number % guests.count, number / guests.count)
        let intent: GuestIntent = round.isMultiple(of: 2) ? .vote(songID: "s2") : .takeBackVote(songID: "s2")
        // Longer than the host delays votes.
        now += .milliseconds(200)
        let key = guests[guest].key(car, as: .initiator)
        take(guests[guest].send(MeshMessage.intent(intent).encoded, as: .reliable, to: key).1, of: guest)
    }

    /// Votes that the host has not acknowledged.
    var unacknowledged: Int {
        guests.indices.reduce(0) { $0 + (guests[$1].conversation(on: $1)?.unacknowledged ?? 0) }
    }

    private var car: Peer.ID { identity(1).peerID }

    private mutating func link(_ guest: Int) {
        feed(.opened(guest, NodeCore.Opening(.responder, sendMTU: sdu, entropy: entropy(guest))))
        take(
            guests[guest].opened(
                guest, as: .initiator, sendMTU: sdu, expected: car, entropy: entropy(guest + 100), now: now), of: guest)
    }

    private mutating func take(_ actions: [MeshCore.Action], of guest: Int) {
        for action in actions {
            switch action {
            case .wake(let id):
                while let (sdu, more) = guests[guest].nextSDU(for: id, limit: sdu) {
                    feed(.received(sdu, on: id))
                    take(more, of: guest)
                }
            case .tell(_, .received(let message)): take(guests[guest].accept(upTo: message), of: guest)
            default: break
            }
        }
    }

    private mutating func feed(_ event: NodeCore.Event) {
        for action in host.handle(event, now: now) { perform(action) }
    }

    private mutating func perform(_ action: NodeCore.Action) {
        switch action {
        case .write: feed(.written)
        case .wake(let id):
            while let (sdu, more) = host.nextSDU(for: id, limit: sdu, now: now) {
                sentBytes += sdu.count
                take(guests[id].received(sdu, on: id, now: now), of: id)
                for action in more { perform(action) }
            }
        default: break
        }
    }
}

private let sdu = Limits.sduBytes

/// The same identity for the same number.
func identity(_ number: Int) -> Identity {
    guard let identity = Identity(stored: [UInt8](repeating: UInt8(number), count: Identity.storedBytes)) else {
        fatalError("the key is invalid")
    }
    return identity
}

func song(_ number: Int) -> Song {
    Song(id: "s\(number)", title: "Song \(number) of the road", artist: "The Milestones", duration: 3_600)
}

private func entropy(_ number: Int) -> MeshCore.Entropy {
    MeshCore.Entropy((0..<MeshCore.Entropy.byteCount).map { UInt8(truncatingIfNeeded: number &* 31 &+ $0 &* 7 &+ 1) })
}
