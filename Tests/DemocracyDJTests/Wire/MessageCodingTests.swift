// SPDX-License-Identifier: Apache-2.0

import MeshProtocol
import Testing

@testable import DemocracyDJ

@Suite("Messages as bytes")
struct MessageCodingTests {
    private var someMessages: [MeshMessage] {
        var dice = Dice(seed: 1)
        let state = RandomState.any(1, using: &dice)
        let next = RandomState.any(9, using: &dice)
        let change = HostChange(from: state, to: next)
        return [
            .intent(.vote(songID: "s1")), .intent(.suggestSong(songID: "s2")), .stateUpdate(state),
            .stateUpdate(next), .rejection(.vote(songID: "s1"), .queueFull),
            .rejection(.suggestSong(songID: "ä"), .unknownSong), .stateRequest,
            .intent(.takeBackVote(songID: "s3")), .intent(.skip(songID: "s4")),
            .rejection(.skip(songID: "s4"), .notPlaying),
            .stateHeartbeat(epoch: .max, revision: .max), .search(SearchRequest(number: 1, words: "blå himmel")),
            .search(SearchRequest(number: .max, words: "", asksForState: true)),
            .searchResults(SearchResults(number: 1, songs: Array(RandomState.songs.prefix(DJLimits.searchResults)))),
            .searchResults(SearchResults(number: 2, songs: [])),
            .search(SearchRequest(number: 3, query: SongQuery("s1", on: .album, from: 40), asksForState: true)),
            .searchResults(
                SearchResults(
                    number: 3,
                    found: FoundSongs(
                        groups: [SongGroup(id: "s1", name: "Open Road", artist: "Ana", songs: 12)], total: 70,
                        lookedFor: "queen"))),
            .searchResults(
                SearchResults(
                    number: 5,
                    found: FoundSongs(
                        artists: [SongGroup(id: "s1", name: "Ana", songs: 12)],
                        albums: [SongGroup(id: "s1", name: "Open Road", artist: "Ana", songs: 3)], total: 12))),
            .searchResults(SearchResults(number: 4, found: FoundSongs([]), refused: .tooFast)),
        ] + [change].compactMap(\.self).map(MeshMessage.stateChange)
    }

    @Test("an encoded message is decoded unchanged")
    func roundTrip() {
        #expect(someMessages.count == 20)
        for message in someMessages { #expect(MeshMessage(encoded: message.encoded) == message) }
    }

    @Test("every reason of a rejection is decoded", arguments: RejectionReason.allCases)
    func reasons(reason: RejectionReason) {
        let message = MeshMessage.rejection(.vote(songID: "s1"), reason)
        #expect(MeshMessage(encoded: message.encoded) == message)
    }

    @Test("random states are decoded unchanged")
    func randomStates() {
        var dice = Dice(seed: 2)
        for revision in 1...200 {
            let message = MeshMessage.stateUpdate(RandomState.any(UInt64(revision), using: &dice))
            #expect(MeshMessage(encoded: message.encoded) == message)
        }
    }

    @Test("the size of an encoded state equals the size that is computed without encoding")
    func countedBytes() {
        var dice = Dice(seed: 4)
        var states = [FullCar.host().snapshot, FullBus.host().snapshot, RandomState.any(1, using: &dice)]
        for step in 0..<200 {
            let state = states[states.count - 1]
            states.append(
                step.isMultiple(of: 10)
                    ? RandomState.any(state.revision + 1, using: &dice) : RandomState.next(state, using: &dice))
        }
        for state in states {
            let bytes = MeshMessage.stateUpdate(state).encoded.count
            #expect(state.leastBytes <= bytes && bytes <= state.mostBytes, "\(bytes) bytes")
        }
    }

    @Test("a vote is small on the air")
    func voteSize() {
        #expect(MeshMessage.intent(.vote(songID: "0123456789abcdef")).encoded.count <= 24)
    }

    @Test("an identifier in another form than 32 lowercase digits is decoded unchanged")
    func oddIdentifiers() {
        let odd = ["x", String(repeating: "A", count: 32), String(repeating: "a", count: 32), "ä/ö", "0123"]
        var state = HostSnapshot(
            epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, queue: [],
            connectedPeers: odd.map { Peer(id: $0, name: "") })
        state.queue = [QueueItem(song: Example.songs[0], addedBy: odd[1], voters: odd.reversed())]
        #expect(MeshMessage(encoded: MeshMessage.stateUpdate(state).encoded) == .stateUpdate(state))
    }

    @Test("a snapshot always fits a message: songs at the end of the queue are left out")
    func tooLarge() throws {
        let text = String(repeating: "x", count: DJLimits.songTextBytes)
        var large = HostSnapshot(
            epoch: .max, revision: .max, nowPlaying: nil, isPlaying: false, queue: [], connectedPeers: [])
        large.queue = (0..<DJLimits.queuedSongs).map { song in
            QueueItem(
                song: Song(id: "\(song)", title: text, artist: text, duration: 1), addedBy: "host",
                voters: (0..<50).map { RandomState.identifier(song * 30 + $0) })
        }
        let bytes = MeshMessage.stateUpdate(large).encoded
        #expect(bytes.count <= DJLimits.messageBytes)
        guard case .stateUpdate(let arrived) = try #require(MeshMessage(encoded: bytes)) else {
            Issue.record("no state update")
            return
        }
        #expect(!arrived.queue.isEmpty)
        #expect(arrived.queue == Array(large.queue.prefix(arrived.queue.count)))
    }

