// SPDX-License-Identifier: Apache-2.0

import Bearers
import DemocracyDJ
import Logging
import MeshNode
import MeshProtocol
import TestSupport
import Testing

/// A host and any number of guests on one virtual air.
private struct Party {
    let air: VirtualAir
    let identity = Identity.make()
    let host: MultipeerClient
    let heard: EventQueue<MultipeerEvent>

    var car: Peer { Peer(id: identity.peerID, name: "Dad's Car") }

    init(listens: Bool = true, logger: Logger = Logger(label: "roadmesh.client")) async throws {
        air = try VirtualAir(directory: newFolder())
        host = MultipeerClient(
            radio: try VirtualBearer(air: air, address: "car"), identity: identity, logger: logger)
        heard = EventQueue(listens ? host.events() : AsyncStream { nil })
        try await host.startHosting("Dad's Car")
    }

    struct Guest {
        let peer: Peer
        let client: MultipeerClient
        let events: EventQueue<MultipeerEvent>

        func connected() async throws -> Peer {
            try await events.first { if case .peerConnected(let peer) = $0 { peer } else { nil } }
        }

        func disconnected() async throws -> DisconnectedPeer {
            try await events.first { if case .peerDisconnected(let peer) = $0 { peer } else { nil } }
        }

        func message() async throws -> MeshMessage {
            try await events.first { if case .messageReceived(let message, _) = $0 { message } else { nil } }
        }
    }

    /// A guest that has heard the host.
    func guest(_ identity: Identity = .make(), name: String = "Santiago") async throws -> Guest {
        let radio = try VirtualBearer(air: air, address: "g\(UInt32.random(in: 0 ... .max))")
        let client = MultipeerClient(radio: radio, identity: identity)
        let guest = Guest(
            peer: Peer(id: identity.peerID, name: name), client: client, events: EventQueue(client.events()))
        try await client.startBrowsing(name)
        let heard = try await guest.events.first { event -> Peer? in
            if case .peerDiscovered(let peer) = event { peer } else { nil }
        }
        #expect(heard == Peer(id: Identity.head(of: car.id), name: "Dad's Car"))
        return guest
    }

    /// A guest that has joined.
    func member(_ identity: Identity = .make()) async throws -> Guest {
        let guest = try await guest(identity)
        try await guest.client.invite(car)
        #expect(try await guest.connected() == car)
        return guest
    }

    func intent(from peer: Peer) async throws -> MeshMessage {
        try await heard.first { event -> MeshMessage? in
            if case .messageReceived(let message, from: peer) = event { message } else { nil }
        }
    }

    func end(_ guests: Guest...) async {
        for guest in guests { await guest.client.stop() }
        await host.stop()
    }

    /// A radio that dials like a guest and then sends anything.
    func stranger(_ address: String) async throws -> any BearerChannel {
        let radio = try VirtualBearer(air: air, address: address)
        let events = EventQueue(radio.events)
        try await radio.open()
        try await radio.scan(for: ServiceType.democracyDJ.uuid)
        let endpoint = try await events.first { event -> BearerEndpoint? in
            if case .heard(let sighting) = event { sighting.endpoint } else { nil }
        }
        return try await radio.dial(endpoint)
    }
}

/// The log, for a test that reads it.
private struct LogLines: LogHandler {
    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]
    let sink: AsyncStream<String>.Continuation

    func log(event: LogEvent) { sink.yield("\(event.message)") }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }
}

private func vote(_ song: Song.ID) -> MeshMessage { .intent(.vote(songID: song)) }

private func queue(of count: Int) -> MeshMessage {
    let songs = (0..<count).map {
        Song(id: "s\($0)", title: "A song with a long name, number \($0)", artist: "The Milestones", duration: 200)
    }
    return .stateUpdate(
        HostSnapshot(
            epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, elapsed: 0,
            queue: songs.map { QueueItem(song: $0, addedBy: String(repeating: "0", count: 32)) }, connectedPeers: [],
            skipVoters: []))
}

/// One at a time: each watches folders for its radios, and the kernel allows a user 128 watches at once.
@Suite("Hosts and guests of an application that stores nothing", .serialized, .timeLimit(.minutes(5)))
struct MultipeerClientTests {
    @Test("a guest finds a host, is admitted without a prompt, and both can send messages")
    func talk() async throws {
        let party = try await Party()
        let ana = try await party.member()
        let joined = try await party.heard.first { event -> Peer? in
            if case .peerConnected(let peer) = event { peer } else { nil }
        }
        #expect(joined == ana.peer)
        try await ana.client.send(vote("s1"), to: party.car)
        #expect(try await party.intent(from: ana.peer) == vote("s1"))
        try await party.host.send(queue(of: 1), to: nil)
        #expect(try await ana.message() == queue(of: 1))
        await party.end(ana)
    }

    @Test("a state larger than an SDU arrives complete")
    func largeMessage() async throws {
        let party = try await Party()
        let ana = try await party.member()
        try #require(queue(of: 100).encoded.count > 2 * Limits.sduBytes)
        try await party.host.send(queue(of: 100), to: ana.peer)
        #expect(try await ana.message() == queue(of: 100))
        await party.end(ana)
    }

    @Test("a guest that leaves and a host that stops say goodbye")
    func goodbyes() async throws {
        let party = try await Party()
        let ana = try await party.member()
        let bob = try await party.member()
        await ana.client.stop()
        let gone = try await party.heard.first { event -> DisconnectedPeer? in
            if case .peerDisconnected(let peer) = event { peer } else { nil }
        }
        #expect(gone.peer == ana.peer && gone.reason == .goodbye)
        await party.host.stop()
        await party.heard.end()
        #expect(try await bob.disconnected().reason == .goodbye)
        await bob.client.stop()
        await bob.events.end()
    }

    @Test("a guest that comes back on a new link replaces its old one, and still gets the host's messages")
    func replaced() async throws {
        let party = try await Party()
        let identity = Identity.make()
        let ana = try await party.member(identity)
        let again = try await party.member(identity)
        let gone = try await party.heard.first { event -> DisconnectedPeer? in
            if case .peerDisconnected(let peer) = event { peer } else { nil }
        }
        #expect(gone.reason == .replaced)
        #expect(try await ana.disconnected().reason == .linkLost)
        try await party.host.send(queue(of: 2), to: nil)
        #expect(try await again.message() == queue(of: 2))
        await party.end(ana, again)
    }

    @Test("random bytes of a stranger close its own link, and do not affect the guests")
    func rubbish() async throws {
        let party = try await Party()
        let ana = try await party.member()
        for (number, rubbish) in [[0xFF, 0xFF, 0xFF], [0], [1], [1, 2], [4, 1, 0], [3, 9]].enumerated() {
            let stranger = try await party.stranger("s\(number)")
            try await stranger.send(rubbish.map { UInt8($0) })
            do {
                // An answer may come back; then the channel closes.
                while try await stranger.receive() != nil {}
            } catch {
                #expect(error.code == .channelLost)
            }
        }
        try await ana.client.send(vote("s1"), to: party.car)
        #expect(try await party.intent(from: ana.peer) == vote("s1"))
        await party.end(ana)
    }

    @Test("a listener that does not read delays the guests, and uses no more memory")
    func unreadEvents() async throws {
        let party = try await Party(listens: false)
        // The host admits Santiago without a listener, and then delays him.
        let guest = try await party.member()
        let count = 200
        for number in 0..<count {
            try await guest.client.send(vote("s\(number)" + String(repeating: "x", count: 60)), to: party.car)
        }
        let late = EventQueue(party.host.events())
        for number in 0..<count {
            let message = try await late.first { event -> MeshMessage? in
                if case .messageReceived(let message, _) = event { message } else { nil }
            }
            #expect(message == vote("s\(number)" + String(repeating: "x", count: 60)))
        }
        await party.end(guest)
    }