    /// A state with the maximum number of guests, who all want to skip the song.
    private var crowded: HostSnapshot {
        var state = HostSnapshot(
            epoch: 1, revision: 1, nowPlaying: nil, isPlaying: false, queue: FullCar.host().snapshot.queue,
            connectedPeers: [])
        state.connectedPeers = (0..<DJLimits.connectedPeers).map {
            Peer(id: RandomState.identifier($0), name: "Guest number \($0)")
        }
        state.skipVoters = state.connectedPeers.map(\.id)
        return state
    }

    @Test("with a thousand guests each gets their number, and the names of a hundred")
    func crowd() throws {
        var (state, before) = (crowded, crowded)
        before.connectedPeers = []
        before.skipVoters = []
        state.revision = 2
        let told = state.fitted
        #expect(told.connectedPeers == Array(state.connectedPeers.prefix(DJLimits.namedGuests)))
        #expect(told.guestCount == state.connectedPeers.count)
        #expect(told.skipVoters == state.skipVoters)
        #expect(told.fitted == told)
        let whole = MeshMessage.stateUpdate(state).encoded
        #expect(whole.count <= DJLimits.messageBytes)
        #expect(MeshMessage(encoded: whole) == .stateUpdate(told))
        let change = MeshMessage.stateChange(try #require(HostChange(from: before, to: told)))
        guard case .stateChange(let arrived) = try #require(MeshMessage(encoded: change.encoded)) else {
            Issue.record("no change")
            return
        }
        #expect(before.applying(arrived) == told)
    }

    @Test("in a crowd the named guests include co-hosts and those that have suggested a song")
    func namedFirst() throws {
        var state = crowded
        let (driver, asker) = (state.connectedPeers[900], state.connectedPeers[700])
        state.drivers = [driver.id]
        state.queue = [QueueItem(song: Example.songs[0], addedBy: asker.id)]
        let told = state.fitted.connectedPeers
        #expect(told.count == DJLimits.namedGuests)
        #expect(told == Array(state.connectedPeers.prefix(DJLimits.namedGuests - 2)) + [asker, driver])
    }

    @Test("one more guest in a crowd is a change of a few bytes")
    func oneMore() throws {
        var state = crowded
        state.skipVoters = []
        let last = state.connectedPeers.removeLast()
        let before = state.fitted
        state.connectedPeers.append(last)
        state.revision = 2
        let change = try #require(HostChange(from: before, to: state.fitted))
        #expect(MeshMessage.stateChange(change).encoded.count < 20)
        #expect(before.applying(change)?.guestCount == DJLimits.connectedPeers)
    }

    @Test("an impossible number of guests is refused")
    func tooManyGuests() {
        var state = crowded.fitted
        state.unnamedGuests = DJLimits.connectedPeers + 1
        #expect(!state.isWithinLimits)
        state.unnamedGuests = -1
        #expect(!state.isWithinLimits)
    }

    @Test(
        "a song's length is exact to the millisecond, and an invalid number is not a length",
        arguments: [(214.1234, 214.123), (.nan, 0), (-1, 0), (.infinity, DJLimits.songSeconds)] as [(Double, Double)])
    func durations(told: Double, heard: Double) {
        var wire = WireSong(Song(id: "s", title: "", artist: "", duration: told))
        #expect(Song(wire).duration == heard)
        wire.milliseconds = .max
        #expect(!Song(wire).isWithinLimits)
    }
}

@Suite("Messages of strangers")
struct StrangeMessageTests {
    private func decoded(_ make: (inout WireSnapshot) -> Void) throws -> MeshMessage? {
        var envelope = WireEnvelope()
        envelope.snapshot = WireSnapshot(
            HostSnapshot(
                epoch: 1, revision: 1,
                nowPlaying: QueueItem(song: Example.songs[0], addedBy: "host", voters: ["ana"]), isPlaying: true,
                queue: [QueueItem(song: Example.songs[1], addedBy: "host", voters: ["ana"])],
                connectedPeers: [Example.ana], skipVoters: ["ana"]))
        make(&envelope.snapshot)
        let bytes: [UInt8] = try envelope.serializedBytes()
        return MeshMessage(encoded: bytes)
    }