    @Test("an invitation to a peer that was never heard fails at once")
    func unknown() async throws {
        let party = try await Party()
        let ana = try await party.guest()
        await #expect(throws: MeshTransportError.self) {
            try await ana.client.invite(Peer(id: "0badc0de", name: "Nobody"))
        }
        await party.end(ana)
    }

    @Test("a message that cannot be delivered is reported as an event, and throws")
    func sendFailed() async throws {
        let party = try await Party()
        let nobody = Peer(id: "nobody", name: "Nobody")
        let error = SendError(.noLink, to: nobody)
        async let told = party.heard.first { event -> SendError? in
            if case .sendFailed(vote("s1"), let error) = event { error as? SendError } else { nil }
        }
        await #expect(throws: error) { try await party.host.send(vote("s1"), to: nobody) }
        #expect(try await told == error)
        await party.end()
    }

    @Test("a broadcast that is too long for a message is reported and logged for each guest, and throws")
    func broadcastFailed() async throws {
        let (stream, sink) = AsyncStream.makeStream(of: String.self)
        let lines = EventQueue(stream)
        let party = try await Party(logger: Logger(label: "test") { _ in LogLines(sink: sink) })
        let guests = [try await party.member(), try await party.member()]
        for _ in guests {
            _ = try await party.heard.first { event -> Peer? in
                if case .peerConnected(let peer) = event { peer } else { nil }
            }
        }
        let title = String(repeating: "x", count: Limits.messageBytes)
        let song = Song(id: "s1", title: title, artist: "The Milestones", duration: 200)
        let tooLong = MeshMessage.searchResults(SearchResults(number: 1, songs: [song]))
        await #expect(throws: SendError.self) { try await party.host.send(tooLong, to: nil) }
        let errors = Set(guests.map { SendError(.full, to: $0.peer) })
        var told: Set<SendError> = []
        var logged: Set<String> = []
        for _ in guests {
            let error = try await party.heard.first { event -> SendError? in
                if case .sendFailed(tooLong, let error) = event { error as? SendError } else { nil }
            }
            told.insert(error)
            logged.insert(try await lines.first { line -> String? in line.contains("not sent") ? line : nil })
        }
        #expect(told == errors)
        #expect(logged == Set(errors.map { "a message was not sent: \($0)" }))
        await party.end(guests[0], guests[1])
    }

    @Test("a stopped client cannot be used again, and a second stop does no harm")
    func stopped() async throws {
        let party = try await Party()
        await party.host.stop()
        await party.host.stop()
        await #expect(throws: MultipeerClient.StartError.used) { try await party.host.startHosting("Dad's Car") }
    }

    @Test("a dead zone loses the link, the pending dial reconnects, and a vote from the dead zone arrives once")
    func deadZone() async throws {
        let party = try await Party()
        let ana = try await party.member()
        try await ana.client.send(vote("s1"), to: party.car)
        #expect(try await party.intent(from: ana.peer) == vote("s1"))
        try party.air.cut()
        #expect(try await ana.disconnected().reason == .linkLost)
        try await ana.client.send(vote("s2"), to: party.car)
        async let dial: Void = ana.client.invite(party.car)
        party.air.heal()
        try await dial
        #expect(try await ana.connected() == party.car)
        #expect(try await party.intent(from: ana.peer) == vote("s2"))
        try await ana.client.send(vote("s3"), to: party.car)
        #expect(try await party.intent(from: ana.peer) == vote("s3"))
        await party.end(ana)
    }

    @Test("a host that is not the dialled one is left")
    func changedIdentity() async throws {
        let party = try await Party()
        let ana = try await party.guest()
        let other = Identity.head(of: party.car.id) + String(repeating: "0", count: 32 - Identity.headDigits)
        try await ana.client.invite(Peer(id: other, name: "Dad's Car"))
        #expect(try await ana.disconnected().id == other)
        await party.end(ana)
    }
}