    @Test("a state beyond any limit is invalid, and one within the limits is valid")
    func limits() throws {
        let long = String(repeating: "x", count: 3_000)
        #expect(try decoded { _ in } != nil)
        #expect(try decoded { $0.nowPlaying.song.title = String(long.prefix(DJLimits.songTextBytes)) } != nil)
        let wrong: [(inout WireSnapshot) -> Void] = [
            { $0.nowPlaying.song.title = String(long.prefix(DJLimits.songTextBytes + 1)) },
            { $0.nowPlaying.song.artist = long },
            { $0.nowPlaying.song.albumArtURL = long },
            { $0.nowPlaying.song.milliseconds = .max },
            { $0.nowPlaying.addedBy = 9 },
            { $0.nowPlaying.voters = [0, 0] },
            { $0.skipVoters = [9] },
            { $0.skipVoters = [0, 0] },
            { $0.queue[0].song.id = "" },
            { $0.queue[0].song.id = String(long.prefix(DJLimits.songIDBytes + 1)) },
            { $0.queue[0].song = WireSong() },
            { $0.queue[0].addedBy = 9 },
            { $0.queue[0].voters = [.max] },
            { $0.queue[0].voters = [0, 0] },
            { $0.queue.append($0.queue[0]) },
            { $0.queue = (0...DJLimits.queuedSongs).map { [item = $0.queue[0]] _ in item } },
            { $0.guests[0].peer = 9 },
            { $0.guests[0].name = String(long.prefix(Limits.nameBytes + 1)) },
            { $0.guests.append($0.guests[0]) },
            { $0.peers = .init([1, 2, 3]) },
            { $0.otherPeers[0] = "" },
            { $0.otherPeers[0] = String(long.prefix(Limits.peerIDBytes + 1)) },
        ]
        for (number, make) in wrong.enumerated() { #expect(try decoded(make) == nil, "number \(number)") }
    }

    @Test("a wish without a song, or an unknown reason, is invalid")
    func intents() throws {
        var envelope = WireEnvelope()
        for songID in ["", String(repeating: "x", count: DJLimits.songIDBytes + 1)] {
            envelope.intent.vote = songID
            #expect(MeshMessage(encoded: try envelope.serializedBytes() as [UInt8]) == nil)
        }
        envelope.intent = WireIntent()
        #expect(MeshMessage(encoded: try envelope.serializedBytes() as [UInt8]) == nil)
        envelope.rejection.intent.vote = "s1"
        for reason in [WireReason.unspecified, .UNRECOGNIZED(77)] {
            envelope.rejection.reason = reason
            #expect(MeshMessage(encoded: try envelope.serializedBytes() as [UInt8]) == nil)
        }
    }

    @Test("a field of a later version is ignored")
    func unknownFields() {
        // Field 100, a varint, in the envelope; and field 9 in the intent.
        let known = MeshMessage.intent(.vote(songID: "s1"))
        #expect(MeshMessage(encoded: known.encoded + [0xA0, 0x06, 0x01]) == known)
        #expect(MeshMessage(encoded: [0x0A, 0x06, 0x0A, 0x02, 0x73, 0x31, 0x48, 0x01]) == known)
    }

    @Test("other bytes are invalid", arguments: [[], [0], [0xFF], [0x0A], [0x0A, 0x7F], Array("{\"intent\":1}".utf8)])
    func rubbish(bytes: [UInt8]) {
        #expect(MeshMessage(encoded: bytes) == nil)
    }

    @Test("bytes beyond a message's limit are not processed")
    func tooLong() {
        let vote = MeshMessage.intent(.vote(songID: "s1")).encoded
        // Field 100, bytes: a valid message except for its size.
        let padding = [0xA2, 0x06, 0x80, 0x80, 0x04] + [UInt8](repeating: 0, count: 65_536)
        #expect(MeshMessage(encoded: vote + padding) == nil)
    }

    @Test("no bytes stop a node")
    func randomBytes() {
        var dice = Dice(seed: 3)
        var state = RandomState.any(1, using: &dice)
        for _ in 0..<300 {
            let next = RandomState.next(state, using: &dice)
            guard let change = HostChange(from: state, to: next) else { continue }
            let results = SearchResults(number: 1, songs: Array(RandomState.songs.prefix(3)))
            let messages: [MeshMessage] = [
                .stateUpdate(next), .stateChange(change), .intent(.vote(songID: "s1")), .searchResults(results),
                .search(SearchRequest(number: 1, words: "song")), .stateHeartbeat(epoch: 1, revision: 1),
                .coverRequest(CoverRequest(songID: "s1", version: 7, from: 1_024)),
                .coverPiece(
                    CoverPiece(songID: "s1", version: 7, from: 1_024, total: 1_030, bytes: [1, 2, 3, 4, 5, 6])),
                .coverPiece(.none("s1")),
            ]
            for message in messages {
                var bytes = message.encoded
                for _ in 0..<Int.random(in: 1...4, using: &dice) {
                    bytes[Int.random(in: bytes.indices, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
                }
                bytes.removeLast(Int.random(in: 0...bytes.count / 8, using: &dice))
                look(at: bytes, from: state)
            }
            let noise = (0..<Int.random(in: 0...60, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
            look(at: noise, from: state)
            state = next
        }
    }

    /// Everything that is decoded can be used, shown and sent on.
    private func look(at bytes: [UInt8], from state: HostSnapshot) {
        guard let message = MeshMessage(encoded: bytes) else { return }
        switch message {
        case .stateUpdate(let snapshot): #expect(snapshot.isWithinLimits)
        case .stateChange(let change): #expect(state.applying(change)?.isWithinLimits != false)
        case .search(let request): #expect(request.isWithinLimits)
        case .searchResults(let results): #expect(results.isWithinLimits)
        case .coverRequest(let request): #expect(request.isWithinLimits)
        case .coverPiece(let piece): #expect(piece.isWithinLimits)
        case .intent, .rejection, .stateRequest, .stateHeartbeat: break
        }
        #expect(MeshMessage(encoded: message.encoded) == message)
    }
}
